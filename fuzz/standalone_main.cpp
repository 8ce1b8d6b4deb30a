// Runs a fuzz target on files and folders given as arguments, with any compiler: corpus and former
// crashes stay tests, and no target can rot.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

const char* running = "";

/// Names the input. The exit code is libFuzzer's: to ctest a signal is an accident even where
/// failing is right.
extern "C" void aborted(int) {
  std::fprintf(stderr, "input: %s\n", running);
  std::_Exit(77);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int at = 1; at < argc; ++at) {
    const fs::path path = argv[at];
    if (fs::is_directory(path)) {
      for (const auto& entry : fs::directory_iterator(path))
        if (entry.is_regular_file()) files.push_back(entry.path());
    } else if (fs::is_regular_file(path)) {
      files.push_back(path);
    } else {
      std::fprintf(stderr, "%s: no such file or folder\n", argv[at]);
      return 1;
    }
  }
  std::signal(SIGABRT, aborted);
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    running = path.c_str();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu passed, 0 failed\n", files.size());
  return files.empty() ? 1 : 0;
}

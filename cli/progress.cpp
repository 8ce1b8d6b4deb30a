#include "cli/progress.h"

#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <unistd.h>

namespace hvtlb::cli {

std::atomic<bool>& interrupted() {
  static std::atomic<bool> flag = false;
  static_assert(std::atomic<bool>::is_always_lock_free);
  return flag;
}

void watch_interrupt() {
  interrupted() = false;
  std::signal(SIGINT, [](int) {
    interrupted().store(true, std::memory_order_relaxed);
    std::signal(SIGINT, SIG_DFL);
  });
}

Progress::Progress(std::function<std::string()> text) {
  if (isatty(STDERR_FILENO) == 0) return;
  thread_ = std::thread([this, text = std::move(text)] {
    using namespace std::chrono_literals;
    bool shown = false;
    for (int tenth = 0; !done_.load(); ++tenth) {
      std::this_thread::sleep_for(100ms);
      if (tenth < 10 || tenth % 2 != 0) continue;
      fmt::print(stderr, "\r\033[K{}", text());
      std::fflush(stderr);
      shown = true;
    }
    if (shown) fmt::print(stderr, "\r\033[K");
  });
}

Progress::~Progress() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace hvtlb::cli

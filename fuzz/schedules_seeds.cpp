// Writes a seed for the schedules target for every litmus that comes with the program, into the
// folder that the argument names. Each has to read back as the litmus. No draw has global ASIDs or
// CPUs that come and go: litmuses with those have no seed.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "explore/drawn_litmus.h"
#include "fuzz/schedules_input.h"
#include "zoo/scenarios.h"

namespace {

using namespace hvtlb;

bool can_be_drawn(const explore::Litmus& litmus) {
  const auto kinds = explore::drawn_kinds();
  for (const auto& program : litmus.programs)
    for (const Op& op : program)
      if (op.kind != OpKind::kUnuseTemporaryMm &&
          std::find(kinds.begin(), kinds.end(), op.kind) == kinds.end())
        return false;
  return !litmus.machine.invlpgb;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: schedules_seeds FOLDER\n");
    return 1;
  }
  int nr_wrong = 0;
  for (const auto& [name, text] : zoo::litmuses()) {
    const auto file =
        std::get<explore::LitmusFile>(explore::read_litmus(std::string(text), std::string(name)));
    if (!can_be_drawn(file.litmus)) continue;
    // One CPU far into its program, then another.
    const explore::Change changes[] = {{0, 1}, {6, 1}};
    const std::vector<u8> seed = fuzz::seed_of(file, changes);
    std::ofstream out(std::string(argv[1]) + "/" + std::string(name), std::ios::binary);
    out.write(reinterpret_cast<const char*>(seed.data()),
              static_cast<std::streamsize>(seed.size()));
    if (!out) {
      std::fprintf(stderr, "%s: cannot be written\n", argv[1]);
      return 1;
    }
    const fuzz::SchedulesInput input = fuzz::read_schedules_input(seed);
    const explore::Litmus back = explore::litmus_of(input.litmus, file.litmus.rules, true);
    std::vector<std::vector<Op>> expected = file.litmus.programs;
    for (auto& program : expected)
      for (Op& op : program)
        // The temporary mm comes last of a drawn litmus.
        if (op.kind == OpKind::kUseTemporaryMm) op.mm = 3;
    if (back.programs == expected && back.machine.nr_cpus == file.litmus.machine.nr_cpus) continue;
    std::fprintf(stderr, "%s: reads back as another litmus\n", std::string(name).c_str());
    ++nr_wrong;
  }
  return nr_wrong == 0 ? 0 : 1;
}

// `hvtlb explore --replay`: the schedules of a file, run again.
#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/explore_json.h"
#include "explore/guest_system.h"
#include "scenario/shown_text.h"

namespace hvtlb::cli {
namespace {

using namespace hvtlb::explore;

/// Runs the schedule. Throws LineError where it is not possible.
Rerun run_again(const Recorded& recorded) {
  GuestSystem system(recorded.litmus.file.litmus);
  system.note_events();
  Rerun again = rerun(system, recorded.model, recorded.schedule);
  const std::size_t done = again.rows.size();
  if (done < recorded.schedule.size())
    throw LineError{fmt::format(
        "{}{}step {}: found action {}, {}, which is not possible there, expected {}",
        recorded.place, recorded.place.empty() ? "" : ": ", done + 1,
        recorded.schedule[done].number(), text_of(recorded.schedule[done]), again.possible)};
  return again;
}

/// What differs from the file; empty: nothing.
std::string difference(const Recorded& recorded, const Rerun& again) {
  for (std::size_t at = 0; at < again.rows.size(); ++at)
    if (again.rows[at].text != recorded.texts[at])
      return fmt::format("step {} is '{}', and the file says '{}'", at + 1, again.rows[at].text,
                         escaped_text(recorded.texts[at]));
  if (!again.violation) return "no property breaks";
  const std::string why = why_text(*again.violation, recorded.litmus.file.litmus.mm_names);
  if (again.violated_after != again.rows.size())
    return fmt::format("after step {} of {}: {}", again.violated_after, again.rows.size(), why);
  if (why != recorded.why)
    return fmt::format("{}; the file says: {}", why, escaped_text(recorded.why));
  return {};
}

}  // namespace

int replay_counterexamples(const std::string& path) {
  std::vector<Recorded> all;
  std::vector<Rerun> reruns;
  try {
    all = recorded_in(read_json_file(path));
    for (const Recorded& each : all) reruns.push_back(run_again(each));
  } catch (const LineError& error) {
    fmt::print(stderr, "{}: {}\n", path == "-" ? "standard input" : escaped_text(path), error.what);
    return kExitUsage;
  }
  bool any_same = false;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const LitmusFile& file = all[at].litmus.file;
    print_head(file);
    fmt::print("  {}, {} steps\n\n{}\n", name_of(all[at].model), reruns[at].rows.size(),
               table_of(reruns[at].rows, file.litmus.machine.nr_cpus));
    const std::string different = difference(all[at], reruns[at]);
    if (different.empty())
      fmt::print("{}\nThe same as in the file, after the last step.\n\n", all[at].why);
    else
      fmt::print("NOT THE SAME as in the file: {}\n\n", different);
    any_same |= different.empty();
  }
  return any_same ? kExitViolated : kExitHolds;
}

}  // namespace hvtlb::cli

#include "proptest/run_case.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace hvtlb::proptest {

CaseRun::CaseRun(const OpsRun& run, const Rules& rules, const Era* era, FlushRecorder::Sink sink)
    : host(run.host, existing_vps(Guest(run.shape))),
      machine(run.shape, rules, &host),
      inspector(machine, rules, era, std::move(sink)),
      player(machine, run.nr_processes) {}

void check_cases(const std::string& what, const Wanted& wanted,
                 const std::function<void(const Case&)>& body) {
  // Shrinking runs the property again and again; the last case that failed is the smallest one.
  std::optional<Case> failed;
  const bool holds = rc::check(what, [&] {
    const Case c = *cases(wanted);
    try {
      body(c);
    } catch (const rc::detail::CaseResult& result) {
      if (result.type == rc::detail::CaseResult::Type::Failure) failed = c;
      throw;
    }
  });
  if (holds) return;
  std::string where;
  if (failed) {
    std::string name = what;
    for (char& c : name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
    where = name + ".yaml";
    std::ostringstream text;
    text << *failed;
    std::ofstream(where) << text.str();
  }
  ADD_FAILURE() << what << ": falsified; the smallest case is in ./" << where
                << " (hvtlb compare --era ERA " << where << ")";
}

}  // namespace hvtlb::proptest

// Random sequences under every era: verdicts hold but for the era's known faults, which must show.
#include <gtest/gtest.h>

#include "proptest/classes.h"
#include "proptest/run_case.h"

namespace hvtlb::proptest {
namespace {

bool lists(const Era& era, std::string_view zoo) {
  for (const KnownFault& fault : era.known_faults)
    if (fault.zoo == zoo) return true;
  return false;
}

/// What one case met, for the classification.
struct Met {
  bool hypercall = false, ex = false, all_processors = false, native = false, trim = false;
  bool lazy = false, stale = false, full_mask = false, freed_tables = false, no_mm = false;

  void add(const FlushRecord& record, u32 nr_cpus) {
    hypercall |= record.outcome == Outcome::kHypercall;
    for (const HypercallRecord& call : record.hypercalls)
      ex |= host::Control(call.control).code() >= 0x13;
    all_processors |= record.swept_by_all;
    native |= record.outcome == Outcome::kNative;
    trim |= record.trim;
    const CpuMask left_out = record.mask - record.native;
    lazy |= left_out.any();
    stale |= (record.mask - record.needed).any();
    full_mask |= record.mask.count() == nr_cpus;
    freed_tables |= record.request.freed_tables;
    no_mm |= !record.request.has_mm;
  }
};

class Verdicts : public testing::TestWithParam<std::size_t> {};

TEST_P(Verdicts, HoldButForKnownFaults) {
  const Era& era = eras()[GetParam()];
  u64 known = 0;
  u64 not_trimmed = 0;
  Classes classes;
  check_cases("verdicts hold under " + std::string(era.name), {.era = GetParam()},
              [&](const Case& c) {
                Met met;
                CaseRun run(c, era.rules, &era,
                            [&](const FlushRecord& record) { met.add(record, c.shape.nr_cpus); });
                for (const Op& op : c.ops) {
                  run.play(op);
                  if (run.inspector.nr_unexplained() != 0)
                    RC_FAIL(to_string(*run.inspector.first_unexplained()));
                }
                known += run.machine.nr_violations();
                const u64 left = run.inspector.costs().not_trimmed;
                if (!lists(era, "Z06") || !c.shape.hyperv) RC_ASSERT(left == 0u);  // P6
                not_trimmed += left;
                classes.next_case();
                classes.add("flushes by hypercall", met.hypercall);
                classes.add("EX calls", met.ex);
                classes.add("all processors", met.all_processors);
                classes.add("native flushes", met.native);
                if (era.rules.sender_asks_trim) classes.add("trim rounds", met.trim);
                classes.add("CPUs that the predicate leaves out", met.lazy);
                classes.add("members of the mask without need", met.stale);
                classes.add("masks of every CPU", met.full_mask);
                classes.add("freed tables", met.freed_tables);
                classes.add("batches", met.no_mm);
                classes.add("63 to 66 CPUs", c.shape.nr_cpus >= 63 && c.shape.nr_cpus <= 66);
                classes.add("more than 66 CPUs", c.shape.nr_cpus > 66);
                classes.add("hv_max_vp_index of 4095", c.shape.hv_max_vp_index == 4095u);
                classes.add("hv_max_vp_index of 4096", c.shape.hv_max_vp_index == 4096u);
                classes.add("PCID off", !c.shape.pcid);
                classes.add("page-table isolation", c.shape.pti);
              });
  constexpr double kRare = 0.005;
  classes.expect_at_least(kRare);
  if (!classes.enough()) return;
  // What an era is known for must show.
  EXPECT_GT(known, 0u) << "neither Z14 nor Z15 has shown";
  EXPECT_EQ(not_trimmed != 0, lists(era, "Z06"));
}

INSTANTIATE_TEST_SUITE_P(Eras, Verdicts, testing::Range<std::size_t>(0, eras().size()),
                         [](const auto& test) {
                           std::string name(eras()[test.param].name);
                           for (char& c : name)
                             if (c == '.') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace hvtlb::proptest

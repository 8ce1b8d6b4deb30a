// Era against era: one flush, from the same state, under two sets of rules.
#include <gtest/gtest.h>

#include "proptest/classes.h"
#include "proptest/run_case.h"
#include "scenario/decide.h"

namespace hvtlb::proptest {
namespace {

/// Runs the case under `runs_under` and compares every flush's targets under `fewer` and `more`.
void expect_subset(std::string_view fewer, std::string_view more, std::string_view runs_under) {
  const Rules& few = find_era(fewer)->rules;
  const Rules& many = find_era(more)->rules;
  u64 cases_seen = 0;
  u64 compared = 0;
  u64 smaller = 0;
  check_cases(std::string(fewer) + " reaches no more than " + std::string(more),
              {.era = era_index(runs_under), .hyperv = true}, [&](const Case& c) {
                ++cases_seen;
                // Zoo Z14: an EX call then names nobody, whoever was meant.
                if (c.shape.hv_max_vp_index.value_or(0) >= 4096) return;
                CaseRun run(c, c.era().rules, &c.era());
                for (const Op& op : c.ops) {
                  if (op.kind == OpKind::kFlushMmRange) {
                    const Op real = run.player.translate(op);
                    const Decision a = decide(run.machine.guest(), few, real);
                    const Decision b = decide(run.machine.guest(), many, real);
                    if (!a.trim && !b.trim) {
                      RC_ASSERT(a.targets.is_subset_of(b.targets));
                      ++compared;
                      smaller += a.targets != b.targets;
                    }
                  }
                  run.play(op);
                }
              });
  if (cases_seen < Classes::kEnoughCases) return;
  EXPECT_GT(compared, 100u);
  EXPECT_GT(smaller, 0u) << "the two never differ: the property says nothing";
}

TEST(EraPairs, TheFixReachesNoMoreThanTheEraBeforeIt) {
  expect_subset("filtered", "v6.17.5", "v6.17.5");
}
TEST(EraPairs, FromTheFixesOwnStatesToo) {
  expect_subset("filtered", "v6.17.5", "filtered");
}
TEST(EraPairs, SkippingLazyCpusReachesNoMoreThanTheWholeMask) {
  expect_subset("v6.4", "v6.1", "v6.4");
}

}  // namespace
}  // namespace hvtlb::proptest

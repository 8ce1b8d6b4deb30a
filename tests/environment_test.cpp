// Two CPUs and an environment: every race of the catalogue that two CPUs and others can have is
// found, correct rules hold, and what a search leaves out makes no difference.
#include <bit>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "explore/counterexample.h"
#include "explore/environment_search.h"
#include "explore/litmus_file.h"
#include "model/eras.h"
#include "tests/sanitized.h"
#include "zoo/scenarios.h"

namespace hvtlb::explore {
namespace {

constexpr MemoryModel kModels[] = {MemoryModel::kSc, MemoryModel::kTso};

/// The races that the environment is not about, and why.
const std::map<std::string_view, std::string_view> kNotThere{
    {"Z09", "P3 is not judged"},
    {"Z23b", "relies on another CPU's batch"},
    {"Z23c", "relies on another CPU's batch"},
    {"Z25a", "laziness, with a global ASID"},
    {"Z25d", "global ASIDs"},
    {"Z25e", "global ASIDs"},
    {"Z30", "the host returns early: the call alone shows it"},
    {"global-asid-lazy", "laziness, with a global ASID"},
    {"latent-temporary-tables", "temporary mms"},
};

/// Those that take more than a hundred thousand states.
const std::set<std::string_view> kLong{
    "Z02",
    "Z03",
    "Z04",
    "Z17",
    "Z26",
    "Z42-check",
    "Z42-fence",
    "Z42-marker",
    "Z23-mask",
    "mutant-lazy-exit-gen-first",
    "mutant-lazy-exit-no-fence",
};

LitmusFile litmus_of(std::string_view name, std::string_view text) {
  return std::get<LitmusFile>(read_litmus(std::string(text), std::string(name)));
}

/// What the litmus flushes, as far as the environment knows it.
std::set<FlushShape> flushes_of(const Litmus& litmus) {
  std::set<FlushShape> flushes;
  for (const std::vector<Op>& program : litmus.programs)
    for (const Op& op : program) {
      if (op.kind == OpKind::kFlushMmRange)
        flushes.insert(op.freed_tables ? FlushShape::kTables : FlushShape::kPage);
      if (op.kind == OpKind::kBatchFlush) flushes.insert(FlushShape::kBatch);
    }
  return flushes;
}

Verdict searched(const EnvironmentCase& which, MemoryModel model, bool reduce = true) {
  EnvironmentSystem system(which);
  Options options;
  options.model = model;
  options.reduce = reduce;
  Verdict verdict = explore_environment(system, options);
  if (verdict.violation) {
    const Rerun again = rerun(system, model, verdict.schedule);
    EXPECT_TRUE(again.violation);
    EXPECT_EQ(again.violated_after, verdict.schedule.size());
  }
  return verdict;
}

/// Whether the case of the litmus, or its initiator alone, breaks a property.
bool is_found(const Litmus& litmus, MemoryModel model) {
  for (const FlushShape flush : flushes_of(litmus))
    for (const bool alone : {true, false})
      if (searched({.rules = litmus.rules,
                    .hyperv = litmus.machine.hyperv,
                    .flush = flush,
                    .alone = alone},
                   model)
              .violation)
        return true;
  return false;
}

class EnvironmentRaces
    : public testing::TestWithParam<std::pair<std::string_view, std::string_view>> {};

/// Also those with three CPUs: what the concrete search finds, the abstract one finds.
TEST_P(EnvironmentRaces, AreFound) {
  const auto& [name, text] = GetParam();
  const LitmusFile file = litmus_of(name, text);
  if (test::kSanitized && kLong.contains(name)) GTEST_SKIP() << "in the optimised build";
  if (kNotThere.contains(name)) {
    EXPECT_TRUE(file.sc.violates || file.tso.violates) << "an exception that is none";
    return;
  }
  // Every schedule of SC is one of TSO: what is found there need not be looked for here.
  if (!file.sc.violates && !file.tso.violates) return;
  EXPECT_TRUE(is_found(file.litmus, file.sc.violates ? MemoryModel::kSc : MemoryModel::kTso));
}

INSTANTIATE_TEST_SUITE_P(, EnvironmentRaces, testing::ValuesIn(zoo::litmuses()),
                         [](const auto& test) {
                           std::string name(test.param.first);
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

constexpr FlushShape kFlushes[] = {FlushShape::kPage, FlushShape::kTables, FlushShape::kSpace,
                                   FlushShape::kBatch};

/// One CPU that flushes its own mm, and the environment.
TEST(Environment, CorrectRulesHoldForTheInitiatorAlone) {
  if (test::kSanitized) GTEST_SKIP() << "a million states: in the optimised build";
  for (const char* era : {"v6.17.5", "filtered"})
    for (const bool hyperv : {false, true})
      for (const FlushShape flush : kFlushes)
        for (const MemoryModel model : kModels) {
          const Verdict verdict = searched(
              {.rules = find_era(era)->rules, .hyperv = hyperv, .flush = flush, .alone = true},
              model);
          EXPECT_EQ(verdict.end, End::kExhausted);
          EXPECT_EQ(verdict.statistics.final_states, 0U);  // a life has no end
        }
}

TEST(Environment, CorrectRulesHoldBesideATarget) {
  if (test::kSanitized) GTEST_SKIP() << "a million states: in the optimised build";
  for (const bool hyperv : {false, true})
    EXPECT_EQ(
        searched(
            {.rules = find_era("filtered")->rules, .hyperv = hyperv, .flush = FlushShape::kTables},
            MemoryModel::kTso)
            .end,
        End::kExhausted);
}

EnvironmentCase short_case(bool hyperv, FlushShape flush, bool alone) {
  return {.rules = find_era("filtered")->rules, .hyperv = hyperv, .flush = flush, .alone = alone};
}

TEST(Environment, StatesThatAreTakenForOneAreBisimilar) {
  for (const bool hyperv : {false, true}) {
    EnvironmentSystem system(short_case(hyperv, FlushShape::kBatch, true));
    const MergeCheck found = check_environment_merges(system, {}, 1'000'000);
    EXPECT_TRUE(found.exhausted);
    EXPECT_GT(found.merges, 5'000U);
  }
}

/// So many that an initiator which forgets what it has read of the target is noticed.
TEST(Environment, StatesThatAreTakenForOneAreBisimilarBesideATarget) {
  const u64 most_states = test::kSanitized ? 5'000 : 150'000;
  for (const bool hyperv : {false, true}) {
    EnvironmentSystem system(short_case(hyperv, FlushShape::kPage, false));
    const MergeCheck found =
        check_environment_merges(system, {.model = MemoryModel::kSc}, most_states);
    EXPECT_FALSE(found.wrong);
    EXPECT_EQ(found.told_apart, most_states);
  }
}

TEST(Environment, AMergeOfDifferentStatesIsNoticed) {
  // The choice is not part of the state, and what comes after it depends on it.
  class Forgetful final : public System {
   public:
    u32 nr_cpus() const override { return 1; }
    void attach(Engine& engine) override { engine_ = &engine; }
    void reset() override {}
    void run(Cpu cpu) override {
      const u32 outcome =
          engine_->choose(cpu, {.kind = StepKind::kChoose, .site = {"program", 1}, .outcomes = 2});
      engine_->step(cpu, StepKind::kFence, {"program", 2});
      if (outcome == 0) engine_->step(cpu, StepKind::kFence, {"program", 3});
    }
    void arrived(Cpu, u32) override {}
    void host_effect(Cpu, Cpu) override {}
    void append_state(std::vector<u64>&) const override {}
    std::optional<Violation> check(u32) const override { return std::nullopt; }
    std::string name_of(const u64*) const override { return "word"; }
    std::string show(const u64*, u64 value) const override { return std::to_string(value); }

   private:
    Engine* engine_ = nullptr;
  };
  Forgetful system;
  const MergeCheck found =
      check_merges(system, {}, [](const Engine&, u64 enabled) { return enabled; }, {1'000});
  ASSERT_TRUE(found.wrong);
  EXPECT_NE(found.wrong->first, found.wrong->second);
}

TEST(Environment, NoStoreWaitsForAFullBuffer) {
  for (const char* era : {"v6.17.5", "filtered"}) {
    EnvironmentCase which{.rules = find_era(era)->rules, .alone = true};
    const u64 states = searched(which, MemoryModel::kTso).statistics.states;
    which.most_buffered -= 1;
    EXPECT_EQ(searched(which, MemoryModel::kTso).statistics.states, states);
    which.most_buffered = 1;
    EXPECT_NE(searched(which, MemoryModel::kTso).statistics.states, states);
  }
}

/// The states in which nothing is taken at once, no handler runs, and there is a choice.
std::set<std::pair<u64, u64>> states_to_choose_in(EnvironmentSystem& system, MemoryModel model,
                                                  bool reduce) {
  const Reduce reduction = environment_reduction(system);
  std::set<std::pair<u64, u64>> states;
  Options options;
  options.model = model;
  const Verdict verdict = breadth_first(system, options, [&](const Engine& engine, u64 enabled) {
    const u64 reduced = reduction(engine, enabled);
    const bool handler = engine.handling(kInitiatorCpu) || engine.handling(kTargetCpu);
    if (reduced == enabled && !handler && std::popcount(enabled) > 1)
      states.emplace(engine.hash().low, engine.hash().high);
    return reduce ? reduced : enabled;
  });
  EXPECT_EQ(verdict.end, End::kExhausted);
  return states;
}

/// What is taken at once commutes with what comes before it, so that every way to a state in which
/// nothing of the kind is left can be walked in this order. (Where a handler runs, its CPU's
/// "interrupts off" may be left.)
void expect_no_state_left_out(const EnvironmentCase& which, MemoryModel model) {
  EnvironmentSystem system(which);  // the same for both: hashes hold addresses
  const auto reduced = states_to_choose_in(system, model, true);
  const auto whole = states_to_choose_in(system, model, false);
  EXPECT_GT(whole.size(), 1'000U);
  EXPECT_TRUE(reduced == whole) << reduced.size() << " states, and " << whole.size();
}

TEST(Environment, ReductionLeavesNoStateOut) {
  for (const bool hyperv : {false, true})
    for (const FlushShape flush : {FlushShape::kTables, FlushShape::kBatch})
      expect_no_state_left_out(short_case(hyperv, flush, true), MemoryModel::kTso);
}

TEST(Environment, ReductionLeavesNoStateOutBesideATarget) {
  if (test::kSanitized) GTEST_SKIP() << "a million states: in the optimised build";
  expect_no_state_left_out(short_case(false, FlushShape::kTables, false), MemoryModel::kSc);
}

}  // namespace
}  // namespace hvtlb::explore

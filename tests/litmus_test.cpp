// Every litmus of the catalogue comes out as it says, by the reduced search and by the whole one,
// and its counterexample is one.
#include <gtest/gtest.h>
#include <set>

#include "explore/counterexample.h"
#include "explore/guest_system.h"
#include "explore/litmus_file.h"
#include "explore/search.h"
#include "zoo/kvm_preempted.h"
#include "zoo/scenarios.h"

namespace hvtlb::explore {
namespace {

const MemoryModel kModels[] = {MemoryModel::kSc, MemoryModel::kTso};

LitmusFile read(std::string_view text, std::string_view name) {
  auto result = read_litmus(std::string(text), std::string(name));
  if (const auto* error = std::get_if<ScenarioError>(&result)) {
    ADD_FAILURE() << error->to_string();
    return {};
  }
  return std::get<LitmusFile>(std::move(result));
}

struct Searched {
  Verdict verdict;
  std::set<std::vector<u64>> final_states;
};

/// The state in the order of its CPUs that makes it smallest.
std::vector<u64> smallest_state(const GuestSystem& system) {
  std::vector<u64> smallest;
  system.append_state(smallest);
  for (const CpuOrder& order : system.symmetry()->orders()) {
    std::vector<u64> state;
    system.symmetry()->append_state_in(order, state);
    smallest = std::min(smallest, state);
  }
  return smallest;
}

/// With `any_order` final states are told apart but for the order of CPUs with equal programs.
Searched searched(const Litmus& litmus, MemoryModel model, bool reduce, bool symmetry = false,
                  bool any_order = false) {
  GuestSystem system(litmus);
  Searched result;
  Options options;
  options.model = model;
  options.reduce = reduce;
  options.symmetry = symmetry;
  options.at_end = [&] {
    std::vector<u64> state;
    if (!any_order) system.append_state(state);
    result.final_states.insert(any_order ? smallest_state(system) : state);
  };
  result.verdict = explore(system, options);
  return result;
}

std::vector<std::string> lines_of(const std::vector<KnownStep>& steps) {
  std::vector<std::string> lines;
  for (const KnownStep& step : steps)
    lines.push_back(std::string(step.file) + ":" + std::to_string(step.line));
  return lines;
}

/// Two CPUs flush what the third switches to.
const std::string kTwins =
    "hvtlb-litmus: 1\n"
    "machine: {cpus: 3, path: hyperv}\n"
    "processes: [A, B]\n"
    "before: [run B on 0, run B on 2, run B on 1, run A on 1]\n"
    "cpus: {0: mprotect B 1 page, 1: run B, 2: mprotect B 1 page}\n";

TEST(Symmetry, HalfOfTheEndsStandForAll) {
  const LitmusFile file = read(kTwins, "twins");
  const MemoryModel model = MemoryModel::kSc;
  const Searched whole = searched(file.litmus, model, true, false, true);
  const Searched symmetric = searched(file.litmus, model, true, true, true);
  ASSERT_EQ(whole.verdict.end, End::kExhausted);
  ASSERT_EQ(symmetric.verdict.end, End::kExhausted);
  EXPECT_EQ(symmetric.final_states, whole.final_states);
  EXPECT_LT(symmetric.verdict.statistics.states, whole.verdict.statistics.states * 9 / 10);
}

TEST(Symmetry, WhatIsBrokenIsFoundAllTheSame) {
  LitmusFile file = read(kTwins, "twins");
  file.litmus.rules.fence_if_bit_set = false;  // as in Z03
  for (const MemoryModel model : kModels) {
    const End expected = model == MemoryModel::kTso ? End::kViolation : End::kExhausted;
    EXPECT_EQ(searched(file.litmus, model, true, true).verdict.end, expected);
  }
}

TEST(Symmetry, OtherProgramsAreNotExchanged) {
  LitmusFile file = read(kTwins, "twins");
  GuestSystem twins(file.litmus);
  EXPECT_EQ(twins.symmetry()->orders().size(), 1u);
  file.litmus.programs[2][0].freed_tables = true;
  GuestSystem others(file.litmus);
  EXPECT_TRUE(others.symmetry()->orders().empty());
}

class Catalogue : public testing::TestWithParam<std::pair<std::string_view, std::string_view>> {};

TEST_P(Catalogue, ComesOutAsItSaysWithAndWithoutReduction) {
  const LitmusFile file = read(GetParam().second, GetParam().first);
  for (const MemoryModel model : kModels) {
    const Expectation& expected = file.expected(model);
    ASSERT_TRUE(expected.given);
    const Searched reduced = searched(file.litmus, model, true);
    const Searched whole = searched(file.litmus, model, false);
    for (const Verdict* verdict : {&reduced.verdict, &whole.verdict}) {
      ASSERT_EQ(verdict->end, expected.violates ? End::kViolation : End::kExhausted);
      if (expected.violates) {
        EXPECT_EQ(name_of(verdict->violation->property), name_of(*expected.violates));
      }
    }
    EXPECT_EQ(whole.verdict.steps.nr_unknown(), 0u) << "explore/known_steps.awk overlooks a step";
    if (expected.violates) continue;
    EXPECT_EQ(lines_of(reduced.verdict.steps.missing()), lines_of(whole.verdict.steps.missing()));
    EXPECT_EQ(reduced.final_states, whole.final_states);
    EXPECT_EQ(reduced.verdict.measured, whole.verdict.measured);
    const Searched symmetric = searched(file.litmus, model, true, true);
    EXPECT_EQ(symmetric.verdict.end, whole.verdict.end);
    EXPECT_EQ(symmetric.verdict.measured, whole.verdict.measured);
    EXPECT_LE(reduced.verdict.statistics.states, whole.verdict.statistics.states);
  }
}

TEST_P(Catalogue, TheShortestCounterexampleIsOne) {
  const LitmusFile file = read(GetParam().second, GetParam().first);
  for (const MemoryModel model : kModels) {
    if (!file.expected(model).violates) continue;
    GuestSystem system(file.litmus);
    const auto best = shortest(system, model, 500'000);
    ASSERT_TRUE(best);
    const Searched whole = searched(file.litmus, model, false);
    EXPECT_LE(best->schedule.size(), whole.verdict.schedule.size());
    EXPECT_EQ(rows_of(system, model, best->schedule).size(), best->schedule.size());
    Engine engine(system, model);
    engine.replay(best->schedule);
    const auto violation = system.check(engine.settled());
    ASSERT_TRUE(violation);
    EXPECT_EQ(to_string(*violation), to_string(*best->violation));
    engine.replay(std::span(best->schedule).first(best->schedule.size() - 1));
    EXPECT_FALSE(system.check(engine.settled())) << "not before the last step";
  }
}

TEST_P(Catalogue, TheSameScheduleGivesTheSameStates) {
  const LitmusFile file = read(GetParam().second, GetParam().first);
  GuestSystem system(file.litmus);
  Engine engine(system, MemoryModel::kTso);
  std::vector<Action> schedule;
  std::vector<StateHash> states;
  engine.reset();
  u32 choice = 1;
  while (engine.enabled() != 0) {
    u64 actions = engine.enabled();
    choice = choice * 1664525 + 1013904223;
    for (u32 skip = choice >> 16 & 3; skip != 0 && (actions & (actions - 1)) != 0; --skip)
      actions &= actions - 1;
    schedule.emplace_back(static_cast<u8>(std::countr_zero(actions)));
    engine.perform(schedule.back());
    states.push_back(engine.hash());
  }
  engine.reset();
  for (std::size_t at = 0; at < schedule.size(); ++at) {
    engine.perform(schedule[at]);
    ASSERT_EQ(engine.hash(), states[at]) << "one by one, step " << at;
  }
  for (std::size_t at = 0; at < schedule.size(); ++at) {
    engine.replay(std::span(schedule).first(at + 1));
    ASSERT_EQ(engine.hash(), states[at]) << "at one go, step " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(, Catalogue, testing::ValuesIn(zoo::litmuses()), [](const auto& test) {
  std::string name(test.param.first);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

std::string error_of(const std::string& text) {
  const auto result = read_litmus(text, "f");
  if (const auto* error = std::get_if<ScenarioError>(&result)) return error->to_string();
  return "accepted";
}

const std::string kHead = "hvtlb-litmus: 1\nmachine: {cpus: 2, path: native}\nprocesses: [A]\n";

TEST(LitmusFile, RefusalsNameThePlaceAndWhatWasExpected) {
  EXPECT_EQ(error_of(kHead + "cpus: {0: run A}\n"), "accepted");
  EXPECT_EQ(error_of(kHead), "f:1:1: found a mapping, expected a litmus with the key cpus");
  EXPECT_EQ(error_of("hvtlb-litmus: 2\nmachine: {cpus: 2}\nprocesses: [A]\ncpus: {0: run A}\n"),
            "f:1:15: found '2', expected version 1");
  EXPECT_EQ(error_of(kHead + "cpus: {2: run A}\n"), "f:4:8: found 2, expected a CPU of at most 1");
  EXPECT_EQ(error_of(kHead + "cpus: {0: fork A as B}\n"),
            "f:4:11: found 'fork', expected a step that a litmus can have");
  EXPECT_EQ(error_of(kHead + "cpus: {0: tick 3}\n"),
            "f:4:11: found 'tick' in a program, expected it in `before`");
  EXPECT_EQ(error_of(kHead + "cpus: {0: run C}\n"),
            "f:4:11: found the process 'C', expected one of `processes`");
  EXPECT_EQ(error_of(kHead + "cpus: {0: run A on 1}\n"),
            "f:4:11: found `on CPU` in that CPU's own program");
  EXPECT_EQ(error_of(kHead + "cpus: {0: [repeat 3: run A]}\n"),
            "f:4:12: found a loop, expected single steps");
  EXPECT_EQ(error_of(kHead + "before: [run A]\ncpus: {0: run A}\n"),
            "f:4:10: found no CPU, expected `on CPU`");
  EXPECT_EQ(error_of(kHead + "cpus: {0: use_temporary_mm A}\n"),
            "f:4:11: found no unuse_temporary_mm behind use_temporary_mm");
  EXPECT_EQ(error_of(kHead + "cpus: {0: enable_lam}\n"),
            "f:4:11: found enable_lam, expected a machine with lam and a running process");
  EXPECT_EQ(error_of(kHead + "cpus: {0: run A}\nexpect: {sc: fine}\n"),
            "f:5:14: found 'fine', expected holds, or a property: P1 to P8, lazy, irq, cr3");
  EXPECT_EQ(error_of(kHead + "cpus: {0: run A}\nhypercalls: {flush: all}\n"),
            "f:5:21: found 'all', expected whole_tlb, address_space, if_cr3_matches or "
            "current_pcid");
  EXPECT_EQ(error_of("hvtlb-litmus: 1\nmachine: {cpus: 5}\nprocesses: [A]\ncpus: {0: run A}\n")
                .find("f:2:10: found a mapping, expected at most 4 CPUs"),
            0u);
}

TEST(Z34, TheLostFlagIsFoundAndTheExchangeHoldsWithAndWithoutReduction) {
  for (const MemoryModel model : kModels)
    for (const bool reduce : {true, false})
      for (const zoo::EntryReads reads : {zoo::EntryReads::kCopy, zoo::EntryReads::kExchange}) {
        zoo::KvmPreempted system(reads);
        Options options;
        options.model = model;
        options.reduce = reduce;
        const Verdict verdict = explore(system, options);
        const bool faulty = reads == zoo::EntryReads::kCopy;
        ASSERT_EQ(verdict.end, faulty ? End::kViolation : End::kExhausted);
        if (!faulty) continue;
        EXPECT_EQ(verdict.violation->property, Property::kP1);
        EXPECT_EQ(rows_of(system, model, verdict.schedule).size(), verdict.schedule.size());
      }
}

TEST(Litmus, CpusComeAndGoInOrder) {
  const std::string head = "hvtlb-litmus: 1\nmachine: {cpus: 2}\nprocesses: [A]\n";
  const auto error_of = [](const std::string& text) {
    const auto result = read_litmus(text, "f");
    const auto* error = std::get_if<ScenarioError>(&result);
    return error == nullptr ? std::string() : error->to_string();
  };
  EXPECT_EQ(error_of(head + "cpus: {0: 'offline, then run A'}\n"),
            "f:4:26: found another step on a CPU that is offline, expected online");
  EXPECT_EQ(error_of(head + "cpus: {0: online}\n"), "f:4:11: found online on a CPU that is online");
  EXPECT_EQ(error_of(head + "before: [offline 0]\ncpus: {0: run A}\n"),
            "f:5:11: found another step on a CPU that is offline, expected online");
  EXPECT_EQ(error_of(head + "before: [offline 0]\ncpus: {0: online}\n"), "");
  EXPECT_EQ(error_of(head + "before: [offline 0, online 0]\ncpus: {0: 'run A, then offline'}\n"),
            "");
  const std::string none =
      "found use_global_asid, expected a machine with invlpgb and an era of v6.15 or later";
  EXPECT_EQ(error_of(head + "cpus: {0: use_global_asid A}\n"), "f:4:11: " + none);
  EXPECT_EQ(error_of("hvtlb-litmus: 1\nmachine: {cpus: 2, invlpgb: true}\nprocesses: [A]\n"
                     "rules: {era: v6.14}\ncpus: {0: use_global_asid A}\n"),
            "f:5:11: " + none);
}

TEST(Search, ABoundIsNotAProof) {
  const LitmusFile file = read(zoo::litmus_text("two-flushers-native"), "two-flushers");
  GuestSystem system(file.litmus);
  Options options;
  options.most_bytes = 1;
  EXPECT_EQ(explore(system, options).end, End::kMemory);
  options.most_bytes = u64{1} << 30;
  options.most_depth = 10;
  EXPECT_EQ(explore(system, options).end, End::kDepth);
  std::atomic<bool> stop = true;
  options.most_depth = 1000;
  options.stop = &stop;
  EXPECT_EQ(explore(system, options).end, End::kStopped);
}

}  // namespace
}  // namespace hvtlb::explore

// States that the search takes for one go on alike: over the catalogue and over drawn litmuses.
#include "explore/merges.h"

#include <gtest/gtest.h>

#include "explore/guest_system.h"
#include "explore/litmus_file.h"
#include "tests/sanitized.h"
#include "tests/small_draw.h"
#include "zoo/scenarios.h"

namespace hvtlb::explore {
namespace {

u64 everything(const Engine&, u64 enabled) {
  return enabled;
}

constexpr u32 kRandomWalks = 10;

void expect_alike(const Litmus& litmus, MemoryModel model, u64 most_states) {
  GuestSystem system(litmus);
  Options options;
  options.model = model;
  const MergeCheck found = check_merges(system, options, everything, {most_states, kRandomWalks},
                                        {.forgets = true, .symmetry = true});
  EXPECT_FALSE(found.wrong) << litmus.name << ", " << found.states << " states";
}

TEST(Merges, StatesOfTheCatalogueGoOnAlike) {
  const u64 most_states = test::kSanitized ? 300 : 6'000;
  for (const auto& [id, text] : zoo::litmuses()) {
    const auto file = std::get<LitmusFile>(read_litmus(std::string(text), std::string(id)));
    for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso})
      expect_alike(file.litmus, model, most_states);
  }
}

TEST(Merges, StatesOfDrawnLitmusesGoOnAlike) {
  const u64 most_states = test::kSanitized ? 300 : 4'000;
  const u32 draws = test::kSanitized ? 20 : 150;
  for (u32 seed = 0; seed < draws; ++seed)
    expect_alike(test::small_litmus(seed), MemoryModel::kTso, most_states);
}

TEST(Merges, StatesOfLitmusesWithEqualProgramsGoOnAlike) {
  const u64 most_states = test::kSanitized ? 300 : 4'000;
  const u32 draws = test::kSanitized ? 10 : 50;
  for (const u8 cpus : {test::kTwoCpus, test::kThreeCpus})
    for (u32 seed = 0; seed < draws; ++seed)
      if (const auto litmus = test::small_litmus_with_twins(seed, cpus))
        expect_alike(*litmus, MemoryModel::kTso, most_states);
}

Litmus litmus_with(const std::string& machine_and_programs) {
  const std::string text = "hvtlb-litmus: 1\nprocesses: [A]\n" + machine_and_programs;
  return std::get<LitmusFile>(read_litmus(text, "f")).litmus;
}

/// Of two senders one has asked the other what that will be asked later: to exchange them before
/// both have asked would be wrong, and shows here.
TEST(Merges, SendersAreNotExchangedBeforeTheyHaveAsked) {
  const Litmus litmus = litmus_with(
      "machine: {cpus: 3, path: hyperv}\n"
      "before: [run A on 0, run A on 1, run A on 2]\n"
      "cpus: {0: 'mprotect A 1 page, then idle', 1: idle, 2: 'mprotect A 1 page, then idle'}\n");
  expect_alike(litmus, MemoryModel::kSc, test::kSanitized ? 1'000 : 16'000);
}

/// Two CPUs become lazy before or after they are asked: the sets that are chosen differ, and
/// nothing else does.
TEST(Merges, WhomASenderHasChosenIsPartOfTheState) {
  for (const char* path : {"native", "hyperv"}) {
    const Litmus litmus = litmus_with(std::string("machine: {cpus: 3, path: ") + path +
                                      "}\n"
                                      "before: [run A on 0, run A on 1, run A on 2]\n"
                                      "cpus: {0: mprotect A 1 page, 1: idle, 2: idle}\n");
    expect_alike(litmus, MemoryModel::kSc, test::kSanitized ? 1'000 : 20'000);
  }
}

/// The first call names all processors or two of them, which may have the same effect; the next
/// call finds the words of the first one in its page.
TEST(Merges, WhatACallLeavesInItsPageIsPartOfTheState) {
  const Litmus litmus = litmus_with(
      "machine: {cpus: 3, path: hyperv}\n"
      "rules: {era: v6.12.117}\n"
      "before: [run A on 0, run A on 1]\n"
      "cpus: {0: 'mprotect A 1 page, then mprotect A 1 page', 2: run A}\n");
  expect_alike(litmus, MemoryModel::kSc, test::kSanitized ? 1'000 : 20'000);
}

/// Which of the requests wait in whose batch shows nowhere else once both have been added.
TEST(Merges, ABatchIsPartOfTheState) {
  const Litmus litmus = litmus_with(
      "machine: {cpus: 2, path: native}\n"
      "before: [run A on 0, run A on 1]\n"
      "cpus: {0: 'batch_add A, then batch_flush', 1: 'batch_add A, then batch_flush'}\n");
  expect_alike(litmus, MemoryModel::kSc, test::kSanitized ? 2'000 : 40'000);
}

}  // namespace
}  // namespace hvtlb::explore

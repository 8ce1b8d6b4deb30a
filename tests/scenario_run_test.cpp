// What steps do to processes and their CPUs, and which steps are refused when they run.
#include <gtest/gtest.h>

#include "model/eras.h"
#include "scenario/runner.h"

namespace hvtlb {
namespace {

/// Runs steps on four CPUs; A has four threads, B one.
class ScenarioRun : public testing::Test {
 protected:
  /// The refusal, or nothing.
  std::string run(const std::string& steps) {
    const auto read = read_scenario(
        "hvtlb-scenario: 1\nmachine: {cpus: 4}\nprocesses: {A: {threads: 4}, B: {threads: 1}}\n"
        "steps:\n" +
            steps,
        "x.yaml");
    if (const auto* error = std::get_if<ScenarioError>(&read)) return error->to_string();
    scenario_ = std::get<Scenario>(read);
    flushes_.clear();
    runner_ = std::make_unique<ScenarioRunner>(
        scenario_, find_era("v6.17.5")->rules,
        [this](const ScenarioFlush& flush) { flushes_.push_back(flush.record); });
    const auto error = runner_->run();
    return error ? error->to_string() : "";
  }
  u64 loaded(Cpu cpu) const {
    return runner_->machine().guest().cpu_tlbstate_shared[cpu].loaded_mm;
  }
  bool lazy(Cpu cpu) const {
    return runner_->machine().guest().cpu_tlbstate_shared[cpu].is_lazy != 0;
  }

  Scenario scenario_;
  std::unique_ptr<ScenarioRunner> runner_;
  std::vector<FlushRecord> flushes_;
};

TEST_F(ScenarioRun, ExecKillsTheOtherThreads) {
  EXPECT_EQ(run("  - each cpu: run A\n  - exec A on 2\n  - mprotect A 1 page\n"), "");
  for (const Cpu cpu : {0u, 1u, 3u}) {
    EXPECT_TRUE(lazy(cpu)) << cpu;
    EXPECT_NE(loaded(cpu), loaded(2)) << cpu << " is lazy on the old mm";
  }
  EXPECT_FALSE(lazy(2));
  ASSERT_EQ(flushes_.size(), 1u);
  EXPECT_EQ(flushes_[0].request.initiating_cpu, 2u) << "the only CPU that has the new mm";
  EXPECT_EQ(runner_->nr_unexplained(), 0u);
  EXPECT_EQ(runner_->masks_at_end()[0].running, 1u);
}

TEST_F(ScenarioRun, ExecIsOnACpuThatRunsTheProcess) {
  EXPECT_EQ(run("  - run A on 0\n  - exec A on 2\n"),
            "x.yaml:6:5: the process 'A' does not run on CPU 2");
  EXPECT_EQ(run("  - exec A on 2\n  - touch A on 2\n"), "") << "it runs nowhere: it starts there";
}

TEST_F(ScenarioRun, TouchIsOnACpuThatRunsTheProcess) {
  EXPECT_EQ(run("  - run A on 0\n  - run B on 1, then touch A on 1\n"),
            "x.yaml:6:22: the process 'A' does not run on CPU 1");
  EXPECT_EQ(run("  - run A on 0, then idle on 0, then touch A on 0\n"),
            "x.yaml:5:38: the process 'A' does not run on CPU 0");
  EXPECT_EQ(run("  - run A on 0\n  - run B on 1\n  - each cpu of 0-1: touch\n"), "");
  EXPECT_EQ(run("  - run A on 0, then mprotect A 1 page on 3\n"), "") << "a foreign sender may be";
}

TEST_F(ScenarioRun, TooManyThreadsAreToldWhereTheyRun) {
  EXPECT_EQ(run("  - each cpu: run B\n"),
            "x.yaml:5:15: 'B' has 1 thread, which runs on CPU 0: raise threads, or let it idle");
  EXPECT_EQ(run("  - fork A as C on 0\n  - run C on 1, then run C on 2\n"),
            "x.yaml:6:22: 'C' has 1 thread, which runs on CPU 1: raise threads, or let it idle");
}

TEST_F(ScenarioRun, ARefusalInsideAFoldedScalarIsAtItsStart) {
  EXPECT_EQ(run("  - >-\n    run B on 0,\n    then run B on 1\n").substr(0, 12), "x.yaml:5:5: ");
}

}  // namespace
}  // namespace hvtlb

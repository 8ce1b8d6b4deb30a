// The memory model beside the outcomes that are published for x86-TSO: "A Better x86 Memory Model:
// x86-TSO" (Owens, Sarkar, Sewell, 2009) and Intel's and AMD's manuals. Each test has all outcomes
// of the classic program, under sequential consistency and under TSO.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

#include "explore/search.h"

namespace hvtlb::explore {
namespace {

/// What a program is given: its CPU's accesses, by the letters of the papers.
class Thread {
 public:
  Thread(Engine& engine, Cpu cpu, std::vector<u64>& words, std::vector<u64>& registers)
      : engine_(engine), cpu_(cpu), words_(words), registers_(registers) {}

  void store(char word, u64 value) { engine_.store(cpu_, at(word), value, {"store", ++line_}); }
  void load(char word, u32 reg) {
    registers_[reg] = engine_.load(cpu_, at(word), {"load", ++line_});
  }
  void fence() { engine_.step(cpu_, StepKind::kFence, {"mfence", ++line_}); }
  /// LOCKed, as XCHG and LOCK OR are.
  void locked_or(char word, u64 bits) {
    engine_.locked(cpu_, at(word), RmwOp::kOr, bits, {"lock or", ++line_});
  }

 private:
  u64& at(char word) { return words_[static_cast<u32>(word - 'x')]; }

  Engine& engine_;
  Cpu cpu_;
  std::vector<u64>& words_;
  std::vector<u64>& registers_;
  int line_ = 0;
};

using Program = std::function<void(Thread&)>;

class Classic final : public System {
 public:
  Classic(std::vector<Program> programs, u32 nr_registers, bool irqs_off)
      : programs_(std::move(programs)), registers_(nr_registers), irqs_off_(irqs_off) {}

  u32 nr_cpus() const override { return static_cast<u32>(programs_.size()); }
  void attach(Engine& engine) override { engine_ = &engine; }
  void reset() override {
    std::fill(words_.begin(), words_.end(), 0);
    std::fill(registers_.begin(), registers_.end(), 0);
  }
  void run(Cpu cpu) override {
    Thread thread(*engine_, cpu, words_, registers_);
    if (irqs_off_) engine_->irqs_off(cpu, {"cli", -1});
    programs_[cpu](thread);
    if (irqs_off_) engine_->irqs_on(cpu, {"sti", -2});
  }
  void arrived(Cpu, u32) override {}
  void host_effect(Cpu, Cpu) override {}
  void append_state(std::vector<u64>& state) const override {
    state.insert(state.end(), words_.begin(), words_.end());
    state.insert(state.end(), registers_.begin(), registers_.end());
  }
  std::optional<Violation> check(u32) const override { return std::nullopt; }
  std::string name_of(const u64*) const override { return "word"; }
  std::string show(const u64*, u64 value) const override { return std::to_string(value); }

  /// The registers, then what `words` ask for of memory: `10 x=2`.
  std::string outcome(std::string_view asked) const {
    std::string text;
    for (u64 each : registers_) text += std::to_string(each);
    for (char word : asked)
      text += fmt::format(" {}={}", word, words_[static_cast<u32>(word - 'x')]);
    return text;
  }

 private:
  Engine* engine_ = nullptr;
  std::vector<Program> programs_;
  std::vector<u64> words_ = std::vector<u64>(3);
  std::vector<u64> registers_;
  bool irqs_off_;
};

using Outcomes = std::set<std::string>;

struct Explored {
  Outcomes outcomes;
  Statistics statistics;
};

/// `reduce` also turns interrupts off in the programs: with them on little is independent.
Explored explored(const std::vector<Program>& programs, u32 nr_registers, std::string_view asked,
                  MemoryModel model, bool reduce) {
  Classic system(programs, nr_registers, reduce);
  Explored result;
  Options options;
  options.model = model;
  options.reduce = reduce;
  options.at_end = [&] { result.outcomes.insert(system.outcome(asked)); };
  const Verdict verdict = explore(system, options);
  EXPECT_EQ(verdict.end, End::kExhausted);
  result.statistics = verdict.statistics;
  return result;
}

/// All outcomes, the same with and without reduction.
Outcomes outcomes(const std::vector<Program>& programs, u32 nr_registers, MemoryModel model,
                  std::string_view asked = "") {
  const Explored whole = explored(programs, nr_registers, asked, model, false);
  EXPECT_EQ(explored(programs, nr_registers, asked, model, true).outcomes, whole.outcomes);
  return whole.outcomes;
}

constexpr MemoryModel kSc = MemoryModel::kSc;
constexpr MemoryModel kTso = MemoryModel::kTso;

void writes_x_reads_y(Thread& t) {
  t.store('x', 1), t.load('y', 0);
}
void writes_y_reads_x(Thread& t) {
  t.store('y', 1), t.load('x', 1);
}

TEST(X86Tso, StoreBuffering) {
  EXPECT_EQ(outcomes({writes_x_reads_y, writes_y_reads_x}, 2, kSc), (Outcomes{"01", "10", "11"}));
  EXPECT_EQ(outcomes({writes_x_reads_y, writes_y_reads_x}, 2, kTso),
            (Outcomes{"00", "01", "10", "11"}));
}

TEST(X86Tso, StoreBufferingWithFencesOrLockedOperations) {
  const Program fenced = [](Thread& t) { t.store('x', 1), t.fence(), t.load('y', 0); };
  const Program other = [](Thread& t) { t.store('y', 1), t.fence(), t.load('x', 1); };
  EXPECT_EQ(outcomes({fenced, other}, 2, kTso), (Outcomes{"01", "10", "11"}));
  const Program locked = [](Thread& t) { t.locked_or('x', 1), t.load('y', 0); };
  const Program other_locked = [](Thread& t) { t.locked_or('y', 1), t.load('x', 1); };
  EXPECT_EQ(outcomes({locked, other_locked}, 2, kTso), (Outcomes{"01", "10", "11"}));
  EXPECT_EQ(outcomes({fenced, writes_y_reads_x}, 2, kTso), (Outcomes{"00", "01", "10", "11"}))
      << "one fence is not enough";
}

TEST(X86Tso, MessagePassing) {
  const Program writer = [](Thread& t) { t.store('x', 1), t.store('y', 1); };
  const Program reader = [](Thread& t) { t.load('y', 0), t.load('x', 1); };
  for (const MemoryModel model : {kSc, kTso})
    EXPECT_EQ(outcomes({writer, reader}, 2, model), (Outcomes{"00", "01", "11"}));
}

TEST(X86Tso, LoadBuffering) {
  const Program one = [](Thread& t) { t.load('x', 0), t.store('y', 1); };
  const Program two = [](Thread& t) { t.load('y', 1), t.store('x', 1); };
  for (const MemoryModel model : {kSc, kTso})
    EXPECT_EQ(outcomes({one, two}, 2, model), (Outcomes{"00", "01", "10"}));
}

TEST(X86Tso, IndependentReadsOfIndependentWrites) {
  const std::vector<Program> programs{
      [](Thread& t) { t.store('x', 1); },
      [](Thread& t) { t.store('y', 1); },
      [](Thread& t) { t.load('x', 0), t.load('y', 1); },
      [](Thread& t) { t.load('y', 2), t.load('x', 3); },
  };
  for (const MemoryModel model : {kSc, kTso}) {
    const Outcomes seen = outcomes(programs, 4, model);
    EXPECT_EQ(seen.size(), 15u);
    EXPECT_FALSE(seen.contains("1010")) << "both readers would disagree on the order";
  }
}

TEST(X86Tso, TwoPlusTwoWrites) {
  const Program one = [](Thread& t) { t.store('x', 1), t.store('y', 2); };
  const Program two = [](Thread& t) { t.store('y', 1), t.store('x', 2); };
  for (const MemoryModel model : {kSc, kTso})
    EXPECT_EQ(outcomes({one, two}, 0, model, "xy"), (Outcomes{" x=1 y=2", " x=2 y=1", " x=2 y=2"}));
}

TEST(X86Tso, R) {
  const Program one = [](Thread& t) { t.store('x', 1), t.store('y', 1); };
  const Program two = [](Thread& t) { t.store('y', 2), t.load('x', 0); };
  EXPECT_EQ(outcomes({one, two}, 1, kSc, "y"), (Outcomes{"0 y=1", "1 y=1", "1 y=2"}));
  EXPECT_EQ(outcomes({one, two}, 1, kTso, "y"), (Outcomes{"0 y=1", "0 y=2", "1 y=1", "1 y=2"}));
}

TEST(X86Tso, S) {
  const Program one = [](Thread& t) { t.store('x', 2), t.store('y', 1); };
  const Program two = [](Thread& t) { t.load('y', 0), t.store('x', 1); };
  for (const MemoryModel model : {kSc, kTso})
    EXPECT_EQ(outcomes({one, two}, 1, model, "x"), (Outcomes{"0 x=1", "0 x=2", "1 x=1"}));
}

TEST(X86Tso, N6) {
  // A load sees its own CPU's store before anybody else does.
  const Program one = [](Thread& t) { t.store('x', 1), t.load('x', 0), t.load('y', 1); };
  const Program two = [](Thread& t) { t.store('y', 2), t.store('x', 2); };
  const Outcomes sc = outcomes({one, two}, 2, kSc, "x");
  const Outcomes tso = outcomes({one, two}, 2, kTso, "x");
  EXPECT_EQ(sc, (Outcomes{"10 x=2", "12 x=1", "12 x=2", "22 x=2"}));
  EXPECT_EQ(tso, (Outcomes{"10 x=1", "10 x=2", "12 x=1", "12 x=2", "22 x=2"}));
}

TEST(X86Tso, N7) {
  const std::vector<Program> programs{
      [](Thread& t) { t.store('x', 1), t.load('x', 0), t.load('y', 1); },
      [](Thread& t) { t.store('y', 1); },
      [](Thread& t) { t.load('y', 2), t.load('x', 3); },
  };
  const Outcomes sc = outcomes(programs, 4, kSc);
  const Outcomes tso = outcomes(programs, 4, kTso);
  EXPECT_FALSE(sc.contains("1010"));
  EXPECT_EQ(sc.size(), 7u);
  EXPECT_TRUE(tso.contains("1010"));
  EXPECT_EQ(tso.size(), 8u);
}

/// How much work it is: a change of the search shows here.
TEST(X86Tso, PinnedCounts) {
  const std::vector<Program> store_buffering{writes_x_reads_y, writes_y_reads_x};
  const Statistics sc = explored(store_buffering, 2, "", kSc, false).statistics;
  const Statistics tso = explored(store_buffering, 2, "", kTso, false).statistics;
  const Statistics reduced = explored(store_buffering, 2, "", kTso, true).statistics;
  EXPECT_EQ(sc.states, 13u);
  EXPECT_EQ(sc.executions, 5u);
  EXPECT_EQ(tso.states, 34u);
  EXPECT_EQ(tso.executions, 29u);
  EXPECT_EQ(reduced.states, 68u);
  EXPECT_EQ(reduced.executions, 29u);
}

}  // namespace
}  // namespace hvtlb::explore

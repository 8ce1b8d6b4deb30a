// Clause 7: LIST calls are repeated from where the host stopped, and a host that answers success
// without progress ends in the native path.
#include <gtest/gtest.h>

#include "tests/box.h"

namespace hvtlb {
namespace {

using test::Box;
using test::hyperv;
using test::kVa;

/// Does `step` entries a call, counted from rep 0, and may fail at the last.
class SlowHost final : public HypercallHost {
 public:
  explicit SlowHost(u32 step, u16 last_status = 0) : step_(step), last_status_(last_status) {}
  void call(u64 control, std::span<const u64>, HostEffect& effect) override {
    starts.push_back(hv::rep_start(control));
    const u32 done = std::min(hv::rep_start(control) + step_, hv::rep_count(control));
    const bool last = done == hv::rep_count(control);
    effect.result = hv::result_word(last ? last_status_ : u16{0}, done);
    effect.all_vps = true;
  }
  std::vector<u32> starts;

 private:
  u32 step_;
  u16 last_status_;
};

constexpr u64 kFiveUnits = u64{80} << 20;

FlushRecord flush_five_entries(HypercallHost& host, bool ex = false) {
  MachineShape shape = hyperv(3);
  if (ex) shape.vp_index = {0, 70, 1};
  Box box("v6.17.5", shape, &host);
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.machine.apply({.kind = OpKind::kFlushMmRange,
                     .stride_shift = 22,
                     .mm = mm,
                     .start = kVa,
                     .end = kVa + kFiveUnits});
  EXPECT_EQ(box.violated(), "");
  return box.last();
}

TEST(Reps, RepeatedUntilAllAreDone) {
  for (bool ex : {false, true}) {
    SlowHost host(2);
    const FlushRecord record = flush_five_entries(host, ex);
    EXPECT_EQ(host.starts, (std::vector<u32>{0, 2, 4}));
    EXPECT_EQ(record.outcome, Outcome::kHypercall);
    EXPECT_FALSE(record.fell_back);
    ASSERT_EQ(record.hypercalls.size(), 3u);
    EXPECT_EQ(hv::rep_count(record.hypercalls[2].control), 5u);
    EXPECT_EQ(record.hypercalls[0].input, record.hypercalls[2].input) << "the same input";
  }
}

TEST(Reps, SuccessWithoutProgressEndsInTheNativePath) {
  SlowHost host(0);
  const FlushRecord record = flush_five_entries(host);
  EXPECT_EQ(host.starts, (std::vector<u32>{0}));
  EXPECT_TRUE(record.fell_back);
  EXPECT_EQ(record.outcome, Outcome::kNative);
}

TEST(Reps, AnErrorHalfWayEndsInTheNativePath) {
  SlowHost host(3, 5);
  const FlushRecord record = flush_five_entries(host);
  EXPECT_EQ(host.starts, (std::vector<u32>{0, 3}));
  EXPECT_TRUE(record.fell_back);
  EXPECT_EQ(record.nr_ipis(), 1u);
}

TEST(Reps, ASimpleCallIsOneRound) {
  SlowHost host(0);
  Box box("v6.17.5", hyperv(3), &host);
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.flush(0, mm, 0, kTlbFlushAll);
  EXPECT_EQ(host.starts, (std::vector<u32>{0}));
  EXPECT_EQ(box.last().outcome, Outcome::kHypercall);
}

}  // namespace
}  // namespace hvtlb

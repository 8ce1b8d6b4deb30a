// What must not matter does not: other numbers for CPUs and VPs, more CPUs and processes, a range
// in two parts, the same flush twice.
#include <gtest/gtest.h>
#include <numeric>

#include "proptest/run_case.h"

namespace hvtlb::proptest {
namespace {

/// Of every flush of a run: whom it reached, and whether by the all-processors flag.
struct Reached {
  CpuMask sent;
  bool by_all;
};

std::vector<Reached> reached(Case c) {
  // KVM takes every call: one that is refused for its length (zoo Z15) goes native.
  c.host = host::Profile::kvm;
  std::vector<Reached> list;
  CaseRun run(c, c.era().rules, &c.era(), [&](const FlushRecord& record) {
    list.push_back({record.sent, record.swept_by_all});
  });
  for (const Op& op : c.ops) run.play(op);
  if (run.inspector.nr_unexplained() != 0) RC_FAIL(to_string(*run.inspector.first_unexplained()));
  return list;
}

/// A call that only some numberings can make changes whether the native path is taken, not what is
/// right; without the hint, or with an unknown VP, the comparison would be about that.
bool calls_always_work(const Case& c) {
  if (!c.shape.ex_processor_masks_recommended) return false;
  if (c.shape.hv_max_vp_index.value_or(0) >= 4096) return false;  // zoo Z14
  for (const u32 vp : c.shape.vp_index)
    if (vp == kVpInvalid) return false;
  return true;
}

TEST(Metamorphic, OtherCpuNumbersReachTheSameCpus) {
  check_cases("CPUs renumbered", {}, [](const Case& c) {
    if (!calls_always_work(c)) return;
    const u32 n = c.shape.nr_cpus;
    const auto renumbered = [n](Cpu cpu) { return n - 1 - cpu; };
    Case other = c;
    for (Cpu cpu = 0; cpu < n; ++cpu) other.shape.vp_index[renumbered(cpu)] = c.shape.vp_index[cpu];
    if (c.shape.present) {
      other.shape.present = CpuMask(n);
      c.shape.present->for_each([&](Cpu cpu) { other.shape.present->set(renumbered(cpu)); });
    }
    for (Op& op : other.ops) op.cpu = renumbered(op.cpu);
    const auto before = reached(c);
    const auto after = reached(other);
    RC_ASSERT(before.size() == after.size());
    for (std::size_t at = 0; at < before.size(); ++at) {
      CpuMask expected(n);
      before[at].sent.for_each([&](Cpu cpu) { expected.set(renumbered(cpu)); });
      RC_ASSERT(after[at].sent == expected);
    }
  });
}

TEST(Metamorphic, OtherVpNumbersReachTheSameCpus) {
  check_cases("VPs renumbered", {.hyperv = true}, [](const Case& c) {
    if (!calls_always_work(c)) return;
    Case other = c;  // far apart: what was a plain call becomes an EX call
    for (Cpu cpu = 0; cpu < c.shape.nr_cpus; ++cpu) other.shape.vp_index[cpu] = 70 + 20 * cpu;
    if (other.shape.vp_index.back() >= 4096) return;
    other.shape.hv_max_vp_index.reset();
    const auto before = reached(c);
    const auto after = reached(other);
    RC_ASSERT(before.size() == after.size());
    for (std::size_t at = 0; at < before.size(); ++at) RC_ASSERT(after[at].sent == before[at].sent);
  });
}

TEST(Metamorphic, UnrelatedCpusAndProcessesChangeNothing) {
  check_cases("CPUs and a process added", {.max_cpus = 190}, [](const Case& c) {
    if (!calls_always_work(c)) return;
    Case other = c;
    other.shape.nr_cpus += 2;
    const u32 highest = *std::max_element(c.shape.vp_index.begin(), c.shape.vp_index.end());
    if (highest + 2 >= 4096) return;
    for (const u32 more : {1u, 2u}) other.shape.vp_index.push_back(highest + more);
    other.shape.hv_max_vp_index.reset();
    if (c.shape.present) {
      other.shape.present = CpuMask(other.shape.nr_cpus);
      c.shape.present->for_each([&](Cpu cpu) { other.shape.present->set(cpu); });
      for (const u32 more : {0u, 1u}) other.shape.present->set(c.shape.nr_cpus + more);
    }
    // The new process runs on the new CPUs, before anything else happens.
    other.nr_processes += 1;
    for (const u32 more : {0u, 1u})
      other.ops.insert(
          other.ops.begin(),
          {.kind = OpKind::kSwitchMm, .cpu = c.shape.nr_cpus + more, .mm = other.nr_processes});
    const auto before = reached(c);
    const auto after = reached(other);
    RC_ASSERT(before.size() == after.size());
    bool same_state = true;
    for (std::size_t at = 0; at < before.size() && same_state; ++at) {
      // All processors were all members of the mask; now there are others, so that the exclusion
      // of lazy CPUs works. From then on the runs differ.
      if (before[at].by_all) {
        CpuMask old(other.shape.nr_cpus);
        before[at].sent.for_each([&](Cpu cpu) { old.set(cpu); });
        RC_ASSERT(after[at].sent.is_subset_of(old));
        same_state = false;
        continue;
      }
      RC_ASSERT(after[at].sent.to_list() == before[at].sent.to_list());
    }
  });
}

TEST(Metamorphic, ARangeInTwoPartsReachesTheSameCpusTwice) {
  check_cases("a range split", {}, [](Case c) {
    // Whether such a step flushes depends on what is pending; here every flush has to be counted.
    std::erase_if(c.ops, [](const Op& op) { return op.kind == OpKind::kFlushBatchedPending; });
    Case other = c;
    other.ops.clear();
    std::vector<bool> first_half;
    for (const Op& op : c.ops) {
      const bool splits = op.kind == OpKind::kFlushMmRange && op.start < op.end &&
                          op.end != kTlbFlushAll && (op.end - op.start) % (2 * kPageSize) == 0 &&
                          op.start % kPageSize == 0;
      if (op.kind == OpKind::kFlushMmRange || op.kind == OpKind::kBatchFlush)
        first_half.push_back(splits);
      Op a = op;
      Op b = op;
      if (splits) a.end = b.start = op.start + (op.end - op.start) / 2;
      other.ops.push_back(a);
      if (splits) other.ops.push_back(b);
    }
    // The verdicts are judged in reached(): together the parts cover what the whole did.
    const auto whole = reached(c);
    const auto parts = reached(other);
    RC_ASSERT(parts.size() >= whole.size());
    if (c.era().rules.sender_asks_trim) return;  // a trim round is due once
    std::size_t at = 0;
    for (std::size_t flush = 0; flush < whole.size(); ++flush) {
      const bool split = first_half[flush];
      RC_ASSERT(parts[at].sent == whole[flush].sent);
      at += split ? 2 : 1;
    }
  });
}

TEST(Metamorphic, TheSameFlushAgainReachesNobodyElse) {
  check_cases("a flush repeated", {}, [](const Case& c) {
    CpuMask last;
    CaseRun run(c, c.era().rules, &c.era(), [&](const FlushRecord& record) { last = record.sent; });
    for (const Op& op : c.ops) {
      run.play(op);
      if (op.kind != OpKind::kFlushMmRange) continue;
      const CpuMask first = last;
      run.play(op);
      // Trimming only takes CPUs away; a CPU that left a borrowed mm is no longer in its mask. (A
      // hypercall also names CPUs that are offline, the native path of a trim round does not.)
      const Guest& guest = run.machine.guest();
      const CpuMask online = CpuMask::from_words(guest.cpu_online_mask, guest.nr_cpus);
      CpuMask others = last & online;
      others.reset(op.cpu);  // alone in the mask it flushes locally, lazy or not
      RC_ASSERT(others.is_subset_of(first));
    }
    if (run.inspector.nr_unexplained() != 0) RC_FAIL(to_string(*run.inspector.first_unexplained()));
  });
}

}  // namespace
}  // namespace hvtlb::proptest

// The truth and its slow twin, given the same random events, agree after every one of them.
#include "tests/truth_twin.h"

#include <gtest/gtest.h>
#include <random>

namespace hvtlb {
namespace {

using test::TruthTwin;

constexpr u32 kCpus = 3;

class Pair {
 public:
  explicit Pair(u64 seed) : truth_(kCpus), twin_(kCpus), random_(seed) {
    for (MmId mm = 1; mm < TruthTwin::kMms; ++mm) {
      truth_.mm_created(mm);
      twin_.mm_created(mm);
    }
  }

  void step() {
    const Cpu cpu = below(kCpus);
    const MmId mm = 1 + below(TruthTwin::kMms - 1);
    const bool freed = below(3) == 0;
    const u64 pcid = below(TruthTwin::kPcids);
    switch (below(16)) {
      case 0:
      case 1:
      case 2: {
        const AddressRange r = range();
        truth_.pte_change(mm, r, freed);
        twin_.pte_change(mm, r, freed);
        break;
      }
      case 3:
      case 4:
      case 5: {
        const AddressRange r = range();
        truth_.flush_requested(mm, ++gen_[mm], r, freed);
        twin_.flush_requested(mm, gen_[mm], r, freed);
        break;
      }
      case 6:
      case 7: {
        const u64 gen = gen_[mm] - std::min<u64>(gen_[mm], below(4));
        truth_.flush_returned(mm, gen);
        twin_.flush_returned(mm, gen);
        break;
      }
      case 8:
      case 9: {
        const MmId next = below(TruthTwin::kMms);
        const bool keep = below(2) == 0;
        const u64 pgd = next == kInitMm ? 0x1000 : next * u64{0x100000};
        truth_.write_cr3(cpu, pgd | pcid | (keep ? u64{1} << 63 : 0));
        twin_.write_cr3(cpu, next, pcid, keep);
        if (below(4) != 0) use(cpu, next);
        break;
      }
      case 10:
      case 11: {
        const u32 page = below(TruthTwin::kPages);
        truth_.invlpg(cpu, TruthTwin::address_of(page), kPageShift);
        twin_.invlpg(cpu, page);
        break;
      }
      case 12:
      case 13: {
        const auto scope = static_cast<HostScope>(below(4));
        const MmId space = below(TruthTwin::kMms + 1);
        const bool every_space = space == TruthTwin::kMms;
        const bool everything = below(3) == 0;
        const AddressRange r = range();
        truth_.host_flush(cpu, scope, every_space ? kTlbFlushAll : space * u64{0x100000},
                          everything, {&r, 1});
        twin_.host_flush(cpu, scope, every_space ? kTlbFlushAll : space, everything, r);
        break;
      }
      case 14: use(cpu, below(TruthTwin::kMms)); break;
      default:
        if (below(4) != 0) break;
        if (below(2) == 0) {
          truth_.reset_cpu(cpu);
          twin_.reset_cpu(cpu);
        } else {
          truth_.mm_created(mm);
          twin_.mm_created(mm);
          gen_[mm] = 0;
        }
    }
  }

  /// Every question that the checks ask.
  void compare() {
    for (Cpu cpu = 0; cpu < kCpus; ++cpu) {
      same("usable", truth_.usable_stale_page(cpu),
           [&](u32 page) { return twin_.usable_stale_page(cpu, page); });
      same("walkable", truth_.walkable_freed_table(cpu),
           [&](u32 page) { return twin_.walkable_freed_table(cpu, page); });
      for (MmId mm = 0; mm < TruthTwin::kMms; ++mm) {
        const AddressRange r = range();
        ASSERT_EQ(truth_.may_hold_old(cpu, mm, r), twin_.may_hold_old(cpu, mm, r));
        const u64 gen = gen_[mm] - std::min<u64>(gen_[mm], below(4));
        for (u64 pcid = 0; pcid < TruthTwin::kPcids; ++pcid)
          same("behind", truth_.behind_generation(cpu, pcid, mm, gen),
               [&](u32 page) { return twin_.behind_generation(cpu, pcid, mm, gen, page); });
      }
    }
  }

 private:
  template <class Stale>
  void same(const char* what, std::optional<u64> va, Stale stale) {
    bool any = false;
    for (u32 page = 0; page < TruthTwin::kPages; ++page) any |= stale(page);
    ASSERT_EQ(va.has_value(), any) << what;
    if (!va) return;
    ASSERT_TRUE(stale(TruthTwin::page_at(*va))) << what << " " << *va;
  }
  void use(Cpu cpu, MmId mm) {
    truth_.set_uses(cpu, mm);
    twin_.set_uses(cpu, mm);
  }
  u32 below(u32 bound) { return static_cast<u32>(random_() % bound); }
  /// Pages of one table.
  AddressRange range() {
    const u32 first = below(TruthTwin::kPages);
    const u64 left = TruthTwin::kPagesOfATable - first % TruthTwin::kPagesOfATable;
    const u64 pages = below(6) == 0 ? left : std::min<u64>(left, 1 + below(3));
    const u64 start = TruthTwin::address_of(first);
    return {start, start + pages * kPageSize};
  }

  Truth truth_;
  TruthTwin twin_;
  std::mt19937_64 random_;
  u64 gen_[TruthTwin::kMms] = {};
};

TEST(TruthTwin, AgreesOnRandomEvents) {
  for (u64 seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Pair pair(seed);
    for (int at = 0; at < 150; ++at) {
      SCOPED_TRACE(at);
      pair.step();
      pair.compare();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hvtlb

// The guest's memory: what every CPU and every mm holds. Plain words; the routines reach the ones
// that other CPUs read or write through the memory policy.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "model/cpumask.h"
#include "model/types.h"
#include "model/vp_index.h"

namespace hvtlb {

/// An ASID slot: which mm it belongs to and how far its flushes have come (`struct tlb_context`).
struct TlbContext {
  u64 ctx_id = 0;
  u64 tlb_gen = 0;
};

/// The half of `cpu_tlbstate` that other CPUs read.
struct CpuTlbStateShared {
  u64 loaded_mm = kInitMm;  ///< an `MmId`, or `kLoadedMmSwitching`
  u64 is_lazy = 0;
};

/// The half of `cpu_tlbstate` that only its own CPU touches.
struct CpuTlbState {
  u64 loaded_mm_asid = 0;
  u64 next_asid = 1;
  u64 invalidate_other = 0;
  u64 irqs_off = 0;   ///< depth of `irq_save`
  u64 seen_asid = 0;  ///< `loaded_mm_asid` as other CPUs see it; kept where they look (INVLPGB)
  u64 active_mm = kInitMm;  ///< kept where the era's handler asks it (`Rules::active_mm`)
  u64 user_pcid_flush_mask =
      0;  ///< by kernel PCID: its user half is flushed on the way to user mode
  std::array<TlbContext, kNrDynAsids> ctxs{};
  std::optional<MmId> temporary_mm_prev;  ///< inside use_temporary_mm(): what to go back to
};

/// An mm: `mm_struct` and its `mm_context_t`.
struct Mm {
  u64 ctx_id = 0;  ///< never reused; 0 means the slot is free
  u64 tlb_gen = 0;
  u64 next_trim_cpumask = 0;  ///< jiffies
  u64 pgd = 0;                ///< physical address of the top page table
  u64 global_asid = 0;        ///< 0: none
  u64 asid_transition = 0;
  u64 tlb_flush_batched = 0;  ///< what batches still have to flush (`BatchedPending`)
  u64 lam_cr3_mask = 0;       ///< the CR3 bits of linear address masking, once enabled
  bool temporary = false;  ///< a temporary mm was used on it: its bits are kept by hand (notrack)
  std::vector<u64> cpumask;
};

/// A page that the hypercalls read; it keeps its bytes from call to call. Eight bytes of slack
/// stand for the memory behind it, which an overlong list overwrites (zoo Z15).
struct HypercallInputPage {
  static constexpr u32 kBytes = 4096;
  std::vector<u64> words;  ///< kBytes / 8 and one more; empty until the first call
};

/// What a machine looks like before anything has run.
struct MachineShape {
  u32 nr_cpus = 1;
  std::vector<u32> vp_index;           ///< per CPU, `kVpInvalid` when unknown; empty: VP n = CPU n
  std::optional<u32> hv_max_vp_index;  ///< default: the highest valid VP index
  std::optional<CpuMask> present;      ///< default: all CPUs
  std::optional<CpuMask> online;       ///< default: the present ones
  bool pcid = true;
  bool lam = false;      ///< the CPUs have linear address masking
  bool invlpgb = false;  ///< the CPUs have INVLPGB: mms may move to a global ASID
  bool pti = false;      ///< page-table isolation: user mode has a CR3 and a PCID of its own
  u64 hz = 250;
  u64 jiffies = 1000;
  bool hyperv = true;  ///< `hyperv_setup_mmu_ops()` ran: flushes go to Hyper-V's builder
  bool ex_processor_masks_recommended = true;
  bool hypercall_page = true;
  bool input_pages = true;  ///< every CPU has its hypercall input page
};

/// The whole guest. REQUIRES: 1 <= nr_cpus <= kMaxCpus and, when given, one VP index a CPU.
class Guest {
 public:
  explicit Guest(const MachineShape& shape);

  u32 nr_cpus;
  bool pcid;
  bool lam;
  bool invlpgb;
  bool pti;
  u64 hz;
  u64 jiffies;

  std::vector<CpuTlbStateShared> cpu_tlbstate_shared;
  std::vector<CpuTlbState> cpu_tlbstate;
  u64 global_asid_lock = 0;
  u64 last_global_asid = kNrDynAsids;
  std::vector<u64> cpu_present_mask;
  std::vector<u64> cpu_online_mask;

  // Hyper-V
  VpIndex vp_index;
  u32 hv_max_vp_index;
  bool hyperv;
  bool ex_processor_masks_recommended;
  bool hypercall_page;
  bool input_pages;

  Mm& mm(MmId id) { return mms_[id]; }
  const Mm& mm(MmId id) const { return mms_[id]; }
  u32 nr_mm_slots() const { return static_cast<u32>(mms_.size()); }

  /// A new mm with an empty mask (`init_new_context()`). Freed slots are used again, lowest first.
  /// REQUIRES: fewer than kMaxMms are alive.
  MmId new_mm();

  /// The mm's last user is gone (`__mmdrop()`): its slot may be used again.
  void free_mm(MmId id);

  bool alive(MmId id) const { return id < mms_.size() && mms_[id].ctx_id != 0; }
  u32 nr_alive() const { return nr_alive_; }

  bool present(Cpu cpu) const { return cpu_present_mask[cpu / 64] >> (cpu % 64) & 1; }
  bool online(Cpu cpu) const { return cpu_online_mask[cpu / 64] >> (cpu % 64) & 1; }
  bool in_cpumask(MmId id, Cpu cpu) const { return mms_[id].cpumask[cpu / 64] >> (cpu % 64) & 1; }

  /// This CPU's hypercall input page, or null when it has none.
  HypercallInputPage* input_page(Cpu cpu) {
    if (!input_pages) return nullptr;
    HypercallInputPage& page = input_pages_[cpu];
    if (page.words.empty()) [[unlikely]]
      page.words.resize(HypercallInputPage::kBytes / sizeof(u64) + 1);
    return &page;
  }
  /// What calls have left in the CPU's input page; nothing before the first.
  std::span<const u64> left_in_input_page(Cpu cpu) const { return input_pages_[cpu].words; }

  /// The per-CPU scratch words that hold filtered targets (the kernel's per-CPU cpumask).
  std::vector<u64>& scratch_mask(Cpu cpu) {
    std::vector<u64>& words = scratch_[cpu];
    if (words.empty()) [[unlikely]]
      words.resize(words_for(nr_cpus));
    return words;
  }

  /// The CPU that is virtual processor `vp`, or `kVpInvalid`.
  u32 cpu_of_vp(u64 vp) const { return vp < cpu_of_vp_.size() ? cpu_of_vp_[vp] : kVpInvalid; }

 private:
  std::deque<Mm> mms_;  // a deque: an mm's words never move, so policies may hold their addresses
  std::vector<MmId> free_slots_;
  u32 nr_alive_ = 0;
  u64 last_ctx_id_ = 0;
  std::vector<HypercallInputPage> input_pages_;
  std::vector<std::vector<u64>> scratch_;
  std::vector<u32> cpu_of_vp_;
};

}  // namespace hvtlb

// Zoo Z34: a guest on KVM leaves a flush for a preempted VP to its next entry, and the host loses
// the note. Two actors and one word; nothing of it is Hyper-V's.
#pragma once

#include "explore/engine.h"
#include "explore/system.h"

namespace hvtlb::zoo {

/// How the host reads and clears the word on entry.
enum class EntryReads : u8 {
  kExchange,  ///< one LOCKed operation
  kCopy,      ///< read, decide, write 0 later (to v5.5)
};

/// CPU 0 changes a page and flushes it as `kvm_flush_tlb_multi()` does; the host preempts the VP
/// that is CPU 1 and enters it again (`kvm_arch_vcpu_put()`, `record_steal_time()`).
class KvmPreempted final : public explore::System {
 public:
  explicit KvmPreempted(EntryReads reads) : reads_(reads) {}

  u32 nr_cpus() const override { return 2; }
  void attach(explore::Engine& engine) override { engine_ = &engine; }
  void reset() override;
  void run(Cpu cpu) override { cpu == 0 ? flush() : preempt_and_enter(); }
  void arrived(Cpu, u32) override { changed_ = true; }
  void host_effect(Cpu, Cpu) override {}
  void append_state(std::vector<u64>& state) const override;
  std::optional<Violation> check(u32 settled) const override;
  std::string name_of(const u64* word) const override;
  std::string show(const u64*, u64 value) const override { return std::to_string(value); }

 private:
  void flush();
  void preempt_and_enter();
  void flush_vp() { holds_old_ = holds_old_ && !changed_; }

  EntryReads reads_;
  explore::Engine* engine_ = nullptr;
  u64 preempted_ = 0;  // `struct kvm_steal_time`
  u64 page_table_ = 0;
  u64 tlb_gen_ = 0;
  bool changed_ = false;   // the page table is new in memory
  bool holds_old_ = true;  // CPU 1 has the old translation in its TLB
  bool returned_ = false;  // the flush has returned
};

}  // namespace hvtlb::zoo

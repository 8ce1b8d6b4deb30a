#include "scenario/inspector.h"

#include <fmt/format.h>

#include "flush/predicate.h"
#include "model/switch_mm.h"

namespace hvtlb {

Inspector::Inspector(Machine& machine, const Rules& meant, const Era* era, FlushRecorder::Sink sink)
    : machine_(machine),
      meant_(meant),
      era_(era),
      sink_(std::move(sink)),
      recorder_(machine.kernel(), machine.truth(),
                [this](const FlushRecord& record) {
                  add(record);
                  judge(record);
                  judge_trim(record);
                  if (sink_) sink_(record);
                }),
      wire_(machine.guest()) {
  machine.observe(this);
}

void Inspector::report(Property property, Cpu cpu, MmId mm, std::string why, u64 va) {
  machine_.policy().report(Violation{property, cpu, mm, va, std::move(why)});
}

CpuMask Inspector::online() const {
  return CpuMask::from_words(machine_.guest().cpu_online_mask, machine_.guest().nr_cpus);
}

void Inspector::cr3_to_be_written(Cpu cpu, u64 cr3) {
  if ((cr3 & kCr3NoFlush) != 0) return;
  ++costs_.full_flushes;
  costs_.redundant_flushes += machine_.truth().holds_only_new(cpu, cr3);
}

/// Whom the rules mean, from the state at this instant, by the words of the specification.
void Inspector::targets_chosen(Cpu self, std::span<const u64> mask, const FlushTlbInfo& info) {
  recorder_.targets_chosen(self, mask, info);
  const Guest& guest = machine_.guest();
  // What stands behind the input page is somebody else's: whether it is written is asked anew.
  if (HypercallInputPage* page = machine_.guest().input_page(self)) page->words.back() = 0;
  irqs_off_before_ = guest.cpu_tlbstate[self].irqs_off;
  mask_.assign_words(mask, guest.nr_cpus);
  meant_targets_.assign_empty(guest.nr_cpus);
  to_be_trimmed_.assign_empty(guest.nr_cpus);
  Kernel<SequentialPolicy> k{machine_.guest(), meant_, machine_.policy()};
  const bool everybody = reaches_whole_mask(k, self, info);
  mask_.for_each([&](Cpu cpu) {
    const CpuTlbStateShared& shared = guest.cpu_tlbstate_shared[cpu];
    bool is_meant = true;
    if (!everybody && meant_.hv_targets == HypervTargets::kNotLazy) is_meant = shared.is_lazy == 0;
    if (!everybody && meant_.hv_targets == HypervTargets::kNativePredicate)
      is_meant = should_flush_tlb(k, self, cpu, info);
    if (is_meant) meant_targets_.set(cpu);
    const bool elsewhere = info.has_mm && shared.loaded_mm != info.mm;
    if (elsewhere && shared.is_lazy == 0 && guest.online(cpu)) to_be_trimmed_.set(cpu);
  });
  present_.assign_words(guest.cpu_present_mask, guest.nr_cpus);
  const bool by_mask = meant_.hv_format_from == HypervFormatFrom::kMask;
  if ((by_mask ? mask_ : meant_targets_) == present_) meant_targets_ = present_;
}

void Inspector::flushed_locally(Cpu cpu, const FlushTlbInfo& info) {
  recorder_.flushed_locally(cpu, info);
}

void Inspector::sent_natively(Cpu self, const CpuMask& targets, const FlushTlbInfo& info) {
  recorder_.sent_natively(self, targets, info);
}

void Inspector::called(Cpu cpu, u64 control, std::span<const u64> input, const HostEffect& effect) {
  recorder_.called(cpu, control, input, effect);
  ++costs_.hypercalls;
  const FlushTlbInfo& request = recorder_.record().request;
  const WireReport wire = wire_.check(control, input, {request, meant_targets_});
  if (wire.empty_set) empty_set_sent_.insert(request.has_mm ? request.mm : kInitMm);
  if (!wire.broken.empty())
    report(Property::kP7, cpu, request.mm, wire.broken, wire.too_long ? kInputPageBytes : 0);
  costs_.nobody_named += wire.names_nobody;
  costs_.dear_forms += wire.dear_form;
  costs_.pages_beyond += wire.pages_beyond;
}

void Inspector::returned(Cpu cpu, const FlushTlbInfo& info) {
  const u64 irqs_off = machine_.guest().cpu_tlbstate[cpu].irqs_off;
  if (irqs_off != irqs_off_before_)
    report(Property::kIrq, cpu, info.mm,
           fmt::format("interrupts were off {} deep before the flush and {} deep after it",
                       irqs_off_before_, irqs_off));
  recorder_.returned(cpu, info);
}

void Inspector::violated(const Violation& violation) {
  // A batch names no mm: what it finds missing may be any mm's.
  const bool empty_set = violation.mm == kInitMm ? !empty_set_sent_.empty()
                                                 : empty_set_sent_.contains(violation.mm) ||
                                                       empty_set_sent_.contains(kInitMm);
  if (era_ != nullptr && known_fault_of(*era_, empty_set, violation) != nullptr) return;
  if (nr_unexplained_++ == 0) first_unexplained_ = violation;
}

void Inspector::add(const FlushRecord& record) {
  ++costs_.flushes;
  costs_.ipis += record.nr_ipis();
  for (u32 at = 0; at < kNrExcess; ++at) costs_.excess[at] += record.excess[at].count();
  if (record.swept_by_all) costs_.swept += (record.sent - record.native).count();
}

/// P5, as far as it is a verdict: whoever needs the flush is reached, and the fix reaches exactly
/// the native set outside its named exceptions.
void Inspector::judge(const FlushRecord& record) {
  if (!record.needed.is_subset_of(record.sent)) {
    const CpuMask missed = record.missed();
    report(Property::kP5, missed.first(), record.request.mm,
           fmt::format("CPUs {} needed the flush and were not reached", missed.to_list()));
  }
  if (meant_.hv_targets != HypervTargets::kNativePredicate || !machine_.guest().hyperv) return;
  const bool exception = record.request.freed_tables || record.trim || record.fell_back ||
                         record.outcome == Outcome::kLocal || record.outcome == Outcome::kNone;
  if (exception) return;
  const CpuMask sent = record.sent & online();
  if (sent != record.native)
    report(Property::kP5, record.request.initiating_cpu, record.request.mm,
           fmt::format("CPUs {} were reached, natively it were CPUs {}", sent.to_list(),
                       record.native.to_list()));
}

/// P6: after a trim round no CPU that is online, not lazy and runs something else is in the mask.
void Inspector::judge_trim(const FlushRecord& record) {
  if (!record.request.trim_cpumask && !record.trim) return;
  const Guest& guest = machine_.guest();
  const Mm& mm = guest.mm(record.request.mm);
  const CpuMask left = CpuMask::from_words(mm.cpumask, guest.nr_cpus);
  costs_.not_trimmed += (left & to_be_trimmed_).count();
  left.for_each([&](Cpu cpu) {
    costs_.stale_kept +=
        guest.online(cpu) && guest.cpu_tlbstate_shared[cpu].loaded_mm != record.request.mm;
  });
}

}  // namespace hvtlb

// The table of the zoo, in the order of the numbers. Commit ids appear where the commit was read.
#include "zoo/scenarios.h"
#include "zoo/zoo.h"

namespace hvtlb::zoo {
namespace {

Entry guest(std::string_view id, std::string_view title, Sign sign, std::string_view about,
            std::string_view twin_era = {}, std::string_view twin_set = {},
            bool twin_native = false) {
  return {id, title, about, Kind::kGuest, sign, twin_era, twin_set, twin_native, scenario_text(id)};
}
Entry on_host(std::string_view id, std::string_view title, std::string_view about) {
  return {id, title, about, Kind::kHost, Sign::kP7};
}
Entry race(std::string_view id, std::string_view title, Sign sign, std::string_view about,
           std::string_view twin_era = {}, std::string_view twin_set = {}) {
  return {id, title, about, Kind::kRace, sign, twin_era, twin_set, false, litmus_text(id)};
}
std::vector<Entry> table() {
  return {
      race("Z01a", "window-skip: a switching CPU is not seen", Sign::kP1,
           "6db2526c1d69 (v6.14) skips a CPU whose loaded_mm is not the mm; one that has read the "
           "generation and not yet published loaded_mm is missed. Fixed by fea4e317f9e7.",
           "v6.17.5"),
      race("Z01b", "window-skip with an early marker that nobody asks for", Sign::kP1,
           "One half of Z01's repair: the marker is stored in time, the predicate ignores it.",
           "v6.17.5"),
      race("Z01c", "window-skip in a stable tree with eager bits", Sign::kP1,
           "As Z01a, with LOCKed sets.", "v6.12.117"),
      race("Z02", "the SWITCHING marker comes too late", Sign::kP1,
           "Stable back-ports of fea4e317f9e7 store the marker after the generation is read.",
           "v6.12.117"),
      race("Z03", "no fence when the bit is already set", Sign::kP1,
           "209954cbc7d0: the marker waits in the store buffer while the generation is read. Fixed "
           "by 83b0177a6c48. Needs x86-TSO.",
           "v6.17.5"),
      race("Z04", "is_lazy := false is still buffered", Sign::kP1,
           "As Z03, seen through Hyper-V's test of is_lazy, v6.14 to v6.17.4. Needs x86-TSO.",
           "v6.17.5"),
      guest("Z05", "freed tables skip lazy CPUs", Sign::kP2,
            "A lazy CPU keeps CR3 on the mm and may walk a table that was freed without visiting "
            "it."),
      guest("Z05-hyperv", "freed tables skip lazy CPUs in the hypercall", Sign::kP2,
            "The same, by Hyper-V's builder."),
      race("Z05-race", "freed tables skip a CPU that is about to be lazy", Sign::kP2,
           "Z05 while the CPU goes lazy.", "v6.17.5"),
      guest(
          "Z06", "the mask only grows", Sign::kNotTrimmed,
          "Since v6.14 only the IPI handler clears bits, and a hypercall runs no handler: what the "
          "fix under review is about.",
          "filtered"),
      guest("Z07", "the hypercall reaches lazy CPUs", Sign::kLazyReached,
            "To v6.3; 493cc07385cf (v6.4) skips them as the native path does.", "v6.4"),
      guest("Z07-plain", "lazy CPUs are skipped in the plain walk only", Sign::kLazyReached,
            "A half-fix of Z07."),
      guest("Z07-ex", "lazy CPUs are skipped in the EX walk only", Sign::kLazyReached,
            "A half-fix of Z07."),
      guest("Z07-inverted", "the CPUs that are not lazy are skipped", Sign::kP1,
            "A half-fix of Z07: the callback's answer is taken the wrong way round."),
      guest("Z08", "a batched flush carries generation 0", Sign::kP1,
            "aa44284960d5: the handler returns when the requested generation is not above the "
            "slot's, "
            "and 0 never is. Fixed by 8f1d56f64f8d."),
      race("Z08-race", "a batched flush that the handler takes for an old one", Sign::kP1,
           "Z08 while the other CPU leaves the mm and comes back.", "v6.1"),
      race("Z09", "the initiator runs another mm", Sign::kP3,
           "209954cbc7d0 alone: the local handler flushes a page of the wrong mm and marks the "
           "slot. Fixed by 953753db887f. Needs a pending IPI.",
           "v6.17.5"),
      guest("Z10-none", "bank words of the last call stay", Sign::kP7,
            "The input page is used again and again; the first EX version did not clear it."),
      guest("Z10-first", "only the first bank is cleared", Sign::kP7,
            "A mutation of Z10's repair."),
      guest("Z10-stale", "the last bank is not cleared", Sign::kP7,
            "A mutation of Z10's repair: the maximum is from before the last CPUs came."),
      guest("Z10-after", "the banks are cleared after they were filled", Sign::kP7,
            "A mutation of Z10's repair."),
      guest("Z11", "an unknown VP index sets bit -1", Sign::kP7,
            "To v4.18: all-ones as a signed number is below 64."),
      guest("Z11-ex", "an unknown VP index names a bank outside", Sign::kP7,
            "The same in an EX call: memory far outside of the page is written."),
      race("Z12", "the live mask runs empty under the builder", Sign::kP7,
           "51500b71d500 (5.17): the mask shrinks between two looks; the last CPU of an empty mask "
           "indexes past the end."),
      guest(
          "Z13", "the list's cursor wraps", Sign::kP7,
          "Fixed by 4030b4c585c4 (v5.4): the last entry moved the cursor by 16 MiB, round the top "
          "of the address space."),
      guest(
          "Z14", "an EX call that names nobody", Sign::kP7,
          "hv_max_vp_index of 4096 and more: the set builder's 0 is taken for a set. In every era.",
          {}, "hv_empty_vpset=native"),
      guest("Z15", "one list entry too many", Sign::kP7,
            "The capacity test rounds down where the list needs it rounded up. In every era.", {},
            "hv_list_capacity=ceiling"),
      race("Z16", "the bit is cleared before CR3 is written", Sign::kP1,
           "831d52bc1539 (2011): fills after the last chance to be flushed. Built for PCIDs: the "
           "way back does not compare generations, which is what makes the order safe today."),
      race("Z17", "no barrier between mask bit and page walk", Sign::kP1,
           "71b3c126e611 (v4.5), CVE-2016-2069: the bit is not LOCKed. Needs x86-TSO."),
      race("Z17-gen", "no barrier between page-table store and mask", Sign::kP1,
           "The sender's half: the generation is not LOCKed. Needs x86-TSO."),
      race(
          "Z18", "a partial flush overtakes a full one", Sign::kP3,
          "The design hazard that the handler's \"one more\" is for: a newer partial flush is done "
          "first, and the full one is then taken for an old one. P3 first, then P1."),
      race("Z19", "tables are freed before the flush", Sign::kP2,
           "Unhook, invalidate, free: in this order (the merge of the missing TLB shootdowns, "
           "v4.19)."),
      guest("Z20", "a temporary mm on a lazy CPU", Sign::kLazy,
            "The CPU comes back to the borrowed mm as a real user. Repaired by leaving it first."),
      guest("Z21", "a temporary mm leaves its bit behind", Sign::kStaleReached,
            "209954cbc7d0 had to clear it in unuse_temporary_mm()."),
      race("Z22", "active_mm changes before the switch", Sign::kP4,
           "38cf307c1f20 (v5.9): an IPI comes in between. Built for x86 with a handler that asks "
           "active_mm; P4 first, then P2.",
           {}, "active_mm=changed_with_mm"),
      guest("Z23a", "a nested reclaim forgets the outer batch", Sign::kP1,
            "Initialising the task's batch inside a nested reclaim reset flush_required."),
      race("Z23b", "tlb_flush_batched is overwritten", Sign::kP1,
           "A flush clears the flag of an unmap that came after it; two counters since v5.18."),
      race("Z23c", "a deferred flush is relied upon", Sign::kP1,
           "3ea277194daa (v4.13): mprotect() trusted page tables whose flush was still to come."),
      race("Z23-mask", "a batch takes the mask before the generation", Sign::kP1,
           "A mutation: a CPU that enters the mask in between reads the old generation."),
      guest("Z24", "enabling LAM reaches this CPU only", Sign::kCr3,
            "A CPU that borrows the mm keeps a CR3 without the mm's LAM bits and goes on with it "
            "when "
            "the user thread comes back. Repaired in v6.12."),
      race("Z25a", "moving to a global ASID ends laziness", Sign::kLazy,
           "v6.15 and later, on CPUs with INVLPGB: the handler moves the CPU to the global ASID by "
           "a "
           "switch, which clears is_lazy, before it asks whether the CPU is lazy.",
           {}, "handler_lazy_first=true"),
      race(
          "Z25d", "the global ASID is published before the transition", Sign::kP1,
          "Only a compiler could swap the two stores: a broadcaster then takes the move for done."),
      race("Z25e", "the end of the transition does not wait for a switching CPU", Sign::kP1,
           "A mutation: a CPU that has read no global ASID comes to the mm with a dynamic one."),
      race("Z26", "a sender clears another CPU's bit", Sign::kP4,
           "The powerpc fault of 0cef77c7798a, built for x86. P4 first, then P1."),
      race("Z26-window", "a handler runs inside the switch window", Sign::kP4,
           "A mutation of Z26's repair: the CPU clears its own bit, in the middle of a switch."),
      guest(
          "Z27", "every flush trims", Sign::kStaleReached,
          "209954cbc7d0 alone reached every stale CPU by every flush; 6db2526c1d69 made it once a "
          "second.",
          "v6.14"),
      guest("Z28", "an idle CPU keeps its stale bit", Sign::kStaleKept,
            "Lazy CPUs are skipped before the trim test, and the round is put off all the same.",
            {}, "trim_reaches_lazy=true"),
      guest(
          "Z29", "a hypercall leaves the generation behind", Sign::kRedundantFlush,
          "The next return to the mm flushes what the host has flushed. In every era; the twin is "
          "the native path.",
          {}, {}, true),
      race("Z30", "KVM returns before the targets have flushed", Sign::kP8,
           "0baedd792713, fixed by 1ebfaa11ebb5 (5.16). The corrected host takes effect first."),
      on_host("Z31", "KVM: format \"all\" without banks reaches nobody",
              "3244867af8c0 (5.16): \"no banks\" was tested before the format."),
      on_host("Z32", "KVM: addresses that are not canonical are passed on",
              "fa787ac07b3c (6.16): list entries reached INVVPID unchecked."),
      on_host("Z32-stop", "KVM: the first bad address ends the list",
              "A mutation of Z32's repair."),
      on_host("Z33", "KVM: the list is looked for in front of the banks",
              "The list follows the banks even where the format is \"all\"."),
      on_host("Z33-cut", "KVM: a long list is cut",
              "More entries than the queue holds must become \"everything\"."),
      race(
          "Z34", "KVM: the flush flag of a preempted VP is lost", Sign::kP1,
          "b043138246a4 and 8c6de56a42e0 (v5.6), CVE-2019-3016: the host reads the flag and writes "
          "0 later, over a flag that came in between. Repaired by one exchange."),
      on_host("Z35", "Xen: VPs that do not exist are written to", "XSA-475, CVE-2025-58147."),
      guest("Z36", "no limit for a list", Sign::kP7,
            "FreeBSD's copy of the builder: a misplaced parenthesis compares a truth value."),
      guest("Z36-gen", "the generation moves after the IPIs", Sign::kP1,
            "FreeBSD's pmap (r362031), built for Linux: the receivers find nothing to do."),
      guest("Z37", "the all-processors shortcut ignores laziness", Sign::kSweptIn,
            "A mask that equals the present CPUs becomes one flag before anybody asks who is lazy.",
            "filtered"),
      guest("Z38", "an EX call for nobody", Sign::kNobodyNamed,
            "The plain form returns when every CPU was skipped, the EX form calls. v6.4 and later.",
            {}, "hv_ex_nobody_returns=true"),
      guest("Z39", "the way out with interrupts off", Sign::kIrq,
            "A 4.14-based tree: the fallback inside the plain walk did not restore the flag."),
      guest("Z40", "the user half of a PCID is forgotten", Sign::kP1,
            "With page-table isolation a flush of the kernel's PCID must mark the user's as well."),
      guest("Z40-index", "the user half of another PCID is marked", Sign::kP1,
            "The bit's index is the ASID plus one."),
      race("Z41", "freed tables between the bit and CR3", Sign::kP2,
           "Eager eras clear the bit before they write CR3; latent, harmless with RCU.", "v6.17.5"),
      race("Z42-fence", "the fix on a tree without the fence", Sign::kP1,
           "filtered looks at loaded_mm: with Z03 an over-flush becomes a missed flush.",
           "filtered"),
      race("Z42-marker", "the fix on a tree with the late marker", Sign::kP1, "The same with Z02.",
           "filtered"),
      race("Z42-check", "the fix on a tree that does not ask for the marker", Sign::kP1,
           "The same with Z01b.", "filtered"),
  };
}

}  // namespace

std::span<const Entry> entries() {
  static const std::vector<Entry> kEntries = table();
  return kEntries;
}

const Entry* find_entry(std::string_view id) {
  for (const Entry& each : entries())
    if (each.id == id) return &each;
  return nullptr;
}

}  // namespace hvtlb::zoo

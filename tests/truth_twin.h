// The obvious slow twin of model/truth.h: a version for every CPU, PCID and page, in plain arrays,
// and a list of every change and request. It knows 16 pages, which two page tables map, and forgets
// nothing.
#pragma once

#include <array>
#include <vector>

#include "model/truth.h"

namespace hvtlb::test {

class TruthTwin {
 public:
  static constexpr u32 kPages = 16;
  static constexpr u32 kPagesOfATable = 8;
  static constexpr u32 kMms = 4;
  static constexpr u32 kPcids = 5;

  explicit TruthTwin(u32 nr_cpus) : cpus_(nr_cpus) {
    for (Cpu cpu = 0; cpu < nr_cpus; ++cpu) reset_cpu(cpu);
  }

  static u64 address_of(u32 page) {
    return (u64{page / kPagesOfATable} << 21) + page % kPagesOfATable * kPageSize;
  }
  static u32 page_at(u64 va) {
    return static_cast<u32>((va >> 21) * kPagesOfATable + (va >> kPageShift) % 512);
  }
  static bool covers(AddressRange range, u32 page) {
    return range.start < address_of(page) + kPageSize && address_of(page) < range.end;
  }
  static bool same_table(u32 a, u32 b) { return a / kPagesOfATable == b / kPagesOfATable; }

  void mm_created(MmId mm) {
    ++mms_[mm].life;
    mms_[mm].changes.clear();
    mms_[mm].requests.clear();
  }
  void pte_change(MmId mm, AddressRange range, bool freed) {
    mms_[mm].changes.push_back({++mms_[mm].version, range, freed});
  }
  void flush_requested(MmId mm, u64 gen, AddressRange range, bool freed) {
    mms_[mm].requests.push_back({mms_[mm].version, gen, range, freed, false});
  }
  void flush_returned(MmId mm, u64 gen) {
    for (Request& request : mms_[mm].requests) request.returned |= request.gen == gen;
  }

  void reset_cpu(Cpu cpu) {
    cpus_[cpu] = TwinCpu{};
    cpus_[cpu].pcid = 1;
    fill(cpus_[cpu].tags[1], kInitMm);
  }
  void set_uses(Cpu cpu, MmId mm) { cpus_[cpu].uses = mm; }
  void write_cr3(Cpu cpu, MmId mm, u64 pcid, bool keep) {
    TwinCpu& hw = cpus_[cpu];
    hw.cr3 = mm;
    hw.pcid = pcid;
    if (!keep || !hw.tags[pcid].full) fill(hw.tags[pcid], mm);
  }
  void invlpg(Cpu cpu, u32 page) {
    Tag& tag = selected(cpu);
    tag.pages[page] = mms_[tag.mm].version;
    tag.walks.fill(mms_[tag.mm].version);
  }
  void host_flush(Cpu cpu, HostScope scope, u64 space, bool everything, AddressRange range) {
    TwinCpu& hw = cpus_[cpu];
    for (u64 pcid = 0; pcid < kPcids; ++pcid) {
      Tag& tag = hw.tags[pcid];
      const bool is_selected = pcid == hw.pcid;
      const bool any = space == kTlbFlushAll;
      if (!tag.full) continue;
      if (scope == HostScope::kAddressSpace && !any && space != tag.mm) continue;
      if (scope == HostScope::kIfCr3Matches && !(is_selected && (any || space == hw.cr3))) continue;
      if (scope == HostScope::kCurrentPcid && !is_selected) continue;
      if (everything && is_selected) {
        fill(tag, hw.cr3);
      } else if (everything) {
        tag.full = false;
      } else {
        // A page leaves by itself; a table leaves the paging-structure cache as a whole.
        for (u32 page = 0; page < kPages; ++page) {
          if (!covers(range, page)) continue;
          tag.pages[page] = mms_[tag.mm].version;
          for (u32 other = 0; other < kPages; ++other)
            if (same_table(page, other)) tag.walks[other] = mms_[tag.mm].version;
        }
      }
    }
  }

  bool may_hold_old(Cpu cpu, MmId mm, AddressRange range) const {
    const TwinCpu& hw = cpus_[cpu];
    if (hw.cr3 != mm) return false;
    const Tag& tag = hw.tags[hw.pcid];
    if (foreign(tag, mm)) return true;
    for (u32 page = 0; page < kPages; ++page)
      if (covers(range, page) && tag.pages[page] < newest(mm, page, ~u64{0}, false)) return true;
    return false;
  }
  bool usable_stale_page(Cpu cpu, u32 page) const {
    const TwinCpu& hw = cpus_[cpu];
    if (hw.uses == kInitMm || hw.cr3 != hw.uses) return false;
    return stale(hw.tags[hw.pcid], hw.uses, page, ~u64{0}, false, true);
  }
  bool walkable_freed_table(Cpu cpu, u32 page) const {
    const TwinCpu& hw = cpus_[cpu];
    return hw.cr3 != kInitMm && stale(hw.tags[hw.pcid], hw.cr3, page, ~u64{0}, true, true);
  }
  bool behind_generation(Cpu cpu, u64 pcid, MmId mm, u64 gen, u32 page) const {
    const Tag& tag = cpus_[cpu].tags[pcid];
    if (mm == kInitMm || !tag.full || mms_[mm].requests.empty()) return false;
    if (gen < mms_[mm].requests.front().gen) return false;
    return stale(tag, mm, page, gen, false, false);
  }
  u64 nr_requests(MmId mm) const { return mms_[mm].requests.size(); }

 private:
  struct Change {
    u64 version;
    AddressRange range;
    bool freed;
  };
  struct Request {
    u64 version, gen;
    AddressRange range;
    bool freed, returned;
  };
  struct TwinMm {
    u64 life = 1, version = 0;
    std::vector<Change> changes;
    std::vector<Request> requests;
  };
  struct Tag {
    bool full = false;
    MmId mm = 0;
    u64 life = 0;
    std::array<u64, kPages> pages{}, walks{};
  };
  struct TwinCpu {
    MmId cr3 = kInitMm, uses = kInitMm;
    u64 pcid = 0;
    std::array<Tag, kPcids> tags{};
  };

  Tag& selected(Cpu cpu) { return cpus_[cpu].tags[cpus_[cpu].pcid]; }
  void fill(Tag& tag, MmId mm) const {
    tag.full = true;
    tag.mm = mm;
    tag.life = mms_[mm].life;
    tag.pages.fill(mms_[mm].version);
    tag.walks.fill(mms_[mm].version);
  }
  bool foreign(const Tag& tag, MmId mm) const { return tag.mm != mm || tag.life != mms_[mm].life; }
  /// The newest change of the page up to `version`.
  u64 newest(MmId mm, u32 page, u64 version, bool freed_only) const {
    u64 found = 0;
    for (const Change& change : mms_[mm].changes)
      if (change.version <= version && covers(change.range, page) && (change.freed || !freed_only))
        found = change.version;
    return found;
  }
  bool stale(const Tag& tag, MmId mm, u32 page, u64 gen, bool walks, bool returned_only) const {
    if (foreign(tag, mm)) return true;
    for (const Request& request : mms_[mm].requests) {
      if (request.gen > gen || (returned_only && !request.returned)) continue;
      if ((walks && !request.freed) || !covers(request.range, page)) continue;
      const u64 oldest = walks ? tag.walks[page] : tag.pages[page];
      if (oldest < newest(mm, page, request.version, walks)) return true;
    }
    return false;
  }

  std::array<TwinMm, kMms> mms_;
  std::vector<TwinCpu> cpus_;
};

}  // namespace hvtlb::test

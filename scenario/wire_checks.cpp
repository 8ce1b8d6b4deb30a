#include "scenario/wire_checks.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "host/call_shape.h"
#include "host/gva_entry.h"
#include "scenario/profile_host.h"

namespace hvtlb {
namespace {

constexpr std::size_t kPageWords = HypercallInputPage::kBytes / sizeof(u64);
constexpr u32 kVpsPerBank = 64;

/// What a range that ends at the top of the address space ends at.
u64 end_of(const host::Range& range) {
  const u64 end = range.start + range.pages * kPageSize;
  return end < range.start ? kTlbFlushAll : end;
}

}  // namespace

WireChecker::WireChecker(const Guest& guest) : guest_(guest), existing_vps_(existing_vps(guest)) {}

std::vector<u32> WireChecker::vps_of(const CpuMask& targets) const {
  std::vector<u32> vps;
  vps.reserve(targets.count());
  targets.for_each([&](Cpu cpu) {
    if (guest_.present(cpu) && guest_.vp_index[cpu] != kVpInvalid)
      vps.push_back(guest_.vp_index[cpu]);
  });
  std::sort(vps.begin(), vps.end());
  return vps;
}

/// Sizes and counts agree, and nothing outside of the page is read or was written.
std::string WireChecker::check_layout(u64 control, std::span<const u64> page,
                                      bool& too_long) const {
  const host::Control word(control);
  const auto shape = host::shape_of(word.code());
  if (!shape) return fmt::format("call code {:#x} is no flush", word.code());
  const std::size_t bytes = host::declared_bytes(*shape, word);
  too_long = bytes > HypercallInputPage::kBytes;
  if (too_long) return fmt::format("the input is {} bytes long, a page holds 4096", bytes);
  if (page.size() > kPageWords && page[kPageWords] != 0)
    return "memory outside of the input page was written";
  const u32 header = word.variable_header_words();
  if (!shape->vp_set && header != 0) return "a plain call has a variable header";
  if (shape->vp_set) {
    const u64 bank_mask = page[host::kBankMaskAt / sizeof(u64)];
    if (static_cast<u32>(std::popcount(bank_mask)) != header)
      return fmt::format("the header says {} banks, the bank mask {:#x}", header, bank_mask);
  }
  const u64 flags = page[host::kFlagsAt / sizeof(u64)];
  if ((flags & ~host::kFlagsDefined) != 0) return fmt::format("reserved flags: {:#x}", flags);
  if (shape->list && word.rep_count() == 0) return "a list call without an entry";
  if (!shape->list && word.rep_count() != 0) return "a call for the whole space has a rep count";
  return {};
}

/// The ranges cover every page that the native path would flush. Addresses that are not canonical
/// or not page-aligned are left out: hosts skip the former, the builder rounds the latter.
std::string WireChecker::check_ranges(const host::Reaction& reaction, const FlushTlbInfo& request,
                                      u64& pages_beyond) const {
  if (reaction.everything) return {};
  if (request.end == kTlbFlushAll) return "a full flush became a list";
  u64 named = 0;
  for (const host::Range& range : reaction.ranges) named += range.pages;
  if ((request.start | request.end) % kPageSize != 0 || request.end < request.start) return {};
  const u64 asked = (request.end - request.start) / kPageSize;
  pages_beyond = named > asked ? named - asked : 0;
  if (asked == 0 || !host::canonical(request.start) || !host::canonical(request.end - 1)) return {};
  u64 cursor = request.start;
  for (const host::Range& range : reaction.ranges)
    if (range.start <= cursor) cursor = std::max(cursor, end_of(range));
  if (cursor >= request.end) return {};
  return fmt::format("the list leaves out page {:#x}", cursor);
}

WireReport WireChecker::check(u64 control, std::span<const u64> page,
                              const WireIntent& intent) const {
  WireReport report;
  const auto shape = host::shape_of(host::Control(control).code());
  report.empty_set = shape && shape->vp_set && host::Control(control).variable_header_words() == 0;
  report.broken = check_layout(control, page, report.too_long);
  if (!report.broken.empty() || host::Control(control).rep_start() != 0) return report;
  const std::vector<u32> meant = vps_of(intent.targets);
  for (const host::Profile profile : host::kProfiles) {
    const auto reaction = host::decode(profile, control, input_of(page), existing_vps_, kVpInvalid);
    if (reaction.status != host::kSuccess) continue;  // Linux goes native then
    if (reaction.flushed != meant) {
      report.broken =
          reaction.flushed.empty()
              ? fmt::format("{} answers success and flushes nobody, {} VPs are meant",
                            host::name_of(profile), meant.size())
              : fmt::format("{} flushes {} VPs, others than the {} meant", host::name_of(profile),
                            reaction.flushed.size(), meant.size());
      return report;
    }
    report.broken = check_ranges(reaction, intent.request, report.pages_beyond);
    if (!report.broken.empty()) {
      report.broken = fmt::format("{}: {}", host::name_of(profile), report.broken);
      return report;
    }
  }
  report.names_nobody = shape->vp_set && meant.empty();
  if (shape->vp_set && !meant.empty()) {
    const u64 bank_mask = page[host::kBankMaskAt / sizeof(u64)];
    const bool trailing =
        bank_mask >> 1 >> (meant.back() / kVpsPerBank) != 0;  // banks past the last VP's
    report.dear_form = meant.back() < kVpsPerBank || trailing;
  }
  return report;
}

}  // namespace hvtlb

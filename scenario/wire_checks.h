// P7: what must hold of the bytes of a hypercall, whoever decodes them.
#pragma once

#include <string>

#include "host/decode.h"
#include "model/cpumask.h"
#include "model/flush_tlb_info.h"
#include "model/guest.h"

namespace hvtlb {

/// What the bytes are to say.
struct WireIntent {
  const FlushTlbInfo& request;
  const CpuMask& targets;  ///< the CPUs that are meant; all present ones where the flag is meant
};

struct WireReport {
  std::string broken;         ///< what is wrong, or nothing: a verdict
  bool too_long = false;      ///< the input goes on past its page (zoo Z15)
  bool empty_set = false;     ///< an EX call without banks (zoo Z14)
  bool names_nobody = false;  ///< an EX call without a target was made (zoo Z38): a cost
  bool dear_form = false;     ///< EX where plain would do, or empty banks at the end: a cost
  u64 pages_beyond = 0;       ///< pages that the ranges name and the request does not: a cost
};

class WireChecker {
 public:
  /// `guest` must outlive the checker; its VP numbering does not change.
  explicit WireChecker(const Guest& guest);

  /// Judges one call, made with rep start 0 or continued. `page` is the whole input page with the
  /// word behind it.
  WireReport check(u64 control, std::span<const u64> page, const WireIntent& intent) const;

 private:
  std::string check_layout(u64 control, std::span<const u64> page, bool& too_long) const;
  std::string check_ranges(const host::Reaction& reaction, const FlushTlbInfo& request,
                           u64& pages_beyond) const;
  std::vector<u32> vps_of(const CpuMask& targets) const;

  const Guest& guest_;
  std::vector<u32> existing_vps_;
};

}  // namespace hvtlb

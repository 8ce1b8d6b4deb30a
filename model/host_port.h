// Where a hypercall leaves the guest: the host is given to the policy, which knows nothing of it.
#pragma once

#include <span>
#include <vector>

#include "model/flush_tlb_info.h"
#include "model/types.h"

namespace hvtlb {

/// What a host answers and does.
struct HostEffect {
  u64 result = 0;          ///< the result word the guest sees
  bool all_vps = false;    ///< every existing VP; otherwise those in `vps`
  std::vector<u32> vps;    ///< VP indices, existing or not
  bool everything = true;  ///< the whole address space; otherwise `ranges`
  std::vector<AddressRange> ranges;
  u64 address_space = kTlbFlushAll;  ///< `kTlbFlushAll`: all of them

  void clear() {
    result = 0;
    all_vps = false;
    vps.clear();
    everything = true;
    ranges.clear();
    address_space = kTlbFlushAll;
  }
};

class HypercallHost {
 public:
  virtual ~HypercallHost() = default;

  /// Answers one call. `input` is the caller's page from its first word on. `effect` is cleared.
  virtual void call(u64 control, std::span<const u64> input, HostEffect& effect) = 0;
};

}  // namespace hvtlb

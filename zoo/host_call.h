// The zoo's faults of hypervisors: one call each, and the decoder with the fault switched on.
#pragma once

#include "host/decode.h"
#include "zoo/zoo.h"

namespace hvtlb::zoo {

struct HostCall {
  std::string_view id;  ///< of the entry
  host::Profile profile;
  host::Faults faults;
  u64 control;
  std::vector<u64> input;  ///< words
  std::vector<u32> vps;    ///< that exist
};

/// The call that shows an entry of kind `kHost`.
const HostCall& host_call_of(const Entry& entry);

Outcome run_host_call(const Entry& entry);

/// What a faulty reaction does that the correct one does not, or leaves undone: `VP 1 is not
/// flushed`. Nothing when they agree.
std::string difference(const host::Reaction& faulty, const host::Reaction& correct,
                       std::span<const u32> existing_vps);

}  // namespace hvtlb::zoo

// The independent decoder: what a hypervisor does with the bytes of a flush hypercall.
//
// Any control word and any input are answered: no crash, no unbounded work, at most 4095 ranges.
// Stateless, so it can be called from any thread.
#pragma once

#include "host/faults.h"
#include "host/hypercall_input.h"
#include "host/profile.h"
#include "host/reaction.h"

namespace hvtlb::host {

/// `control`: the control word. Its bit 16 (fast) is taken from the form that `input` has.
/// `existing_vps`: the partition's VP indices, in any order. `self_vp`: the caller's; no profile's
/// answer depends on it today, a host that excluded or added the caller would need it. `faults`:
/// none, unless the bug zoo asks for one.
[[nodiscard]] Reaction decode(Profile profile, u64 control, const Input& input,
                              std::span<const u32> existing_vps, u32 self_vp,
                              const Faults& faults = {});

}  // namespace hvtlb::host

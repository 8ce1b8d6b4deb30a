// The profiles behind decode(), one file each.
#pragma once

#include "host/faults.h"
#include "host/hypercall_input.h"
#include "host/reaction.h"

namespace hvtlb::host {

struct Call {
  Control control;
  const Input& input;
  std::span<const u32> existing_vps;
  u32 self_vp;
  Faults faults;
};

Reaction react_tlfs(const Call& call);
Reaction react_kvm(const Call& call);
Reaction react_openhcl(const Call& call);
Reaction react_xen(const Call& call);

}  // namespace hvtlb::host

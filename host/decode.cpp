#include "host/decode.h"

#include "host/hosts.h"

namespace hvtlb::host {

Reaction decode(Profile profile, u64 control, const Input& input, std::span<const u32> existing_vps,
                u32 self_vp, const Faults& faults) {
  const Call call{Control(control), input, existing_vps, self_vp, faults};
  switch (profile) {
    case Profile::tlfs: return react_tlfs(call);
    case Profile::kvm: return react_kvm(call);
    case Profile::openhcl: return react_openhcl(call);
    case Profile::xen: return react_xen(call);
  }
  return refused(kInvalidHypercallCode);
}

}  // namespace hvtlb::host

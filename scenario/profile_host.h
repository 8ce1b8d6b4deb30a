// A host of one of the decoder's profiles, as a machine's partner: it does with the bytes what that
// hypervisor would.
#pragma once

#include "host/decode.h"
#include "model/guest.h"
#include "model/host_port.h"

namespace hvtlb {

/// The VP indices that exist: those of the present CPUs whose index the guest knows.
std::vector<u32> existing_vps(const Guest& guest);

class ProfileHost final : public HypercallHost {
 public:
  ProfileHost(host::Profile profile, std::vector<u32> existing)
      : profile_(profile), existing_vps_(std::move(existing)) {}

  void call(u64 control, std::span<const u64> input, HostEffect& effect) override;

 private:
  host::Profile profile_;
  std::vector<u32> existing_vps_;
};

/// The words of an input page as the bytes that a host sees.
host::Input input_of(std::span<const u64> words);

}  // namespace hvtlb

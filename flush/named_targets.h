// A host that does exactly what the input names: it flushes the named VPs and ranges and answers
// success, or a given status. It reads the bytes back; it judges nothing.
#pragma once

#include "flush/wire.h"
#include "model/host_port.h"

namespace hvtlb {

class NamedTargetsHost final : public HypercallHost {
 public:
  /// The status every call gets; anything but success flushes nothing.
  u16 status = hv::kStatusSuccess;

  void call(u64 control, std::span<const u64> input, HostEffect& effect) override;
};

}  // namespace hvtlb

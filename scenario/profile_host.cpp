#include "scenario/profile_host.h"

#include "host/call_shape.h"

namespace hvtlb {

std::vector<u32> existing_vps(const Guest& guest) {
  std::vector<u32> vps;
  for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu)
    if (guest.present(cpu) && guest.vp_index[cpu] != kVpInvalid) vps.push_back(guest.vp_index[cpu]);
  return vps;
}

host::Input input_of(std::span<const u64> words) {
  static_assert(std::endian::native == std::endian::little, "the guest is an x86 machine");
  const auto* bytes = reinterpret_cast<const u8*>(words.data());
  return host::Input::memory({bytes, words.size_bytes()}, 0);
}

void ProfileHost::call(u64 control, std::span<const u64> input, HostEffect& effect) {
  const host::Reaction reaction =
      host::decode(profile_, control, input_of(input), existing_vps_, kVpInvalid);
  effect.result = reaction.status | u64{reaction.reps_completed} << 32;
  if (reaction.status != host::kSuccess) {
    effect.everything = false;  // and no ranges: nothing is flushed
    return;
  }
  effect.vps = reaction.flushed;
  effect.everything = reaction.everything;
  for (const host::Range& range : reaction.ranges) {
    const u64 end = range.start + range.pages * kPageSize;
    effect.ranges.push_back({range.start, end < range.start ? kTlbFlushAll : end});
  }
  // The host also knows the VPs whose index the guest has not learnt.
  const u64 flags = input[host::kFlagsAt / sizeof(u64)];
  effect.all_vps = (flags & host::kFlagAllVps) != 0 && effect.vps.size() == existing_vps_.size();
  const u64 space = input[host::kAddressSpaceAt / sizeof(u64)];
  effect.address_space = (flags & host::kFlagAllSpaces) != 0 ? kTlbFlushAll : space;
}

}  // namespace hvtlb

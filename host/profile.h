// The hosts that are told apart.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace hvtlb::host {

enum class Profile {
  tlfs,     ///< the text of the specification (TLFS 6.0b and its web pages)
  kvm,      ///< Linux's KVM, arch/x86/kvm/hyperv.c
  openhcl,  ///< OpenVMM's paravisor, its SNP side
  xen,      ///< Xen's viridian, xen/arch/x86/hvm/viridian/viridian.c
};

inline constexpr std::array kProfiles{Profile::tlfs, Profile::kvm, Profile::openhcl, Profile::xen};

constexpr std::string_view name_of(Profile profile) {
  switch (profile) {
    case Profile::tlfs: return "tlfs";
    case Profile::kvm: return "kvm";
    case Profile::openhcl: return "openhcl";
    case Profile::xen: return "xen";
  }
  return "";
}

constexpr std::optional<Profile> find_profile(std::string_view name) {
  for (const Profile profile : kProfiles)
    if (name_of(profile) == name) return profile;
  return std::nullopt;
}

}  // namespace hvtlb::host

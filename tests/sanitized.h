// Whether this build has AddressSanitizer: what takes half a minute there and a second in the
// optimised build is left to the latter.
#pragma once

namespace hvtlb::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace hvtlb::test

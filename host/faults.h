// What hosts have got wrong: faults that can be switched on, for the bug zoo (Z31 to Z33, Z35).
#pragma once

namespace hvtlb::host {

struct Faults {
  /// KVM before 3244867af8c0: "no banks" is tested before the format, so format "all" reaches
  /// nobody.
  bool all_needs_banks = false;
  /// KVM before fa787ac07b3c: addresses that are not canonical reach INVVPID.
  bool non_canonical_passed = false;
  /// An imagined repair of that: the first bad entry ends the list.
  bool non_canonical_stops = false;
  /// The list is looked for right behind the header when the format is "all".
  bool list_behind_header = false;
  /// A list longer than the queue is cut instead of becoming "everything".
  bool long_list_cut = false;
  /// Xen before XSA-475: VPs that do not exist are written to the mask all the same.
  bool vps_unbounded = false;
};

}  // namespace hvtlb::host

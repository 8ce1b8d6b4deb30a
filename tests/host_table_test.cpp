// The table of disagreements (docs/hosts.md), row by row, all four profiles each.
#include <gtest/gtest.h>

#include "host_call.h"

namespace hvtlb::host {
namespace {

constexpr u64 kAllVps = 1;
constexpr u64 kAllSpaces = 2;
constexpr u64 kNonGlobal = 4;
constexpr u64 kExtended = 8;
constexpr const char* kEveryone = "0,1,2,5,64,130 everything reps 0";
constexpr const char* kTwo = "0,1 everything reps 0";

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(text(react(Profile::tlfs, row.call)), row.tlfs) << "tlfs: " << row.name;
    EXPECT_EQ(text(react(Profile::kvm, row.call)), row.kvm) << "kvm: " << row.name;
    EXPECT_EQ(text(react(Profile::openhcl, row.call)), row.openhcl) << "openhcl: " << row.name;
    EXPECT_EQ(text(react(Profile::xen, row.call)), row.xen) << "xen: " << row.name;
  }
}

TEST(HostTable, WhatAllAgreeOn) {
  const char* one_page = "0,1 0x10000+1 reps 1";
  const char* everything = "0,1 everything reps 1";
  check({
      {"space", space(3), kTwo, kTwo, kTwo, kTwo},
      {"space, all", space(0, kAllVps), kEveryone, kEveryone, kEveryone, kEveryone},
      {"list", list(3, pages(1)), one_page, one_page, one_page, everything},
      {"list, ex", list_ex(0, 1, {3}, pages(1)), one_page, one_page, one_page, everything},
      {"space, ex, two banks", space_ex(0, 5, {2, 4}), "1,130 everything reps 0",
       "1,130 everything reps 0", "1,130 everything reps 0", "1,130 everything reps 0"},
      {"VPs that do not exist", space(~u64{0}), "0,1,2,5 everything reps 0",
       "0,1,2,5 everything reps 0", "0,1,2,5 everything reps 0", "0,1,2,5 everything reps 0"},
      {"only VPs that do not exist", space_ex(0, u64{1} << 63, {1}), "nobody everything reps 0",
       "nobody everything reps 0", "nobody everything reps 0", "nobody everything reps 0"},
      {"unknown call code", made(0x0004, {0, 0, 0}, {}), "2", "2", "2", "2"},
      {"another known call", made(0x000b, {0, 0, 0}, {}), "2", "2", "2", "2"},
  });
}

TEST(HostTable, WhoIsNamed) {
  const char* nobody = "nobody everything reps 0";
  check({
      {"plain, mask 0", space(0), "5", kEveryone, "5", nobody},
      {"plain list, mask 0", list(0, pages(1)), "5", "0,1,2,5,64,130 0x10000+1 reps 1", "5",
       "nobody everything reps 1"},
      // KVM leaves before it decides what to flush.
      {"ex, no banks", space_ex(0, 0, {}), "5", "nobody reps 0", "5", nobody},
      {"ex list, no banks", list_ex(0, 0, {}, pages(3)), "5", "nobody reps 3", "5",
       "nobody everything reps 3"},
      {"ex list, no banks, list cut", list_ex(0, 0, {}, pages(3)).without_last(8), "3 of 3,5",
       "nobody reps 3", "3", "nobody everything reps 3"},
      {"ex, banks all zero", space_ex(0, 3, {0, 0}), "5", nobody, "5", nobody},
      {"ex list, banks all zero", list_ex(0, 1, {0}, pages(1)), "5", "nobody 0x10000+1 reps 1", "5",
       "nobody everything reps 1"},
      {"ex, flag all, no banks", space_ex(0, 0, {}, kAllVps), kEveryone, "nobody reps 0", kEveryone,
       kEveryone},
      {"ex, flag all, a bank", space_ex(0, 1, {3}, kAllVps), kEveryone, kTwo, kEveryone, kEveryone},
      {"ex, flag all, zero bank", space_ex(0, 1, {0}, kAllVps), kEveryone, nobody, kEveryone,
       kEveryone},
  });
}

TEST(HostTable, SetFormats) {
  const char* listed = "0,1,2,5,64,130 0x10000+1 reps 1";
  const char* everything = "0,1,2,5,64,130 everything reps 1";
  check({
      {"format all", space_ex(1, 0, {}), kEveryone, kEveryone, "5", kEveryone},
      {"format 2", space_ex(2, 0, {}), "5", kEveryone, "5", "5"},
      {"format 2, a bank", space_ex(2, 1, {3}), "5", kEveryone, "5", "5"},
      {"a huge format", space_ex(~u64{0}, 1, {3}), "5", kEveryone, "5", "5"},
      {"format 2, flag all", space_ex(2, 0, {}, kAllVps), "5", kEveryone, "5", kEveryone},
      {"format all, banks", list_ex(1, 1, {3}, pages(1)), listed, listed, "5", everything},
      {"format all, banks undeclared", space_ex(1, 1, {3}).header_words(0), kEveryone, "3", "5",
       kEveryone},
      {"too few header words", space_ex(0, 3, {3, 1}).header_words(1), "5", "3", "5",
       "0,1,64 everything reps 0"},
      {"too many header words", space_ex(0, 1, {3, 1}), "5", "3", "5", kTwo},
      {"header words, no bank", space_ex(0, 0, {3}), "5", "3", "5", "nobody everything reps 0"},
      {"header words on a plain call", space(3).header_words(1), "3", "3", "3", kTwo},
      {"header words on a plain list", list(3, pages(2)).header_words(1).reps(1), "3", "3", "3",
       "0,1 everything reps 1"},
  });
}

TEST(HostTable, Reps) {
  check({
      {"list, no reps", list(3, {}), "3", "3", "3", kTwo},
      {"ex list, no reps", list_ex(0, 1, {3}, {}), "3", "3", "3", kTwo},
      {"space, a rep", space(3).reps(1), "3", "3", "3", "0,1 everything reps 1"},
      {"space, rep start", space(3).reps(0, 1), "3", "3", "3", kTwo},
      {"ex space, a rep", space_ex(0, 1, {3}).reps(1), "3", "3", "3", "0,1 everything reps 1"},
      {"list, rep start 1 of 3", list(3, pages(3)).reps(3, 1), "0,1 0x11000+1 0x12000+1 reps 3",
       "3", "0,1 0x11000+1 0x12000+1 reps 3", "0,1 everything reps 3"},
      {"ex list, rep start 2 of 3", list_ex(0, 1, {3}, pages(3)).reps(3, 2), "0,1 0x12000+1 reps 3",
       "3", "0,1 0x12000+1 reps 3", "0,1 everything reps 3"},
      {"list, rep start 3 of 3", list(3, pages(3)).reps(3, 3), "3", "3", "3",
       "0,1 everything reps 3"},
      {"list, rep start, no reps", list(3, pages(3)).reps(0, 1), "3", "3", "3", kTwo},
  });
}

TEST(HostTable, ReservedControlBits) {
  for (u32 bit = 27; bit < 64; ++bit) {
    const bool reserved = bit < 31 || (bit >= 44 && bit < 48) || bit >= 60;
    if (!reserved) continue;
    check({{"a reserved bit", space(3).bits(u64{1} << bit), "3", "3", kTwo, kTwo}});
  }
  check({{"nested", space(3).bits(u64{1} << 31), kTwo, "3", kTwo, kTwo}});
}

TEST(HostTable, Flags) {
  for (u32 bit = 4; bit < 64; ++bit)
    check({{"a reserved flag", space(3, u64{1} << bit), "5", kTwo, "5", kTwo}});
  const char* one_page = "0,1 0x10000+1 reps 1";
  const char* everything = "0,1 everything reps 1";
  check({
      {"non-global, space", space(3, kNonGlobal), kTwo, kTwo, kTwo, kTwo},
      {"non-global, list", list(3, pages(1), kNonGlobal), "5", one_page, one_page, everything},
      {"extended, space", space(3, kExtended), "5", kTwo, "5", kTwo},
      {"extended, list", list(3, pages(1), kExtended), one_page, one_page, one_page, everything},
      {"all spaces", space(3, kAllSpaces), kTwo, kTwo, kTwo, kTwo},
  });
}

TEST(HostTable, AddressSpace) {
  const u64 no_cr3 = u64{1} << 52;
  check({
      {"PCID and cache bits", space(3).word(0, 0x1fff), kTwo, kTwo, kTwo, kTwo},
      {"zero", space(3).word(0, 0), kTwo, kTwo, kTwo, kTwo},
      {"no CR3 value", space(3).word(0, no_cr3), "5", kTwo, kTwo, kTwo},
      {"a kernel address", space(3).word(0, ~u64{0xfff}), "5", kTwo, kTwo, kTwo},
      {"no CR3 value, all spaces", space(3, kAllSpaces).word(0, no_cr3), kTwo, kTwo, kTwo, kTwo},
  });
}

TEST(HostTable, PlaceOfTheInput) {
  const char* two_pages = "0,1 0x10000+1 0x11000+1 reps 2";
  const char* everything = "0,1 everything reps 2";
  check({
      {"up to the end of the page", list(3, pages(2)).at(4096 - 40), two_pages, two_pages,
       two_pages, everything},
      {"one word over", list(3, pages(2)).at(4096 - 32), "4", two_pages, "3", everything},
      {"header over", space(3).at(4096 - 16), "4", kTwo, "3", kTwo},
      {"unaligned", space(3).at(4), "4", kTwo, "4", kTwo},
      {"unaligned by one", list(3, pages(2)).at(1), "4", two_pages, "4", everything},
      {"unaligned and over", space(3).at(4095), "4", kTwo, "3", kTwo},
      // Z15: 510 entries make 4104 bytes.
      {"a page and a word", list(3, pages(510)), "4", "0,1 everything reps 510", "3",
       "0,1 everything reps 510"},
      {"declared over the page, not there", list(3, pages(1)).reps(510), "3 of 3,4",
       "0,1 everything reps 510", "3", "0,1 everything reps 510"},
  });
}

TEST(HostTable, InputEndsEarly) {
  check({
      {"nothing there", space(3).without_last(24), "3", "3", "3", "5"},
      {"header cut", space(3).without_last(1), "3", "3", "3", "5"},
      {"ex header cut", space_ex(1, 0, {}).without_last(1), "3", "3", "3", "5"},
      {"banks cut", space_ex(0, 3, {3, 1}).without_last(1), "3", "3", "3", "5"},
      {"banks cut, format all", space_ex(1, 3, {3, 1}).without_last(16), "3", kEveryone, "3",
       kEveryone},
      {"list cut", list(3, pages(2)).without_last(1), "3", "3", "3", "0,1 everything reps 2"},
      {"15 entries cut", list(3, pages(15)).without_last(8), "3", "3", "3",
       "0,1 everything reps 15"},
      {"16 entries cut", list(3, pages(16)).without_last(128), "3", "0,1 everything reps 16", "3",
       "0,1 everything reps 16"},
  });
}

TEST(HostTable, Addresses) {
  const u64 low_hole = u64{1} << 47;
  const u64 high_hole = 0xffff7ffffffff000;
  check({
      {"not canonical", list(3, {0x1002, low_hole, high_hole, 0x3000}),
       "0,1 0x1000+3 0x3000+1 reps 4", "0,1 0x1000+3 0x3000+1 reps 4",
       "0,1 0x1000+3 0x800000000000+1 0xffff7ffffffff000+1 0x3000+1 reps 4",
       "0,1 everything reps 4"},
      {"none canonical", list(3, {low_hole}), "0,1 reps 1", "0,1 reps 1",
       "0,1 0x800000000000+1 reps 1", "0,1 everything reps 1"},
      {"borders", list(3, {0x7ffffffff000, 0xffff800000000000}),
       "0,1 0x7ffffffff000+1 0xffff800000000000+1 reps 2",
       "0,1 0x7ffffffff000+1 0xffff800000000000+1 reps 2",
       "0,1 0x7ffffffff000+1 0xffff800000000000+1 reps 2", "0,1 everything reps 2"},
      {"all ones", list(3, {0x1000, ~u64{0}, low_hole}),
       "0,1 0x1000+1 0xfffffffffffff000+4096 reps 3", "0,1 everything reps 3",
       "0,1 everything reps 3", "0,1 everything reps 3"},
  });
}

}  // namespace
}  // namespace hvtlb::host

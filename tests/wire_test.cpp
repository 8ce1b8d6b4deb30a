// The wire format's numbers, against the specification's text.
#include "flush/wire.h"

#include <gtest/gtest.h>

namespace hvtlb::hv {
namespace {

TEST(Wire, CallCodesFlagsAndStatus) {
  EXPECT_EQ(kFlushVirtualAddressSpace, 0x0002);
  EXPECT_EQ(kFlushVirtualAddressList, 0x0003);
  EXPECT_EQ(kFlushVirtualAddressSpaceEx, 0x0013);
  EXPECT_EQ(kFlushVirtualAddressListEx, 0x0014);
  EXPECT_EQ(kFlushAllProcessors, 1u);
  EXPECT_EQ(kFlushAllVirtualAddressSpaces, 2u);
  EXPECT_EQ(kFlushNonGlobalMappingsOnly, 4u);
  EXPECT_EQ(kStatusInvalidParameter, 5);
  EXPECT_EQ(kTlbFlushUnit, 16u << 20);
}

TEST(Wire, ControlWord) {
  const u64 control = control_word(kFlushVirtualAddressListEx, 506, 2);
  EXPECT_EQ(control, 0x000001fa00040014u);
  EXPECT_EQ(call_code(control), 0x14);
  EXPECT_EQ(variable_header_words(control), 2u);
  EXPECT_EQ(rep_count(control), 506u);
  EXPECT_EQ(rep_start(control), 0u);
  EXPECT_EQ(with_rep_start(control, 16), 0x001001fa00040014u);
  EXPECT_EQ(with_rep_start(with_rep_start(control, 0xfff), 1), 0x000101fa00040014u);
  EXPECT_EQ(rep_start(with_rep_start(control, 0xfff)), 0xfffu);
  EXPECT_EQ(rep_count(control_word(3, 0xfff, 0)), 0xfffu);
  EXPECT_EQ(variable_header_words(control_word(0x13, 0, 64)), 64u);
}

TEST(Wire, ResultWord) {
  EXPECT_EQ(result_word(5, 0), 5u);
  EXPECT_EQ(result_word(0, 509), 0x1fd00000000u);
  EXPECT_EQ(result_status(0x1fd00000005), 5);
  EXPECT_EQ(result_reps_completed(0x1fd00000005), 509u);
  EXPECT_EQ(result_reps_completed(0xf000'0fff'0000'0000), 0xfffu);
}

TEST(Wire, InputLength) {
  EXPECT_EQ(input_words(control_word(kFlushVirtualAddressSpace, 0, 0)), 3u);
  EXPECT_EQ(input_words(control_word(kFlushVirtualAddressList, 509, 0)), 512u);
  EXPECT_EQ(input_words(control_word(kFlushVirtualAddressSpaceEx, 0, 1)), 5u);
  EXPECT_EQ(input_words(control_word(kFlushVirtualAddressListEx, 500, 8)), 512u);
}

TEST(Wire, KindsOfCall) {
  EXPECT_FALSE(is_ex(0x0002));
  EXPECT_FALSE(is_ex(0x0003));
  EXPECT_TRUE(is_ex(0x0013));
  EXPECT_TRUE(is_ex(0x0014));
  EXPECT_FALSE(is_list(0x0002));
  EXPECT_TRUE(is_list(0x0003));
  EXPECT_FALSE(is_list(0x0013));
  EXPECT_TRUE(is_list(0x0014));
}

}  // namespace
}  // namespace hvtlb::hv

// The host that does what the input names: all four calls read back, input written here by hand.
#include "flush/named_targets.h"

#include <gtest/gtest.h>

namespace hvtlb {
namespace {

HostEffect call(u64 control, std::vector<u64> words, u16 status = 0) {
  NamedTargetsHost host;
  host.status = status;
  HostEffect effect;
  host.call(control, words, effect);
  return effect;
}

using Vps = std::vector<u32>;

TEST(NamedTargets, PlainSpace) {
  const HostEffect effect = call(0x2, {0x5000, 4, 0x8000000000000005});
  EXPECT_EQ(effect.vps, (Vps{0, 2, 63}));
  EXPECT_FALSE(effect.all_vps);
  EXPECT_TRUE(effect.everything);
  EXPECT_EQ(effect.address_space, 0x5000u);
  EXPECT_EQ(effect.result, 0u);
}

TEST(NamedTargets, PlainListOfAllProcessorsInAllSpaces) {
  const HostEffect effect = call(0x2'0000'0003, {0, 3, 0, 0x7000, 0x10fff});
  EXPECT_TRUE(effect.all_vps);
  EXPECT_TRUE(effect.vps.empty());
  EXPECT_FALSE(effect.everything);
  EXPECT_EQ(effect.address_space, kTlbFlushAll);
  EXPECT_EQ(effect.ranges, (std::vector<AddressRange>{{0x7000, 0x8000}, {0x10000, 0x1010000}}));
  EXPECT_EQ(effect.result, 0x2'0000'0000u);
}

TEST(NamedTargets, ExBanksArePackedInTheOrderOfTheirBits) {
  const HostEffect effect = call(0x1'0004'0014, {0x5000, 0, 0, 0x9, 2, 4, 0x7001});
  EXPECT_EQ(effect.vps, (Vps{1, 3 * 64 + 2}));
  EXPECT_EQ(effect.ranges, (std::vector<AddressRange>{{0x7000, 0x9000}}));
  EXPECT_EQ(call(0x0004'0013, {0x5000, 1, 0, 0x9, 2, 4}).vps, (Vps{1, 194})) << "flag or not";
}

TEST(NamedTargets, ContinuesAtRepStart) {
  const HostEffect effect = call(0x0001'0002'0000'0003, {0, 0, 1, 0x7000, 0x9000});
  EXPECT_EQ(effect.ranges, (std::vector<AddressRange>{{0x9000, 0xa000}}));
  EXPECT_EQ(effect.result, 0x2'0000'0000u) << "reps are counted from 0";
}

TEST(NamedTargets, TheTopOfTheAddressSpace) {
  EXPECT_EQ(call(0x1'0000'0003, {0, 0, 1, ~u64{0}}).ranges,
            (std::vector<AddressRange>{{0xfffffffffffff000, kTlbFlushAll}}));
}

TEST(NamedTargets, ARefusalFlushesNobody) {
  const HostEffect effect = call(0x1'0000'0003, {0, 1, 1, 0x7000}, 5);
  EXPECT_EQ(effect.result, 5u);
  EXPECT_FALSE(effect.all_vps);
  EXPECT_TRUE(effect.vps.empty());
}

}  // namespace
}  // namespace hvtlb

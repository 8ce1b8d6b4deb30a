// `hvtlb encode`: the specification's example byte for byte, the odd corners, refusals.
#include "cli/encode.h"

#include <gtest/gtest.h>
#include <sstream>

#include "model/eras.h"

namespace hvtlb::cli {
namespace {

/// A request of four CPUs of which three are in the mask and the last of them is lazy; `extra`
/// replaces and adds fields.
Json request(const Json& extra = Json::object()) {
  Json line = Json::parse(R"({"id":1,"nr_cpus":4,"cur_cpu":0,"present":"0xf","cpus":"0x7",
      "lazy":"0x4","vp_of_cpu":[0,1,2,3],"hv_max_vp_index":3,"pgd_phys":"0x1000",
      "start":"0x7f0000000000","end":"0x7f0000001000"})");
  line.update(extra);
  return Json::parse(line.dump());  // as it is read: a number that is not negative is unsigned
}
Json encode(const Json& extra = Json::object()) {
  try {
    return encode_line(request(extra));
  } catch (const LineError& error) {
    ADD_FAILURE() << error.what;
    return {};
  }
}
std::string refusal(const Json& line) {
  try {
    return "accepted: " + encode_line(line).dump();
  } catch (const LineError& error) {
    return error.what;
  }
}

TEST(Encode, TheExample) {
  EXPECT_EQ(encode(), Json::parse(R"({"id":1,"outcome":"hypercall","control":"0x100000003",
      "code":3,"rep_count":1,"var_header_size":0,"address_space":"0x1000","flags":"0x0",
      "processor_mask":"0x3","gva_list":["0x7f0000000000"],"bytes":32,
      "input":"00100000000000000000000000000000030000000000000000000000007f0000"})"));
}

TEST(Encode, TheIdIsEchoedWhateverItIs) {
  for (const Json& id : {Json(7), Json("seven"), Json(nullptr), Json::array({1, 2})})
    EXPECT_EQ(encode({{"id", id}})["id"], id);
}

TEST(Encode, AListOf510EntriesIs4104Bytes) {
  const Json answer = encode({{"end", "0x7f01fd001000"}});
  EXPECT_EQ(answer["rep_count"], 510);
  EXPECT_EQ(answer["bytes"], 4104);
  EXPECT_EQ(answer["gva_list"].size(), 510u);
  EXPECT_EQ(answer["gva_list"][509], "0x7f01fd000000");
  EXPECT_EQ(answer["input"].get_ref<const std::string&>().size(), 2u * 4104);
  EXPECT_EQ(answer["control"], "0x1fe00000003");
}

TEST(Encode, AnEmptySetBeyond64Banks) {
  const Json answer = encode({{"vp_of_cpu", {0, 64, 2, 3}}, {"hv_max_vp_index", 4096}});
  EXPECT_EQ(answer["outcome"], "hypercall");
  EXPECT_EQ(answer["code"], 20);
  EXPECT_EQ(answer["var_header_size"], 0);
  EXPECT_EQ(answer["valid_bank_mask"], "0x0");
  EXPECT_EQ(answer["banks"], Json::array());
  EXPECT_EQ(answer["format"], 0);
  EXPECT_EQ(answer["bytes"], 40);
}

TEST(Encode, AnExCallWithOneEmptyBank) {
  const Json answer =
      encode({{"vp_of_cpu", {0, 1, 64, 3}}, {"hv_max_vp_index", 64}, {"lazy", "0x7"}});
  EXPECT_EQ(answer["code"], 20);
  EXPECT_EQ(answer["valid_bank_mask"], "0x1");
  EXPECT_EQ(answer["banks"], Json::array({"0x0"}));
  EXPECT_EQ(answer["var_header_size"], 1);
}

TEST(Encode, AnEmptyBankBetween) {
  const Json answer = encode({{"vp_of_cpu", {0, 130, 2, 3}}, {"hv_max_vp_index", 130}});
  EXPECT_EQ(answer["valid_bank_mask"], "0x7");
  EXPECT_EQ(answer["banks"], Json::array({"0x1", "0x0", "0x4"}));
  EXPECT_EQ(answer["control"], "0x100060014");
}

TEST(Encode, OddRanges) {
  const auto list = [](const char* start, const char* end) {
    return encode({{"start", start}, {"end", end}})["gva_list"];
  };
  EXPECT_EQ(list("0x5000", "0x5000"), Json::array({"0x5000"}));
  EXPECT_EQ(list("0x5123", "0x0"), Json::array({"0x5000"}));
  EXPECT_EQ(list("0xfffffffffffff000", "0x1000"), Json::array({"0xfffffffffffff000"}));
  const Json reversed = encode({{"start", "0x6000"}, {"end", "0x5000"}});
  EXPECT_EQ(reversed["code"], 2);
  EXPECT_EQ(reversed["flags"], "0x0");
  EXPECT_EQ(reversed["gva_list"], Json::array());
  EXPECT_EQ(reversed["bytes"], 24);
  EXPECT_EQ(encode({{"end", "0xffffffffffffffff"}})["flags"], "0x4");
}

TEST(Encode, TheLastCpusVpMayBeInvalid) {
  const Json answer = encode({{"vp_of_cpu", {0, 1, -1, 3}}, {"lazy", "0x0"}});
  EXPECT_EQ(answer, Json::parse(R"({"id":1,"outcome":"native","targets":"0x7","trim":false})"));
  EXPECT_EQ(encode({{"vp_of_cpu", {0, 1, -1, 3}}})["outcome"], "hypercall") << "lazy: skipped";
}

TEST(Encode, WithoutTheHintExCallsGoNative) {
  const Json ex{{"vp_of_cpu", {0, 64, 2, 3}}, {"hv_max_vp_index", 64}, {"ex_hint", false}};
  EXPECT_EQ(encode(ex), Json::parse(R"({"id":1,"outcome":"native","targets":"0x3","trim":false})"));
  EXPECT_EQ(encode({{"ex_hint", 0}})["outcome"], "hypercall");
  EXPECT_EQ(encode({{"hypercall_page", false}})["outcome"], "native");
  EXPECT_EQ(encode({{"input_page", 0}})["outcome"], "native");
}

TEST(Encode, AFailedCallIsShownAsAttempted) {
  Json tried = encode();
  const Json answer = encode({{"hv_status", 5}});
  EXPECT_EQ(answer["outcome"], "native");
  EXPECT_EQ(answer["targets"], "0x3");
  tried.erase("id");
  tried.erase("outcome");
  EXPECT_EQ(answer["attempted"], tried);
}

TEST(Encode, NobodyLeft) {
  EXPECT_EQ(encode({{"lazy", "0x7"}}), Json::parse(R"({"id":1,"outcome":"none"})"));
  EXPECT_EQ(encode({{"cpus", "0x0"}})["outcome"], "none");
}

TEST(Encode, EveryFieldReachesTheBuilder) {
  EXPECT_EQ(encode({{"freed_tables", true}})["processor_mask"], "0x7");
  EXPECT_EQ(encode({{"mm_null", 1}})["flags"], "0x2");
  EXPECT_EQ(encode({{"mm_null", 1}})["address_space"], "0x0");
  EXPECT_EQ(encode({{"pgd_phys", "0xfff0123456789abc"}})["address_space"], "0x123456789000");
  EXPECT_EQ(encode({{"present", "0x7"}})["flags"], "0x1");
  const Json fix{{"era", "filtered"}};
  const auto with = [&](Json more) {
    more.update(fix);
    return encode(more);
  };
  EXPECT_EQ(with({{"trim", true}})["trim"], true);
  EXPECT_EQ(with({{"trim", true}})["outcome"], "native");
  EXPECT_EQ(with({{"asid_transition", true}})["targets"], "0x7");
  const Json loaded{{"loaded", {"target", "switching", "target", "init"}}};
  EXPECT_EQ(with(loaded)["processor_mask"], "0x3");
  EXPECT_EQ(with({{"loaded", {"target", "init", "target", "init"}}})["outcome"], "native");
  EXPECT_EQ(with({{"loaded", {"target", "other", "target", "init"}}})["trim"], true);
  EXPECT_EQ(with({{"cur_cpu", 1}, {"cpus", "0x2"}})["outcome"], "native");
}

TEST(Encode, EveryEraAnswers) {
  for (const Era& era : eras())
    EXPECT_EQ(encode({{"era", era.name}, {"lazy", "0x0"}})["processor_mask"], "0x7") << era.name;
}

TEST(Encode, RefusedLines) {
  const std::pair<const char*, Json> wrong[] = {
      {"id: missing",
       [] {
         Json j = request();
         j.erase("id");
         return j;
       }()},
      {"nr_cpus: missing",
       [] {
         Json j = request();
         j.erase("nr_cpus");
         return j;
       }()},
      {"unknown key 'cpu'", request({{"cpu", 1}})},
      {"nr_cpus: found 0, expected a number from 1 to 4096", request({{"nr_cpus", 0}})},
      {"nr_cpus: found 4097", request({{"nr_cpus", 4097}})},
      {"nr_cpus: found 4.0", request({{"nr_cpus", 4.0}})},
      {"cur_cpu: found 4", request({{"cur_cpu", 4}})},
      {"cur_cpu: found -1", request({{"cur_cpu", -1}})},
      {"present: found \"0x10\", expected CPUs below 4", request({{"present", "0x10"}})},
      {"cpus: found 7", request({{"cpus", 7}})},
      {"lazy: found \"7\"", request({{"lazy", "7"}})},
      {"lazy: found \"0x\"", request({{"lazy", "0x"}})},
      {"start: found \"0xg\"", request({{"start", "0xg"}})},
      {"end: found \"0x10000000000000000\", expected at most 64 bits",
       request({{"end", "0x10000000000000000"}})},
      {"vp_of_cpu: found a list of 3, expected a list of 4", request({{"vp_of_cpu", {0, 1, 2}}})},
      {"vp_of_cpu: found 18446744073709551615, expected numbers from -1 to 4095",
       request({{"vp_of_cpu", {0, 1, 2, ~u64{0}}}})},
      {"vp_of_cpu: found 4294967295, expected numbers from -1 to 2147483647",
       request({{"vp_of_cpu", {0, 1, 2, ~u32{0}}}, {"hv_max_vp_index", 4096}})},
      {"vp_of_cpu: found -2", request({{"vp_of_cpu", {0, 1, 2, -2}}})},
      {"vp_of_cpu: found 4096", request({{"vp_of_cpu", {0, 1, 2, 4096}}})},
      {"vp_of_cpu: found \"3\"", request({{"vp_of_cpu", {0, 1, 2, "3"}}})},
      {"era: found \"v6.2\", expected one of v6.1 v6.4", request({{"era", "v6.2"}})},
      {"era: found 6", request({{"era", 6}})},
      {"freed_tables: found 2", request({{"freed_tables", 2}})},
      {"hv_status: found 65536", request({{"hv_status", 65536}})},
      {"loaded: found \"all\"", request({{"loaded", {"all", "init", "init", "init"}}})},
  };
  for (const auto& [message, line] : wrong)
    EXPECT_EQ(refusal(line).find(message), 0u) << message << " / " << refusal(line);
}

TEST(Encode, MasksMayBeOfAnyLength) {
  EXPECT_EQ(encode({{"cpus", "0x00000000000000000000007"}})["processor_mask"], "0x3");
}

}  // namespace
}  // namespace hvtlb::cli

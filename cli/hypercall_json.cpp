#include "cli/hypercall_json.h"

#include "flush/wire.h"

namespace hvtlb::cli {
namespace {

Json hex_list(std::span<const u64> words) {
  Json list = Json::array();
  for (u64 word : words) list.push_back(hex_text(word));
  return list;
}

struct Parts {
  std::span<const u64> banks;
  std::span<const u64> gva_list;
};

Parts parts_of(u64 control, std::span<const u64> input) {
  const u32 nr_bank = hv::variable_header_words(control);
  const u32 header = hv::is_ex(hv::call_code(control)) ? hv::kExHeader : hv::kPlainHeader;
  return {input.subspan(header, nr_bank), input.subspan(header + nr_bank, hv::rep_count(control))};
}

}  // namespace

Json hypercall_json(u64 control, std::span<const u64> input) {
  const u16 code = hv::call_code(control);
  const Parts parts = parts_of(control, input);
  const u32 bytes = 8 * hv::input_words(control);
  Json json{{"control", hex_text(control)},
            {"code", code},
            {"rep_count", hv::rep_count(control)},
            {"var_header_size", hv::variable_header_words(control)},
            {"address_space", hex_text(input[hv::kAddressSpaceWord])},
            {"flags", hex_text(input[hv::kFlagsWord])},
            {"gva_list", hex_list(parts.gva_list)},
            {"bytes", bytes},
            {"input", byte_text(input, bytes)}};
  if (hv::is_ex(code)) {
    json["format"] = input[hv::kSetFormatWord];
    json["valid_bank_mask"] = hex_text(input[hv::kValidBankMaskWord]);
    json["banks"] = hex_list(parts.banks);
  } else {
    json["processor_mask"] = hex_text(input[hv::kProcessorMaskWord]);
  }
  return json;
}

Json hypercall_event_json(u64 control, std::span<const u64> input) {
  const u16 code = hv::call_code(control);
  const Parts parts = parts_of(control, input);
  Json json{{"e", "hcall"},
            {"code", code},
            {"reps", hv::rep_count(control)},
            {"as", hex_text(input[hv::kAddressSpaceWord])},
            {"flags", hex_text(input[hv::kFlagsWord])}};
  if (hv::is_ex(code)) {
    json["valid_bank_mask"] = hex_text(input[hv::kValidBankMaskWord]);
    json["banks"] = hex_list(parts.banks);
  } else {
    json["pm"] = hex_text(input[hv::kProcessorMaskWord]);
  }
  if (hv::is_list(code)) json["gva"] = hex_list(parts.gva_list);
  return json;
}

}  // namespace hvtlb::cli

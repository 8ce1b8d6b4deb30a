#include "cli/decode.h"

#include <fmt/format.h>
#include <limits>
#include <memory>

#include "cli/command.h"
#include "host/decode.h"
#include "scenario/shown_text.h"

namespace hvtlb::cli {
namespace {

constexpr u64 kFastBit = 1 << 16;
constexpr u64 kMaxVp = std::numeric_limits<u32>::max();

host::Profile read_profile(Fields& fields) {
  const std::string name = fields.text("profile");
  if (const auto profile = host::find_profile(name)) return *profile;
  std::string names;
  for (const host::Profile profile : host::kProfiles)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", host::name_of(profile));
  throw LineError{
      fmt::format("profile: found \"{}\", expected one of {}", shown_text(name), names)};
}

u8 read_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<u8>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<u8>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<u8>(c - 'A' + 10);
  throw LineError{"input: found a character that is no hexadecimal digit, expected bytes"};
}

/// A byte string: hexadecimal digits without a prefix.
std::vector<u8> read_bytes(const std::string& text) {
  if (text.size() % 2 != 0)
    throw LineError{fmt::format("input: found {} digits, expected two a byte", text.size())};
  if (text.size() / 2 > kMaxInputBytes)
    throw LineError{
        fmt::format("input: found {} bytes, expected at most {}", text.size() / 2, kMaxInputBytes)};
  std::vector<u8> bytes(text.size() / 2);
  for (std::size_t at = 0; at < bytes.size(); ++at)
    bytes[at] = static_cast<u8>(read_digit(text[2 * at]) << 4 | read_digit(text[2 * at + 1]));
  return bytes;
}

std::array<u64, host::kRegisterWords> read_registers(Fields& fields) {
  std::array<u64, host::kRegisterWords> words{};
  const Json& list = fields.list("regs", words.size());
  for (std::size_t at = 0; at < words.size(); ++at) {
    // The getters know named fields only; a word is one under the list's name.
    const Json word{{"regs", list[at]}};
    words[at] = Fields(word).hex("regs");
  }
  return words;
}

std::vector<u32> read_vps(Fields& fields, const Json& line) {
  if (!fields.has("vps")) throw LineError{"vps: missing"};
  const Json& list = line.at("vps");
  if (!list.is_array()) throw LineError{"vps: expected a list of VP indices"};
  std::vector<u32> vps;
  vps.reserve(list.size());
  for (const Json& vp : list) {
    if (!vp.is_number_unsigned() || vp.get<u64>() > kMaxVp)
      throw LineError{
          fmt::format("vps: found {}, expected numbers from 0 to {}", shown_json(vp), kMaxVp)};
    vps.push_back(vp.get<u32>());
  }
  return vps;
}

Json reaction_json(const host::Reaction& reaction, bool all_errors) {
  Json ranges = Json::array();
  for (const host::Range& range : reaction.ranges)
    ranges.push_back(Json::array({hex_text(range.start), range.pages}));
  Json answer{{"status", reaction.status},
              {"flushed", reaction.flushed},
              {"everything", reaction.everything},
              {"ranges", std::move(ranges)},
              {"reps_completed", reaction.reps_completed}};
  if (all_errors) answer["all_errors"] = reaction.all_errors;
  return answer;
}

}  // namespace

Json decode_line(const Json& line) {
  Fields fields(line);
  if (!fields.has("id")) throw LineError{"id: missing"};
  const host::Profile profile = read_profile(fields);
  const u64 control = fields.hex("control");
  const std::vector<u32> vps = read_vps(fields, line);
  const u32 self = static_cast<u32>(fields.number("self", 0, kMaxVp));

  const bool fast = fields.flag_or("fast", false);
  std::vector<u8> bytes;
  std::array<u64, host::kRegisterWords> words{};
  u32 gpa_offset = 0;
  if (fast) {
    words = read_registers(fields);
  } else {
    bytes = read_bytes(fields.text("input"));
    gpa_offset = static_cast<u32>(fields.number_or("gpa_offset", 0, 0, host::kGuestPage - 1));
  }
  fields.finish();
  if (fast != ((control & kFastBit) != 0))
    throw LineError{fmt::format("control: found bit 16 {}, expected it {} as `fast` says",
                                fast ? "clear" : "set", fast ? "set" : "clear")};

  const host::Input input =
      fast ? host::Input::registers(words) : host::Input::memory(bytes, gpa_offset);
  Json answer = reaction_json(host::decode(profile, control, input, vps, self),
                              profile == host::Profile::tlfs);
  answer["id"] = line["id"];
  return answer;
}

Command make_decode(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("decode", "Hypercalls in, a host's reaction out: JSON lines");
  auto file = std::make_shared<std::string>("-");
  sub->add_option("FILE", *file, "calls, one JSON object a line; - is standard input")
      ->capture_default_str();
  sub->footer(fmt::format(
      "What a host would do with these bytes: status, the VPs flushed, the ranges.\n"
      "Profiles: tlfs, kvm, openhcl, xen (docs/hosts.md). An input has at most {} bytes.\n"
      "The fields of a line: docs/jsonl.md.\n"
      "Example:\n"
      "  echo '{{\"id\":1,\"profile\":\"kvm\",\"control\":\"0x2\",\"vps\":[0,1],\"self\":0,\n"
      "    \"input\":\"001000000000000000000000000000000200000000000000\"}}' |\n"
      "    tr -d '\\n' | hvtlb decode",
      kMaxInputBytes));
  return {sub, [file] { return answer_file(*file, decode_line); }};
}

}  // namespace hvtlb::cli

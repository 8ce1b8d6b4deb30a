#include "cli/json_lines.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>

#include "cli/exit_code.h"
#include "scenario/shown_text.h"

namespace hvtlb::cli {
namespace {

[[noreturn]] void refuse(const char* key, const Json& found, const std::string& expected) {
  throw LineError{fmt::format("{}: found {}, expected {}", key, shown_json(found), expected)};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The digits of `0x…`, or an empty view.
std::string_view hex_digits(const Json& value) {
  if (!value.is_string()) return {};
  const std::string& text = value.get_ref<const std::string&>();
  if (text.size() < 3 || text[0] != '0' || text[1] != 'x') return {};
  const std::string_view digits = std::string_view(text).substr(2);
  for (char c : digits)
    if (hex_digit(c) < 0) return {};
  return digits;
}

u64 parse_hex(const char* key, const Json& value) {
  std::string_view digits = hex_digits(value);
  if (digits.empty()) refuse(key, value, "a hexadecimal string 0x...");
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  if (digits.size() > 16) refuse(key, value, "at most 64 bits");
  u64 result = 0;
  for (char c : digits) result = result << 4 | static_cast<u64>(hex_digit(c));
  return result;
}

bool parse_flag(const char* key, const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer() && (value == 0 || value == 1)) return value == 1;
  refuse(key, value, "true, false, 1 or 0");
}

u64 parse_number(const char* key, const Json& value, u64 least, u64 most) {
  const bool fits =
      value.is_number_unsigned() && value.get<u64>() >= least && value.get<u64>() <= most;
  if (!fits) refuse(key, value, fmt::format("a number from {} to {}", least, most));
  return value.get<u64>();
}

/// Parses a line. What the library would let pass is refused: nesting so deep that its copies and
/// its output, which recurse, would end the program, and a key that stands twice in one object.
void parse_line(const std::string& line, Json& object) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::optional<std::string> doubled;
  const auto look = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && depth >= kMaxJsonDepth)
      throw LineError{
          fmt::format("found more than {0} objects and lists in one another, expected "
                      "at most {0}",
                      kMaxJsonDepth)};
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second && !doubled) doubled = key;
    }
    return true;
  };
  object = Json::parse(line, look, false);
  if (object.is_discarded()) throw LineError{"found no JSON, expected one object a line"};
  if (!doubled) return;
  if (*doubled == "id") object = nullptr;  // which of them to echo?
  throw LineError{fmt::format("{}: found twice", shown_text(*doubled))};
}

/// Reads one line of at most kMaxLineBytes; `too_long` tells that more was there.
bool read_line(std::istream& in, std::string& line, bool& too_long) {
  line.clear();
  too_long = false;
  std::streambuf* buffer = in.rdbuf();
  bool any = false;
  for (int c = buffer->sbumpc(); c != EOF; c = buffer->sbumpc()) {
    any = true;
    if (c == '\n') return true;
    if (line.size() < kMaxLineBytes)
      line += static_cast<char>(c);
    else
      too_long = true;
  }
  return any;
}

}  // namespace

Fields::Fields(const Json& object) : object_(object) {
  if (!object.is_object()) throw LineError{"found no JSON object, expected one a line"};
}

bool Fields::has(const char* key) {
  asked_.insert(key);
  return object_.contains(key);
}

const Json& Fields::at(const char* key) {
  if (!has(key)) throw LineError{fmt::format("{}: missing", key)};
  return object_.at(key);
}

u64 Fields::number(const char* key, u64 least, u64 most) {
  return parse_number(key, at(key), least, most);
}
u64 Fields::number_or(const char* key, u64 otherwise, u64 least, u64 most) {
  return has(key) ? number(key, least, most) : otherwise;
}
bool Fields::flag(const char* key) {
  return parse_flag(key, at(key));
}
bool Fields::flag_or(const char* key, bool otherwise) {
  return has(key) ? flag(key) : otherwise;
}
u64 Fields::hex(const char* key) {
  return parse_hex(key, at(key));
}
u64 Fields::hex_or(const char* key, u64 otherwise) {
  return has(key) ? hex(key) : otherwise;
}

std::string Fields::text(const char* key) {
  const Json& value = at(key);
  if (!value.is_string()) refuse(key, value, "a string");
  return value.get<std::string>();
}
std::string Fields::text_or(const char* key, const std::string& otherwise) {
  return has(key) ? text(key) : otherwise;
}

CpuMask Fields::mask(const char* key, u32 nr_cpus) {
  const Json& value = at(key);
  const std::string_view digits = hex_digits(value);
  if (digits.empty()) refuse(key, value, "a hexadecimal mask 0x...");
  CpuMask mask(nr_cpus);
  Cpu cpu = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, cpu += 4)
    for (u32 bit = 0; bit < 4; ++bit) {
      if ((hex_digit(*digit) >> bit & 1) == 0) continue;
      if (cpu + bit >= nr_cpus) refuse(key, value, fmt::format("CPUs below {}", nr_cpus));
      mask.set(cpu + bit);
    }
  return mask;
}

const Json& Fields::list(const char* key, std::size_t length) {
  const Json& value = at(key);
  if (!value.is_array()) refuse(key, value, fmt::format("a list of {}", length));
  if (value.size() != length)
    throw LineError{
        fmt::format("{}: found a list of {}, expected a list of {}", key, value.size(), length)};
  return value;
}

void Fields::finish() const {
  for (const auto& [key, value] : object_.items())
    if (!asked_.contains(key)) throw LineError{fmt::format("unknown key '{}'", shown_text(key))};
}

std::string shown_json(const Json& value) {
  return shown_text(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string hex_text(u64 value) {
  return fmt::format("0x{:x}", value);
}

std::string byte_text(std::span<const u64> words, std::size_t nr_bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * nr_bytes);
  for (std::size_t at = 0; at < nr_bytes; ++at) {
    const u64 byte = words[at / 8] >> (8 * (at % 8)) & 0xff;
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

int answer_lines(std::istream& in, std::ostream& out,
                 const std::function<Json(const Json&)>& answer) {
  int exit_code = kExitHolds;
  std::string line;
  bool too_long = false;
  while (out && read_line(in, line, too_long)) {
    Json object;
    Json reply;
    try {
      if (too_long) throw LineError{fmt::format("the line is longer than {} bytes", kMaxLineBytes)};
      parse_line(line, object);
      reply = answer(object);
    } catch (const LineError& error) {
      Json id;
      if (object.is_object() && object.contains("id")) id = object["id"];
      reply = {{"id", id}, {"error", error.what}};
      exit_code = kExitUsage;
    }
    out << reply.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }
  out.flush();
  return exit_code;
}

int answer_file(const std::string& path, const std::function<Json(const Json&)>& answer) {
  std::ios::sync_with_stdio(false);
  const auto refuse_file = [&](std::string_view what) {
    fmt::print(stderr, "{}: {}\n", path == "-" ? "standard input" : escaped_text(path), what);
    return kExitUsage;
  };
  std::ifstream file;
  if (path != "-") {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      return refuse_file("is a directory, expected a file of JSON lines");
    file.open(path);
    if (!file) return refuse_file("cannot be opened");
  }
  try {
    return answer_lines(path == "-" ? std::cin : file, std::cout, answer);
  } catch (const std::ios_base::failure&) {
    return refuse_file("cannot be read");
  }
}

}  // namespace hvtlb::cli

// JSON lines: one object a line in, one a line out. The rules that `encode`, `decode` and `step`
// share: strict types, unknown keys refused, a refused line answered in its place.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/cpumask.h"
#include "model/types.h"

namespace hvtlb::cli {

using Json = nlohmann::json;

/// A longer input line is refused; the rest of it is skipped.
inline constexpr std::size_t kMaxLineBytes = 1 << 20;

/// Objects and lists in one another; more are refused.
inline constexpr int kMaxJsonDepth = 64;

/// Why a line is refused. Caught where the line's answer is written.
struct LineError {
  std::string what;
};

/// The fields of one input object. Every getter refuses a wrong type or a value out of range;
/// `finish` refuses keys that nobody asked for.
class Fields {
 public:
  explicit Fields(const Json& object);

  bool has(const char* key);
  u64 number(const char* key, u64 least, u64 most);
  u64 number_or(const char* key, u64 otherwise, u64 least, u64 most);
  bool flag_or(const char* key, bool otherwise);
  bool flag(const char* key);
  u64 hex(const char* key);
  u64 hex_or(const char* key, u64 otherwise);
  std::string text(const char* key);
  std::string text_or(const char* key, const std::string& otherwise);
  /// A hexadecimal mask of any length whose members are all below `nr_cpus`.
  CpuMask mask(const char* key, u32 nr_cpus);
  const Json& list(const char* key, std::size_t length);
  void finish() const;

 private:
  const Json& at(const char* key);

  const Json& object_;
  std::set<std::string> asked_;
};

/// The value as messages show it.
std::string shown_json(const Json& value);

std::string hex_text(u64 value);

/// The words' first `nr_bytes` bytes as hexadecimal text, little end first.
std::string byte_text(std::span<const u64> words, std::size_t nr_bytes);

/// Answers every line of `in` on `out`. `answer` gets the line's object; a `LineError` becomes
/// `{"id":…,"error":…}`. Returns the exit code: 1 when a line was refused. Throws
/// `std::ios_base::failure` when `in` cannot be read.
int answer_lines(std::istream& in, std::ostream& out,
                 const std::function<Json(const Json&)>& answer);

/// The same, with the lines of a file, or of standard input for `-`.
int answer_file(const std::string& path, const std::function<Json(const Json&)>& answer);

}  // namespace hvtlb::cli

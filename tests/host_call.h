// Flush calls as a guest could make them, and a host's reaction as one line of text, so that the
// decoder's tests read like the table that they check. All numbers here come from the specification
// again: neither the decoder's nor the builder's constants are used.
#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "host/decode.h"

namespace hvtlb::host {

struct GuestCall {
  u64 control = 0;
  std::vector<u64> words;
  u32 offset = 0;
  std::size_t cut = 0;  ///< bytes missing at the end of the input
  bool in_registers = false;

  [[nodiscard]] GuestCall bits(u64 more) const {
    return with([&](auto& c) { c.control |= more; });
  }
  [[nodiscard]] GuestCall flip(u64 those) const {
    return with([&](auto& c) { c.control ^= those; });
  }
  [[nodiscard]] GuestCall reps(u64 count, u64 start = 0) const {
    return with([&](auto& c) { c.control = (c.control & 0xffffffff) | count << 32 | start << 48; });
  }
  [[nodiscard]] GuestCall header_words(u64 count) const {
    return with([&](auto& c) { c.control = (c.control & ~u64{0x7fe0000}) | count << 17; });
  }
  [[nodiscard]] GuestCall word(std::size_t at, u64 value) const {
    return with([&](auto& c) { c.words.at(at) = value; });
  }
  [[nodiscard]] GuestCall at(u32 gpa_offset) const {
    return with([&](auto& c) { c.offset = gpa_offset; });
  }
  [[nodiscard]] GuestCall without_last(std::size_t bytes) const {
    return with([&](auto& c) { c.cut = bytes; });
  }
  [[nodiscard]] GuestCall fast() const {
    return with([&](auto& c) {
      c.control |= 0x10000;
      c.in_registers = true;
    });
  }

 private:
  template <typename Change>
  [[nodiscard]] GuestCall with(Change change) const {
    GuestCall changed = *this;
    change(changed);
    return changed;
  }
};

inline GuestCall made(u64 code, std::vector<u64> header, const std::vector<u64>& list,
                      u64 header_words = 0) {
  GuestCall call;
  call.control = code | header_words << 17 | u64{list.size()} << 32;
  call.words = std::move(header);
  call.words.insert(call.words.end(), list.begin(), list.end());
  return call;
}

inline GuestCall space(u64 mask, u64 flags = 0) {
  return made(0x0002, {0x1000, flags, mask}, {});
}
inline GuestCall list(u64 mask, const std::vector<u64>& entries, u64 flags = 0) {
  return made(0x0003, {0x1000, flags, mask}, entries);
}
inline GuestCall ex(u64 code, u64 format, u64 bank_mask, const std::vector<u64>& banks, u64 flags,
                    const std::vector<u64>& entries) {
  std::vector<u64> header{0x1000, flags, format, bank_mask};
  header.insert(header.end(), banks.begin(), banks.end());
  return made(code, header, entries, banks.size());
}
inline GuestCall space_ex(u64 format, u64 bank_mask, const std::vector<u64>& banks, u64 flags = 0) {
  return ex(0x0013, format, bank_mask, banks, flags, {});
}
inline GuestCall list_ex(u64 format, u64 bank_mask, const std::vector<u64>& banks,
                         const std::vector<u64>& entries, u64 flags = 0) {
  return ex(0x0014, format, bank_mask, banks, flags, entries);
}
/// `count` entries of one page each, from 0x10000 on.
inline std::vector<u64> pages(std::size_t count) {
  std::vector<u64> entries;
  for (u64 at = 0; at < count; ++at) entries.push_back(0x10000 + at * 0x1000);
  return entries;
}

inline const std::vector<u32> kExisting{0, 1, 2, 5, 64, 130};

inline Reaction react(Profile profile, const GuestCall& call) {
  if (call.in_registers) {
    std::array<u64, 14> registers{};
    for (std::size_t at = 0; at < std::min<std::size_t>(14, call.words.size()); ++at)
      registers[at] = call.words[at];
    return decode(profile, call.control, Input::registers(registers), kExisting, 0);
  }
  std::vector<u8> bytes;
  for (const u64 word : call.words)
    for (u32 byte = 0; byte < 8; ++byte) bytes.push_back(static_cast<u8>(word >> (8 * byte)));
  bytes.resize(bytes.size() - std::min(call.cut, bytes.size()));
  return decode(profile, call.control, Input::memory(bytes, call.offset), kExisting, 0);
}

/// "5" or "3 of 3,5" for an error, else for example "0,1 everything reps 0",
/// "nobody 0x1000+1 0x3000+2 reps 2".
inline std::string text(const Reaction& reaction) {
  std::string text;
  const auto append = [&](const std::string& word, const char* between) {
    text += (text.empty() ? "" : between) + word;
  };
  if (reaction.status != 0) {
    const bool empty = reaction.flushed.empty() && !reaction.everything &&
                       reaction.ranges.empty() && reaction.reps_completed == 0;
    if (!empty) return "an error that flushes";
    for (const u16 error : reaction.all_errors) append(std::to_string(error), ",");
    const std::string status = std::to_string(reaction.status);
    return text.empty() || text == status ? status : status + " of " + text;
  }
  if (!reaction.all_errors.empty()) return "a success with errors";
  for (const u32 vp : reaction.flushed) append(std::to_string(vp), ",");
  if (text.empty()) text = "nobody";
  if (reaction.everything && !reaction.ranges.empty()) return "everything and ranges";
  if (reaction.everything) append("everything", " ");
  for (const Range& range : reaction.ranges) {
    append(fmt::format("0x{:x}+{}", range.start, range.pages), " ");
  }
  append(fmt::format("reps {}", reaction.reps_completed), " ");
  return text;
}

/// The four profiles' reactions to one call.
struct Row {
  const char* name;
  GuestCall call;
  const char* tlfs;
  const char* kvm;
  const char* openhcl;
  const char* xen;
};

}  // namespace hvtlb::host

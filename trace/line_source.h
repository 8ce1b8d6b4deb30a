// Lines of a file or of standard input, in constant memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/types.h"

namespace hvtlb {

/// A longer line is cut here; the rest of it is passed over.
inline constexpr u32 kMaxTraceLine = 64 * 1024;

class LineSource {
 public:
  /// `path` or `-`. Check `error()` before use.
  explicit LineSource(const std::string& path);
  ~LineSource();
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  /// Why the file cannot be read (the system's words), or empty. May appear in mid-file.
  const std::string& error() const { return error_; }

  /// The next line without its end (LF or CRLF). Valid until the next call.
  bool next(std::string_view& line);

  /// What comes next, not consumed: up to 64 KiB, less only at the end of the file.
  std::string_view peek();

  u64 lines() const { return lines_; }
  u64 bytes() const { return bytes_; }
  bool cut() const { return cut_; }  ///< whether the last line was longer than the limit

 private:
  void fill();

  int fd_ = -1;
  std::string error_;
  std::vector<char> buffer_;
  std::string kept_;       // a cut line
  std::size_t begin_ = 0;  // unread part of the buffer
  std::size_t end_ = 0;
  bool eof_ = false;
  bool cut_ = false;
  u64 lines_ = 0;
  u64 bytes_ = 0;
};

}  // namespace hvtlb

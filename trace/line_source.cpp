#include "trace/line_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace hvtlb {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
static_assert(kBufferBytes > 2 * std::size_t{kMaxTraceLine});

}  // namespace

LineSource::LineSource(const std::string& path) : buffer_(kBufferBytes) {
  fd_ = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) error_ = std::strerror(errno);
  eof_ = fd_ < 0;
  fill();  // a directory opens, and fails only here
}

LineSource::~LineSource() {
  if (fd_ >= 0) ::close(fd_);
}

void LineSource::fill() {
  if (eof_) return;
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // Until a longest line is there: a pipe gives little at a time.
  while (end_ < buffer_.size()) {
    const ssize_t got = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error_ = std::strerror(errno);
    if (got <= 0) {
      eof_ = true;
      return;
    }
    end_ += static_cast<std::size_t>(got);
    if (end_ > kMaxTraceLine) return;
  }
}

std::string_view LineSource::peek() {
  if (end_ - begin_ < kMaxTraceLine) fill();
  return {buffer_.data() + begin_, std::min<std::size_t>(end_ - begin_, kMaxTraceLine)};
}

bool LineSource::next(std::string_view& line) {
  if (end_ - begin_ <= kMaxTraceLine) fill();
  if (begin_ == end_) return false;
  const char* at = buffer_.data() + begin_;
  std::size_t length = std::min<std::size_t>(end_ - begin_, kMaxTraceLine);
  const auto* newline = static_cast<const char*>(std::memchr(at, '\n', length));
  cut_ = newline == nullptr && end_ - begin_ > kMaxTraceLine;
  if (newline != nullptr) length = static_cast<std::size_t>(newline - at);
  line = {at, length};
  begin_ += length + (newline != nullptr ? 1 : 0);
  bytes_ += length + (newline != nullptr ? 1 : 0);
  ++lines_;
  if (cut_) {
    // Pass over the rest without touching the line's bytes, which fill() would move.
    kept_.assign(line);
    line = kept_;
    for (bool found = false; !found;) {
      if (begin_ == end_) fill();
      if (begin_ == end_) break;
      const auto* rest =
          static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', end_ - begin_));
      const std::size_t past = rest != nullptr
                                   ? static_cast<std::size_t>(rest - buffer_.data()) + 1 - begin_
                                   : end_ - begin_;
      begin_ += past;
      bytes_ += past;
      found = rest != nullptr;
    }
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

}  // namespace hvtlb

// A progress line for what takes longer than a second, and Ctrl-C.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace hvtlb::cli {

/// True from the first Ctrl-C on; a second one ends the program at once. `watch_interrupt()` must
/// have been called.
std::atomic<bool>& interrupted();

void watch_interrupt();

/// Shows `text()` on standard error, once it lives for over a second and only on a terminal; the
/// line is removed when it ends. `text` is called from another thread.
class Progress {
 public:
  explicit Progress(std::function<std::string()> text);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace hvtlb::cli

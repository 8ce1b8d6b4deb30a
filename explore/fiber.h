// A routine that can stop in the middle and go on later: Boost.Context with what AddressSanitizer
// has to be told. One fiber runs many routines, one after the other.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>

namespace hvtlb::explore {

class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Gives it a routine, which begins at the next resume(). REQUIRES: idle().
  void start(std::function<void()> routine) { routine_ = std::move(routine); }
  /// Whether it has no routine, or has ended it.
  bool idle() const { return !routine_; }
  /// Runs until the routine pauses or ends. REQUIRES: !idle(); not inside a fiber.
  void resume();
  /// Goes back to whoever resumed. REQUIRES: inside the routine.
  void pause();

 private:
  boost::context::fiber loop(boost::context::fiber&& back);
  void switch_back();

  std::function<void()> routine_;
  bool ending_ = false;
  boost::context::fiber inside_;  // where the fiber stands, while it is paused
  boost::context::fiber back_;    // where its resumer stands, while it runs
  // For AddressSanitizer: the stacks, and its own state of whoever is suspended.
  const void* back_bottom_ = nullptr;
  std::size_t back_size_ = 0;
  void* fake_back_ = nullptr;
  void* fake_inside_ = nullptr;
  void* bottom_ = nullptr;
};

}  // namespace hvtlb::explore

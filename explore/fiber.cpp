#include "explore/fiber.h"

#include <boost/context/fixedsize_stack.hpp>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HVTLB_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HVTLB_ASAN 1
#endif
#ifdef HVTLB_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace hvtlb::explore {
namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 17;

void start_switch([[maybe_unused]] void** save, [[maybe_unused]] const void* bottom,
                  [[maybe_unused]] std::size_t size) {
#ifdef HVTLB_ASAN
  __sanitizer_start_switch_fiber(save, bottom, size);
#endif
}

void finish_switch([[maybe_unused]] void* saved, [[maybe_unused]] const void** bottom,
                   [[maybe_unused]] std::size_t* size) {
#ifdef HVTLB_ASAN
  __sanitizer_finish_switch_fiber(saved, bottom, size);
#endif
}

}  // namespace

Fiber::Fiber() {
  boost::context::fixedsize_stack stacks(kStackBytes);
  boost::context::stack_context stack = stacks.allocate();
  bottom_ = static_cast<char*>(stack.sp) - stack.size;
  inside_ = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), stacks,
      [this](boost::context::fiber&& back) { return loop(std::move(back)); });
}

Fiber::~Fiber() {
  // Without a routine it stands between two of them: it is asked to end, nothing is unwound.
  ending_ = true;
  resume();
}

boost::context::fiber Fiber::loop(boost::context::fiber&& back) {
  back_ = std::move(back);
  finish_switch(nullptr, &back_bottom_, &back_size_);
  while (!ending_) {
    routine_();
    routine_ = nullptr;
    switch_back();
  }
  start_switch(nullptr, back_bottom_, back_size_);
  return std::move(back_);
}

void Fiber::resume() {
  start_switch(&fake_back_, bottom_, kStackBytes);
  inside_ = std::move(inside_).resume();
  finish_switch(fake_back_, nullptr, nullptr);
}

void Fiber::pause() {
  switch_back();
}

void Fiber::switch_back() {
  start_switch(&fake_inside_, back_bottom_, back_size_);
  back_ = std::move(back_).resume();
  finish_switch(fake_inside_, &back_bottom_, &back_size_);
}

}  // namespace hvtlb::explore

#include "trace/ftrace_payload.h"

#include <limits>

#include "trace/scan.h"

namespace hvtlb {
namespace {

/// The number behind ` key=`; the key stands between spaces, so that `mm=` is not found in `xmm=`.
class Payload {
 public:
  explicit Payload(std::string_view text) : text_(text) {}

  template <class Number>
  bool get(std::string_view key, Number& value, u64 limit = std::numeric_limits<Number>::max()) {
    for (std::size_t at = text_.find(key); at != std::string_view::npos;
         at = text_.find(key, at + 1)) {
      if (at == 0 || text_[at - 1] != ' ') continue;
      std::string_view rest = text_.substr(at + key.size());
      const auto number = scan::number(rest);
      if (!number || *number > limit || (!rest.empty() && rest.front() != ' ')) return false;
      value = static_cast<Number>(*number);
      // The next key is usually the next word.
      text_ = text_.substr(at + key.size());
      return true;
    }
    return false;
  }

 private:
  std::string_view text_;
};

constexpr u64 kMaxStrideShift = 63;

bool parse(std::string_view text, SchedSwitch& event) {
  // Names may hold anything: the fixed fields are found from the arrow outwards.
  constexpr std::string_view kArrow = " ==> next_comm=";
  const std::size_t arrow = text.find(kArrow);
  if (arrow == std::string_view::npos) return false;
  const std::string_view prev = text.substr(0, arrow);
  const std::string_view next = text.substr(arrow + kArrow.size());
  const std::size_t prev_pid = prev.rfind(" prev_pid=");
  const std::size_t next_pid = next.rfind(" next_pid=");
  if (prev_pid == std::string_view::npos || next_pid == std::string_view::npos) return false;
  event.next_comm = next.substr(0, next_pid);
  return Payload(prev.substr(prev_pid)).get("prev_pid=", event.prev_pid) &&
         Payload(next.substr(next_pid)).get("next_pid=", event.next_pid);
}

bool parse(std::string_view text, ProcessFork& event) {
  const std::size_t child = text.rfind(" child_pid=");
  const std::size_t name = text.rfind(" child_comm=", child);
  if (child == std::string_view::npos || name == std::string_view::npos) return false;
  const std::string_view before = text.substr(0, name);
  const std::size_t parent = before.rfind(" pid=");
  return parent != std::string_view::npos &&
         Payload(before.substr(parent)).get("pid=", event.parent) &&
         Payload(text.substr(child)).get("child_pid=", event.child);
}

bool parse(std::string_view text, ProcessExit& event) {
  const std::size_t pid = text.rfind(" pid=");
  return pid != std::string_view::npos && Payload(text.substr(pid)).get("pid=", event.pid);
}

bool parse(std::string_view text, SwitchMmEvent& event) {
  return Payload(text).get("next=", event.next);
}

bool parse(std::string_view text, EnterLazyEvent& event) {
  return Payload(text).get("mm=", event.mm);
}

bool parse(std::string_view text, FlushRangeEvent& event) {
  Payload payload(text);
  u8 freed = 0;
  const bool read = payload.get("mm=", event.mm) && payload.get("start=", event.start) &&
                    payload.get("end=", event.end) &&
                    payload.get("stride=", event.stride_shift, kMaxStrideShift) &&
                    payload.get("freed=", freed);
  event.freed_tables = freed != 0;
  return read;
}

bool parse(std::string_view text, FlushMultiEvent& event) {
  Payload payload(text);
  u8 freed = 0;
  u8 trim = 0;
  u32 initiator = 0;
  const bool read = payload.get("mask=", event.mask) && payload.get("mm=", event.mm) &&
                    payload.get("start=", event.start) && payload.get("end=", event.end) &&
                    payload.get("gen=", event.new_tlb_gen) && payload.get("icpu=", initiator) &&
                    payload.get("stride=", event.stride_shift, kMaxStrideShift) &&
                    payload.get("freed=", freed) && payload.get("trim=", trim);
  event.freed_tables = freed != 0;
  event.trim_cpumask = trim != 0;
  return read;
}

template <class Event>
bool parse_as(std::string_view text, TraceAction& action) {
  return parse(text, action.emplace<Event>());
}

}  // namespace

bool parse_ftrace_payload(std::string_view name, std::string_view payload, TraceAction& action) {
  if (name == "sched_switch") return parse_as<SchedSwitch>(payload, action);
  if (name == "swmm") return parse_as<SwitchMmEvent>(payload, action);
  if (name == "lazy") return parse_as<EnterLazyEvent>(payload, action);
  if (name == "fmr") return parse_as<FlushRangeEvent>(payload, action);
  if (name == "ntm") return parse_as<FlushMultiEvent>(payload, action);
  if (name == "tlb_flush") {
    action.emplace<TlbFlushEvent>();
    return true;
  }
  if (name == "sched_process_fork") return parse_as<ProcessFork>(payload, action);
  if (name == "sched_process_exit") return parse_as<ProcessExit>(payload, action);
  action.emplace<OtherEvent>();
  return true;
}

}  // namespace hvtlb

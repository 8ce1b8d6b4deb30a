#include "trace/event.h"

namespace hvtlb {

std::string_view trace_action_name(u32 index) {
  static constexpr std::string_view kNames[kNrTraceActions] = {"other",
                                                               "sched_switch",
                                                               "sched_process_fork",
                                                               "sched_process_exit",
                                                               "swmm",
                                                               "lazy",
                                                               "fmr",
                                                               "ntm",
                                                               "tlb_flush",
                                                               "lost"};
  return kNames[index];
}

}  // namespace hvtlb

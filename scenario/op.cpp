#include "scenario/op.h"

namespace hvtlb {

std::string_view name_of(OpKind kind) {
  static constexpr std::string_view kNames[kNrOpKinds] = {"switch_mm",
                                                          "enter_lazy",
                                                          "leave_mm",
                                                          "use_temporary_mm",
                                                          "unuse_temporary_mm",
                                                          "flush_mm_range",
                                                          "batch_add",
                                                          "batch_flush",
                                                          "flush_batched_pending",
                                                          "nested_reclaim",
                                                          "use_global_asid",
                                                          "enable_lam",
                                                          "tick",
                                                          "offline",
                                                          "online",
                                                          "touch",
                                                          "new_mm",
                                                          "drop_mm"};
  return kNames[static_cast<unsigned>(kind)];
}

std::string_view message_of(OpError error) {
  switch (error) {
    case OpError::kNone: return "";
    case OpError::kNoSuchCpu: return "no such CPU";
    case OpError::kCpuOffline: return "the CPU is offline";
    case OpError::kCpuOnline: return "the CPU is online already";
    case OpError::kCpuNotPresent: return "the CPU is not present";
    case OpError::kNoSuchMm: return "no such mm";
    case OpError::kMmDropped: return "the mm has lost its last user";
    case OpError::kNotForInitMm: return "init_mm cannot be used here";
    case OpError::kTooManyMms: return "too many mms are alive (limit 8192)";
    case OpError::kInsideTemporaryMm: return "the CPU is inside a temporary mm, interrupts off";
    case OpError::kNotInsideTemporaryMm: return "the CPU is not inside a temporary mm";
    case OpError::kIpiInsideTemporaryMm:
      return "the flush waits for a CPU inside a temporary mm, interrupts off";
    case OpError::kTooManyPending: return "too many unflushed pages in the batch (limit 65536)";
    case OpError::kNoLam: return "the machine has no LAM";
    case OpError::kNoGlobalAsids: return "the era or the machine (invlpgb) has no global ASIDs";
    case OpError::kRunsNoUser: return "the CPU runs no task of an mm";
    case OpError::kStride: return "stride_shift must be at most 63";
  }
  return "";
}

}  // namespace hvtlb

// `hvtlb step`: drive the model operation by operation.
#pragma once

#include <memory>

#include "cli/json_lines.h"
#include "scenario/machine.h"

namespace hvtlb::cli {

/// One script: the first line describes the machine, every further line is an operation.
class StepScript {
 public:
  StepScript();
  ~StepScript();

  /// Answers one line. Throws `LineError`.
  Json answer(const Json& line);

 private:
  class Events;

  Json make_machine(const Json& line);
  Json state() const;

  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Events> events_;
  u32 nr_mms_ = 0;
};

}  // namespace hvtlb::cli

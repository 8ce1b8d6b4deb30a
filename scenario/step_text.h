// One step as a line of text: `mprotect A 1 page on 3`.
#pragma once

#include "scenario/scenario.h"

namespace hvtlb {

/// Thrown inside scenario/ only; `read_scenario` turns it into a `ScenarioError`.
struct StepTextError {
  Mark at;
  std::string what;
};

/// Parses one simple step that begins at `at`.
Step parse_step(std::string_view text, Mark at);

/// Parses the head of a loop: `each cpu`, `each cpu but 0`, `each cpu of 1-3`, `repeat 10`,
/// `measure 10`.
Step parse_loop_head(std::string_view text, Mark at);

/// Parses `3`, `0-7` or `1,3-5`.
std::vector<std::pair<Cpu, Cpu>> parse_cpu_list(std::string_view text, Mark at);

/// Parses a decimal or `0x` number of at most `most`; `what` names it in the message.
u64 parse_count(std::string_view text, Mark at, u64 most, std::string_view what);

/// A step's text, or a loop's head, as the parser reads it.
std::string step_text(const Step& step);

}  // namespace hvtlb

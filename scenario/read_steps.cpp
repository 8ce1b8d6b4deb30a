// The steps of a scenario.
#include <algorithm>

#include "scenario/read_parts.h"

namespace hvtlb {
namespace {

/// Reads steps and keeps count of them: a file with aliases can name far more than it holds.
class StepReader {
 public:
  StepReader(const Scenario& scenario, const Source& source)
      : scenario_(scenario), source_(source) {}

  std::vector<Step> read(const YAML::Node& node, u32 depth) {
    std::vector<Step> steps;
    if (depth > kMaxScenarioDepth)
      refuse(node, fmt::format("loops at most {} deep", kMaxScenarioDepth));
    if (node.IsScalar()) {
      read_line(node, steps);
    } else if (node.IsSequence()) {
      for (const YAML::Node& each : node) read_one(each, depth, steps);
    } else {
      read_one(node, depth, steps);
    }
    return steps;
  }

 private:
  void read_one(const YAML::Node& node, u32 depth, std::vector<Step>& steps) {
    if (node.IsScalar()) return read_line(node, steps);
    if (!node.IsMap()) refuse(node, "a step or a loop");
    for_each_key(node, "a loop",
                 [&](const std::string&, const YAML::Node& at, const YAML::Node& value) {
                   count(at);
                   Step loop = source_.parse(at, parse_loop_head);
                   for (const auto& [first, last] : loop.cpus.ranges) check_cpu(last, mark_of(at));
                   loop.body = read(value, depth + 1);
                   steps.push_back(std::move(loop));
                 });
  }

  /// `run A, then idle`: several steps in one line.
  void read_line(const YAML::Node& node, std::vector<Step>& steps) {
    static constexpr std::string_view kThen = ", then ";
    const bool exact = source_.begin_of(node).has_value();
    source_.parse(node, [&](std::string_view text, Mark at) {
      for (std::size_t next = 0;;) {
        count(node);
        const std::size_t end = std::min(text.find(kThen, next), text.size());
        const Mark here{at.line, at.column + static_cast<u32>(next)};
        Step step = parse_step(text.substr(next, end - next), here);
        if (step.cpu) check_cpu(*step.cpu, here);
        if (!exact) step.at = mark_of(node);  // for what is refused when it runs
        steps.push_back(std::move(step));
        if (end == text.size()) return;
        next = end + kThen.size();
      }
    });
  }

  void check_cpu(Cpu cpu, Mark at) const {
    if (cpu >= scenario_.machine.nr_cpus)
      throw StepTextError{
          at, fmt::format("found CPU {}, expected CPUs below {}", cpu, scenario_.machine.nr_cpus)};
  }

  void count(const YAML::Node& node) {
    if (++steps_ > kMaxScenarioSteps)
      refuse(node, fmt::format("at most {} steps", kMaxScenarioSteps));
  }

  const Scenario& scenario_;
  const Source& source_;
  u64 steps_ = 0;
};

/// How many operations a run comes to, at most; saturates. An iteration without any takes time,
/// too, and counts as one.
u64 operations(const std::vector<Step>& steps, u32 nr_cpus) {
  u64 sum = 0;
  for (const Step& step : steps) {
    u64 each = 3;  // a fork, an exec or an exit is that many
    if (!step.body.empty() || step.verb <= Verb::kMeasure) {
      const u64 times = step.verb == Verb::kEachCpu ? nr_cpus : step.count;
      // Every CPU is looked up in the loop's list, which may be longer than the body.
      const u64 least = std::max<u64>(step.cpus.ranges.size(), 1);
      const u64 body = std::max(operations(step.body, nr_cpus), least);
      each = times > kMaxOperations / body ? kMaxOperations + 1 : std::max(times * body, u64{1});
    }
    sum = std::min(sum + each, kMaxOperations + 1);
  }
  return sum;
}

}  // namespace

std::vector<Step> read_steps(const YAML::Node& node, const Scenario& scenario,
                             const Source& source) {
  std::vector<Step> steps = StepReader(scenario, source).read(node, 1);
  if (operations(steps, scenario.machine.nr_cpus) > kMaxOperations)
    throw StepTextError{mark_of(node), fmt::format("found more than {0} operations in all, "
                                                   "expected at most {0}",
                                                   kMaxOperations)};
  return steps;
}

}  // namespace hvtlb

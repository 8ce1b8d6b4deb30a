// The counterexample that is easiest to read: found by a search of its own, best schedule first.
#include <algorithm>
#include <bit>
#include <queue>

#include "explore/search.h"
#include "explore/visited.h"

namespace hvtlb::explore {
namespace {

/// A state as the schedule that leads to it.
struct Node {
  u32 before;  ///< an index into the nodes
  Action action;
  u32 changes;  ///< of CPU
  u32 actions;
};

struct Later {
  const std::vector<Node>& nodes;
  bool operator()(u32 a, u32 b) const {
    const Node& x = nodes[a];
    const Node& y = nodes[b];
    return std::tie(x.changes, x.actions, a) > std::tie(y.changes, y.actions, b);
  }
};

std::vector<Action> schedule_of(const std::vector<Node>& nodes, u32 at) {
  std::vector<Action> schedule;
  for (; at != 0; at = nodes[at].before) schedule.push_back(nodes[at].action);
  std::reverse(schedule.begin(), schedule.end());
  return schedule;
}

/// A state differs by the CPU that has the floor, too: to go on with it costs no change.
StateHash with_floor(StateHash hash, Cpu cpu) {
  hash.high ^= (cpu + 1) * 0x9e3779b97f4a7c15;
  return hash;
}

}  // namespace

std::optional<Verdict> shortest(System& system, MemoryModel model, u64 most_states) {
  constexpr Cpu kNobody = kMaxExploredCpus;
  Engine engine(system, model);
  std::vector<Node> nodes{{0, Action(), 0, 0}};
  std::priority_queue<u32, std::vector<u32>, Later> queue(Later{nodes});
  queue.push(0);
  Visited visited;
  Verdict verdict;
  while (!queue.empty() && visited.size() < most_states) {
    const u32 at = queue.top();
    queue.pop();
    const Node node = nodes[at];
    const std::vector<Action> schedule = schedule_of(nodes, at);
    engine.replay(schedule);
    ++verdict.statistics.executions;
    if (auto violation = system.check(engine.settled())) {
      verdict.end = End::kViolation;
      verdict.violation = std::move(violation);
      verdict.schedule = schedule;
      verdict.statistics.states = visited.size();
      return verdict;
    }
    const Cpu floor = at == 0 ? kNobody : node.action.cpu();
    if (!visited.insert(with_floor(engine.hash(), floor))) continue;
    for (u64 actions = engine.enabled(); actions != 0; actions &= actions - 1) {
      const Action action(static_cast<u8>(std::countr_zero(actions)));
      const bool change = floor != kNobody && action.cpu() != floor;
      nodes.push_back({at, action, node.changes + change, node.actions + 1});
      queue.push(static_cast<u32>(nodes.size() - 1));
    }
  }
  return std::nullopt;
}

}  // namespace hvtlb::explore

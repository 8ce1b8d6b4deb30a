#include "explore/frontier.h"

#include <algorithm>
#include <bit>

#include "explore/visited.h"

namespace hvtlb::explore {

Frontier frontier(System& system, const Options& options, std::size_t least) {
  Engine engine(system, options.model);
  Visited visited;
  Frontier result;
  Statistics& seen = result.before.statistics;
  std::vector<std::vector<Action>>& prefixes = result.prefixes;
  /// Takes up the state that the schedule leads to. False when a property does not hold there.
  const auto reached = [&](std::vector<Action> schedule, std::vector<std::vector<Action>>& level) {
    engine.replay(schedule);
    ++seen.executions;
    if (auto violation = system.check(engine.settled())) {
      result.before.end = End::kViolation;
      result.before.violation = std::move(violation);
      result.before.schedule = std::move(schedule);
      return false;
    }
    seen.depth = std::max<u64>(seen.depth, schedule.size());
    if (visited.insert(engine.hash()))
      level.push_back(std::move(schedule));
    else
      ++seen.revisits;
    return true;
  };
  system.take_measured();
  if (!reached({}, prefixes)) return result;
  while (!prefixes.empty() && prefixes.size() < least) {
    std::vector<std::vector<Action>> next;
    for (const std::vector<Action>& prefix : prefixes) {
      engine.replay(prefix);
      u64 actions = engine.enabled();
      if (actions == 0) {
        if (!engine.finished()) {
          result.before.end = End::kStuck;
          result.before.schedule = prefix;
          return result;
        }
        ++seen.final_states;
        if (options.at_end) options.at_end();
      }
      for (; actions != 0; actions &= actions - 1) {
        const Action action(static_cast<u8>(std::countr_zero(actions)));
        if (action.kind() == Action::Kind::kRun)
          result.before.steps.add(engine.next_step(action.cpu()).site);
        std::vector<Action> schedule = prefix;
        schedule.push_back(action);
        ++seen.transitions;
        if (!reached(std::move(schedule), next)) return result;
        if ((actions & (actions - 1)) != 0) engine.replay(prefix);
      }
      ++seen.states;
    }
    prefixes = std::move(next);
  }
  result.before.measured = system.take_measured();
  return result;
}

std::vector<std::vector<Action>> prefixes_of(const Frontier& frontier, const Shard& shard) {
  std::vector<std::vector<Action>> own;
  for (std::size_t at = shard.index - 1; at < frontier.prefixes.size(); at += shard.of)
    own.push_back(frontier.prefixes[at]);
  return own;
}

ShardVerdict explore_shard(System& system, const Options& options, const Shard& shard) {
  Frontier all = frontier(system, options, std::size_t{kPrefixesAShard} * shard.of);
  if (all.before.end != End::kExhausted) return {std::move(all.before), 0, 0};
  const std::vector<std::vector<Action>> own = prefixes_of(all, shard);
  ShardVerdict result{explore_from(system, options, own), own.size(), all.prefixes.size()};
  result.verdict.steps.add(all.before.steps);
  result.verdict.measured.raise(all.before.measured);
  if (shard.index != 1) return result;
  Statistics& seen = result.verdict.statistics;
  const Statistics& before = all.before.statistics;
  seen.states += before.states;
  seen.revisits += before.revisits;
  seen.executions += before.executions;
  seen.transitions += before.transitions;
  seen.final_states += before.final_states;
  seen.depth = std::max(seen.depth, before.depth);
  return result;
}

}  // namespace hvtlb::explore

#include "scenario/from_ops.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace hvtlb {
namespace {

std::optional<Verb> verb_of(OpKind kind) {
  switch (kind) {
    case OpKind::kSwitchMm: return Verb::kRun;
    case OpKind::kEnterLazy: return Verb::kIdle;
    case OpKind::kLeaveMm: return Verb::kLeaveMm;
    case OpKind::kUseTemporaryMm: return Verb::kUseTemporaryMm;
    case OpKind::kUnuseTemporaryMm: return Verb::kUnuseTemporaryMm;
    case OpKind::kFlushMmRange: return Verb::kFlush;
    case OpKind::kBatchAdd: return Verb::kBatchAdd;
    case OpKind::kBatchFlush: return Verb::kBatchFlush;
    case OpKind::kFlushBatchedPending: return Verb::kFlushBatchedPending;
    case OpKind::kNestedReclaim: return Verb::kNestedReclaim;
    case OpKind::kUseGlobalAsid: return Verb::kUseGlobalAsid;
    case OpKind::kEnableLam: return Verb::kEnableLam;
    case OpKind::kTick: return Verb::kTick;
    case OpKind::kOffline: return Verb::kOffline;
    case OpKind::kOnline: return Verb::kOnline;
    case OpKind::kTouch: return Verb::kTouch;
    case OpKind::kNewMm: return Verb::kNewMm;
    case OpKind::kDropMm: return Verb::kDropMm;
  }
  return std::nullopt;
}

bool names_process(OpKind kind) {
  return kind == OpKind::kSwitchMm || kind == OpKind::kUseTemporaryMm ||
         kind == OpKind::kFlushMmRange || kind == OpKind::kBatchAdd ||
         kind == OpKind::kFlushBatchedPending || kind == OpKind::kUseGlobalAsid ||
         kind == OpKind::kNewMm || kind == OpKind::kDropMm;
}

bool names_cpu(OpKind kind) {
  return kind != OpKind::kTick && kind != OpKind::kBatchAdd && kind != OpKind::kNestedReclaim &&
         kind != OpKind::kNewMm && kind != OpKind::kDropMm;
}

Step step_of(const Op& op) {
  Step step;
  step.verb = *verb_of(op.kind);
  if (names_process(op.kind)) step.process = fmt::format("P{}", op.mm);
  if (names_cpu(op.kind)) step.cpu = op.cpu;
  if (op.kind == OpKind::kTick) step.count = op.jiffies;
  if (op.kind == OpKind::kBatchAdd) step.va = op.start;
  if (op.kind == OpKind::kFlushMmRange) {
    step.start = op.start;
    step.end = op.end;
    step.stride_shift = op.stride_shift;
    step.freed_tables = op.freed_tables;
  }
  return step;
}

}  // namespace

Scenario scenario_of(const OpsRun& run, std::string era, std::vector<std::string> set,
                     std::string name) {
  Scenario scenario;
  scenario.name = std::move(name);
  scenario.machine = run.shape;
  scenario.vp.kind = VpNumbering::Kind::kList;
  scenario.vp.list = run.shape.vp_index;
  scenario.host = run.host;
  scenario.era = std::move(era);
  scenario.set = std::move(set);
  for (u32 process = 1; process <= run.nr_processes; ++process)
    scenario.processes.push_back({fmt::format("P{}", process), run.shape.nr_cpus});
  std::vector<MmId> runs(run.shape.nr_cpus, kInitMm);
  for (const Op& op : run.ops) {
    Step step = step_of(op);
    switch (op.kind) {
      case OpKind::kSwitchMm: runs[op.cpu] = op.mm; break;
      case OpKind::kEnterLazy:
      case OpKind::kLeaveMm:
      case OpKind::kOffline: runs[op.cpu] = kInitMm; break;
      case OpKind::kDropMm: std::replace(runs.begin(), runs.end(), op.mm, kInitMm); break;
      case OpKind::kTouch:
        if (runs[op.cpu] == kInitMm) continue;
        step.process = fmt::format("P{}", runs[op.cpu]);
        break;
      default: break;
    }
    scenario.steps.push_back(std::move(step));
  }
  return scenario;
}

}  // namespace hvtlb

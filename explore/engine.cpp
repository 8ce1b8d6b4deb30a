#include "explore/engine.h"

#include <bit>
#include <cassert>
#include <xxhash.h>

namespace hvtlb::explore {
namespace {

u64 mixed(u64 history, u64 value) {
  history = (history ^ value) * 0x9e3779b97f4a7c15;
  return history ^ history >> 29;
}

/// Where a routine stands. What a call names is not a place.
u64 place_of(const CpuStep& next, int line_before) {
  u64 place = mixed(static_cast<u64>(line_before), reinterpret_cast<u64>(next.site.routine));
  place = mixed(place, static_cast<u64>(next.site.line) << 8 | static_cast<u64>(next.kind));
  place = mixed(place, reinterpret_cast<u64>(next.word));
  return next.kind == StepKind::kHypercall ? place : mixed(place, next.value);
}

template <class Visit>
void for_each_member(u32 cpus, Visit visit) {
  for (; cpus != 0; cpus &= cpus - 1) visit(static_cast<Cpu>(std::countr_zero(cpus)));
}

/// A stack costs more to make than a schedule to run: fibers without a routine wait here for the
/// next engine.
std::vector<std::unique_ptr<Fiber>>& spare_fibers() {
  thread_local std::vector<std::unique_ptr<Fiber>> spare;
  return spare;
}

std::unique_ptr<Fiber> take_fiber() {
  auto& spare = spare_fibers();
  if (spare.empty()) return std::make_unique<Fiber>();
  std::unique_ptr<Fiber> fiber = std::move(spare.back());
  spare.pop_back();
  return fiber;
}

}  // namespace

Engine::Engine(System& system, MemoryModel model, Merging merging)
    : system_(system),
      merging_(merging),
      symmetry_(merging.symmetry ? system.symmetry() : nullptr),
      memory_(model, system.nr_cpus()),
      nr_cpus_(system.nr_cpus()) {
  assert(nr_cpus_ >= 1 && nr_cpus_ <= kMaxExploredCpus);
  system_.attach(*this);
  for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu)
    for (auto& fiber : cpus_[cpu].fibers) fiber = take_fiber();
  reset();
}

Engine::~Engine() {
  leave();
  for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu)
    for (auto& fiber : cpus_[cpu].fibers) spare_fibers().push_back(std::move(fiber));
}

void Engine::reset() {
  leave();
  memory_.clear();
  system_.reset();
  for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu) {
    CpuState& state = cpus_[cpu];
    state.history[0] = state.history[1] = {};
    state.handling = state.ended = state.returns_early = false;
    state.line_before = 0;
    state.outcome = state.irqs_off = state.ipis_from = state.unanswered = state.effects =
        state.handles_for = 0;
    state.fibers[0]->start([this, cpu] {
      system_.run(cpu);
      cpus_[cpu].ended = true;
    });
  }
  for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu) resume(cpu);  // to the first step
}

/// Routines cannot be dropped in their middle (they own memory): each runs to its end, unseen.
void Engine::leave() {
  leaving_ = true;
  for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu)
    while (!memory_.empty(cpu)) memory_.drain(cpu);
  for (const u32 which : {1u, 0u})  // a handler reads what its sender's routine holds
    for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu)
      while (!cpus_[cpu].fibers[which]->idle()) cpus_[cpu].fibers[which]->resume();
  leaving_ = false;
}

bool Engine::can_run(Cpu cpu) const {
  const CpuState& state = cpus_[cpu];
  if (state.ended && !state.handling) return false;
  const StepKind kind = next_step(cpu).kind;
  if (needs_empty_buffer(kind)) return memory_.empty(cpu);
  if (kind == StepKind::kStore) return memory_.buffer(cpu).size() < system_.most_buffered();
  if (kind == StepKind::kAwaitIpis) return state.unanswered == 0;
  if (kind == StepKind::kWaitWhile)
    return memory_.load(cpu, *next_step(cpu).word) != next_step(cpu).expected;
  if (kind == StepKind::kStopMachine) return memory_.empty(cpu) && others_rest(cpu);
  if (kind == StepKind::kTlbsync) return state.effects == 0;
  if (kind == StepKind::kAwaitHost) return state.effects == 0 || state.returns_early;
  return true;
}

bool Engine::others_rest(Cpu cpu) const {
  for (Cpu other = 0; other < nr_cpus_; ++other) {
    const CpuState& state = cpus_[other];
    if (other == cpu) continue;
    if (!state.between_operations || state.handling || state.irqs_off != 0 ||
        state.ipis_from != 0 || !memory_.empty(other))
      return false;
  }
  return true;
}

u64 Engine::enabled() const {
  u64 actions = 0;
  for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu) {
    const CpuState& state = cpus_[cpu];
    if (can_run(cpu))
      for (u32 outcome = 0; outcome < next_step(cpu).outcomes; ++outcome)
        actions |= Action::run(cpu, outcome).bit();
    if (!memory_.empty(cpu))
      actions |= Action::drain(cpu).bit();
    else if (state.irqs_off == 0)
      for_each_member(state.ipis_from | system_.foreign_ipis(cpu),
                      [&](Cpu from) { actions |= Action::deliver(cpu, from).bit(); });
    for_each_member(state.effects, [&](Cpu on) { actions |= Action::effect(on, cpu).bit(); });
  }
  return actions;
}

void Engine::perform(Action action) {
  assert((enabled() & action.bit()) != 0);
  const Cpu cpu = action.cpu();
  switch (action.kind()) {
    case Action::Kind::kRun: {
      cpus_[cpu].outcome = action.other();
      begin_step(cpu, next_step(cpu));
      resume(cpu);
      break;
    }
    case Action::Kind::kDrain: {
      const BufferedStore store = memory_.drain(cpu);
      if (store.note != 0) system_.arrived(cpu, store.note);
      break;
    }
    case Action::Kind::kDeliver: begin_handler(cpu, action.other()); break;
    case Action::Kind::kEffect:
      cpus_[action.other()].effects &= ~(1u << cpu);
      system_.host_effect(cpu, action.other());
      break;
  }
}

void Engine::begin_step(Cpu cpu, const CpuStep& step) {
  note(cpu, static_cast<u64>(step.site.line));
  if (cpus_[cpu].handling) return;
  cpus_[cpu].between_operations = false;
  if (step.site.line != 0) cpus_[cpu].line_before = step.site.line;
}

void Engine::replay(std::span<const Action> schedule) {
  reset();
  script_ = schedule;
  while (!script_.empty()) {
    const Action action = script_.front();
    script_ = script_.subspan(1);
    perform(action);
  }
}

void Engine::resume(Cpu cpu) {
  Fiber& fiber = *cpus_[cpu].fibers[cpus_[cpu].handling];
  fiber.resume();
  if (cpus_[cpu].handling && fiber.idle()) end_handler(cpu);
}

void Engine::begin_handler(Cpu cpu, Cpu sender) {
  CpuState& state = cpus_[cpu];
  state.ipis_from &= ~(1u << sender);
  state.handles_for = sender;
  state.handling = true;
  state.history[1] = {};
  ++state.irqs_off;
  state.fibers[1]->start([this, cpu, sender] {
    if (sender == cpu || sender >= nr_cpus_)
      system_.handle_foreign(cpu, sender);
    else
      cpus_[sender].handler(cpu);
    take(cpu, {.kind = StepKind::kEndHandler, .site = {"flush_tlb_func", 0}});
  });
  resume(cpu);  // to its first step
}

void Engine::end_handler(Cpu cpu) {
  CpuState& state = cpus_[cpu];
  state.handling = false;
  --state.irqs_off;
  cpus_[state.handles_for].unanswered &= ~(1u << cpu);
  state.handles_for = 0;
}

bool Engine::finished() const {
  for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu)
    if (runnable(cpu) || !memory_.empty(cpu)) return false;
  return true;
}

u32 Engine::settled() const {
  u32 cpus = 0;
  for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu) cpus |= u32{memory_.empty(cpu)} << cpu;
  return cpus;
}

CanonicalState Engine::canonical() const {
  CanonicalState best{hash_in({}, true), {}};
  if (symmetry_ == nullptr || symmetry_->orders().empty() || !symmetry_->holds_from_here())
    return best;
  for (const CpuOrder& order : symmetry_->orders())
    if (const StateHash hash = hash_in(order, true); hash < best.hash) best = {hash, order};
  return best;
}

StateHash Engine::hash_in(const CpuOrder& order, bool merged) const {
  state_.clear();
  for (const Cpu cpu : order.all().first(nr_cpus_)) {
    const CpuState& state = cpus_[cpu];
    const std::optional<u64> known = merged ? system_.knowledge_of(cpu) : std::nullopt;
    state_.push_back(known ? *known : state.history[0].of(merged));
    if (state.handling) state_.push_back(state.history[1].of(merged));
    if (system_.reads_unnoted()) {
      const int before = state.next[0].site.line == 0 ? state.line_before : 0;
      if (!state.ended) state_.push_back(place_of(state.next[0], before));
      if (state.handling) state_.push_back(place_of(state.next[1], 0));
    }
    const Cpu handles_for = state.handling ? order.name_of(state.handles_for) : 0;
    state_.push_back(u64{state.handling} | u64{state.ended} << 1 | u64{handles_for} << 2 |
                     u64{state.irqs_off} << 8 | order.names_of(state.ipis_from) << 16 |
                     order.names_of(state.unanswered) << 24 | order.names_of(state.effects) << 32 |
                     u64{memory_.buffer(cpu).size()} << 40);
    for (const BufferedStore& store : memory_.buffer(cpu)) {
      const u64* word = store.word;
      u64 value = store.value;
      if (symmetry_ != nullptr) {
        value = symmetry_->renamed(order, word, value);
        word = symmetry_->renamed(order, word);
      }
      state_.push_back(reinterpret_cast<u64>(word) ^ u64{store.note} << 48);
      state_.push_back(value);
    }
  }
  if (symmetry_ != nullptr)
    symmetry_->append_state_in(order, state_);
  else
    system_.append_state(state_);
  const XXH128_hash_t hash = XXH3_128bits(state_.data(), state_.size() * sizeof(u64));
  return {hash.low64, hash.high64};
}

/// Stops until this step is chosen, unless it is what the script says anyway.
void Engine::take(Cpu cpu, const CpuStep& step) {
  if (leaving_) return;
  CpuState& state = cpus_[cpu];
  state.next[state.handling] = step;
  if (!script_.empty() && script_.front().kind() == Action::Kind::kRun &&
      script_.front().cpu() == cpu) {
    assert(can_run(cpu));
    state.outcome = script_.front().other();
    script_ = script_.subspan(1);
    begin_step(cpu, step);
    return;
  }
  state.fibers[state.handling]->pause();
}

u64 Engine::load(Cpu cpu, const u64& word, Site site) {
  take(cpu, {.kind = StepKind::kLoad, .word = &word, .site = site});
  const u64 value = memory_.load(cpu, word);
  note(cpu, value);
  return value;
}

u32 Engine::choose(Cpu cpu, const CpuStep& step) {
  assert(step.outcomes >= 1 && step.outcomes <= kMaxOutcomes);
  take(cpu, step);
  return leaving_ ? 0 : cpus_[cpu].outcome;
}

void Engine::note(Cpu cpu, u64 value) {
  History& history = cpus_[cpu].history[cpus_[cpu].handling];
  history.counts = mixed(history.counts, value);
  history.all = mixed(history.all, value);
}

void Engine::knows_since(Cpu cpu, u64 before, u64 here, u64 value) {
  note(cpu, here);
  note(cpu, value);
  if (merging_.forgets)
    cpus_[cpu].history[cpus_[cpu].handling].counts = mixed(mixed(before, here), value);
}

void Engine::store(Cpu cpu, u64& word, u64 value, Site site, u32 note) {
  take(cpu, {.kind = StepKind::kStore, .word = &word, .value = value, .site = site});
  if (leaving_)
    word = value;
  else if (memory_.store(cpu, word, value, note) && note != 0)
    system_.arrived(cpu, note);
}

u64 Engine::locked(Cpu cpu, u64& word, RmwOp op, u64 value, Site site) {
  take(cpu, {.kind = StepKind::kLocked, .word = &word, .value = value, .op = op, .site = site});
  const u64 before = SharedMemory::locked(word, op, value);
  note(cpu, before);
  return before;
}

u64 Engine::cmpxchg(Cpu cpu, u64& word, u64 expected, u64 value, Site site) {
  take(cpu, {.kind = StepKind::kCmpXchg,
             .word = &word,
             .value = value,
             .expected = expected,
             .site = site});
  const u64 before = word;
  if (before == expected) word = value;
  note(cpu, before);
  return before;
}

u64 Engine::wait_while(Cpu cpu, const u64& word, u64 value, Site site) {
  take(cpu, {.kind = StepKind::kWaitWhile, .word = &word, .expected = value, .site = site});
  const u64 read = memory_.load(cpu, word);
  note(cpu, read);
  return read;
}

void Engine::step(Cpu cpu, StepKind kind, Site site, u64 value) {
  take(cpu, {.kind = kind, .value = value, .site = site});
}

void Engine::irqs_off(Cpu cpu, Site site) {
  step(cpu, StepKind::kIrqsOff, site);
  ++cpus_[cpu].irqs_off;
}

void Engine::irqs_on(Cpu cpu, Site site) {
  step(cpu, StepKind::kIrqsOn, site);
  --cpus_[cpu].irqs_off;
}

void Engine::send_ipis(Cpu self, u32 targets, const std::function<void(Cpu)>& handler, Site site) {
  const u32 remote = targets & ~(1u << self);
  if (remote == 0) return;
  step(self, StepKind::kSendIpis, site, remote);
  if (leaving_) return;
  cpus_[self].handler = handler;
  cpus_[self].unanswered = remote & explored();
  for_each_member(remote & explored(), [&](Cpu cpu) { cpus_[cpu].ipis_from |= 1u << self; });
}

void Engine::await_ipis(Cpu self, u32 targets, const std::function<void(Cpu)>& handler, Site site) {
  if ((targets >> self & 1) != 0) {
    irqs_off(self, site);
    handler(self);
    irqs_on(self, site);
  }
  const u32 remote = targets & ~(1u << self);
  if (remote != 0) step(self, StepKind::kAwaitIpis, site, remote);
}

void Engine::await_host(Cpu caller, u32 targets, bool early, Site site) {
  if (leaving_) return;
  begin_effects(caller, targets);
  cpus_[caller].returns_early = early;
  step(caller, StepKind::kAwaitHost, site, targets);
}

void Engine::begin_effects(Cpu caller, u32 targets) {
  if (!leaving_) cpus_[caller].effects |= targets & explored();
}

void Engine::forget(Cpu cpu, u64 value) {
  cpus_[cpu].between_operations = true;
  cpus_[cpu].history[cpus_[cpu].handling] = {};
  note(cpu, value);
}

}  // namespace hvtlb::explore

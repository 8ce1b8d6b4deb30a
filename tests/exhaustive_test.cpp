// Hyper-V's builder in every era, over all states of up to 4 CPUs (membership, loaded mm, lazy,
// present) and every kind of request, against the specification's words as plain set algebra. The
// table of eras, the sets and the reading of the bytes are written here a second time.
#include <gtest/gtest.h>

#include "flush/decision.h"
#include "model/eras.h"

namespace hvtlb {
namespace {

using Set = unsigned;  // bit n = CPU n

enum class Names { kWhole, kNotLazy, kFiltered };

struct EraFacts {
  std::string_view name;
  bool wants_loaded, or_switching, transitions;
  Names names;
};

constexpr EraFacts kFacts[] = {
    {"v6.1", false, false, false, Names::kWhole},
    {"v6.4", false, false, false, Names::kNotLazy},
    {"v6.1.129", true, false, false, Names::kWhole},
    {"v6.12.29", true, true, false, Names::kNotLazy},
    {"v6.12.117", true, true, false, Names::kNotLazy},
    {"v6.1.192", true, true, false, Names::kWhole},
    {"v6.14", true, false, false, Names::kNotLazy},
    {"v6.14.7", true, true, false, Names::kNotLazy},
    {"v6.15", true, true, true, Names::kNotLazy},
    {"v6.17.5", true, true, true, Names::kNotLazy},
    {"filtered", true, true, true, Names::kFiltered},
};

struct State {
  unsigned nr_cpus;
  Set members, lazy, present, runs_it, switching;
};

struct Request {
  bool freed, has_mm, trim, transition, everything;
  Cpu self;
};

struct Want {
  enum How { kNone, kCall, kNative } how = kNone;
  Set cpus = 0;
  bool all = false, ex = false, trim = false;
};

/// The VPs of the four CPUs: all low, or about the borders of the banks.
constexpr u32 kNumberings[2][4] = {{0, 1, 2, 3}, {63, 0, 64, 191}};

Set by_predicate(const EraFacts& era, const State& s, const Request& r, bool trim) {
  const Set busy = s.members & ~s.lazy;
  if (!era.wants_loaded || !r.has_mm || trim) return busy;
  return busy & (s.runs_it | (era.or_switching ? s.switching : 0));
}

Want native(const EraFacts& era, const State& s, const Request& r, bool trim) {
  Want want{Want::kNative};
  const bool all_members = r.freed || (era.transitions && r.has_mm && r.transition);
  want.cpus = all_members ? s.members : by_predicate(era, s, r, trim);
  want.trim = trim;
  return want;
}

bool any_high(Set cpus, const u32* vps) {
  for (Cpu cpu = 0; cpu < 4; ++cpu)
    if ((cpus >> cpu & 1) != 0 && vps[cpu] >= 64) return true;
  return false;
}

Set last_of(Set cpus) {
  Set last = 0;
  for (Cpu cpu = 0; cpu < 4; ++cpu)
    if ((cpus >> cpu & 1) != 0) last = 1u << cpu;
  return last;
}

Want reference(const EraFacts& era, const State& s, const Request& r, const u32* vps) {
  Want want;
  Set format_from = s.members;
  if (era.names == Names::kFiltered) {
    if (r.trim || (r.has_mm && r.transition)) return native(era, s, r, r.trim);
    if (r.freed && s.members == 0) return want;
    want.cpus = r.freed ? s.members : by_predicate(era, s, r, false);
    if (!r.freed && (want.cpus & ~(1u << r.self)) == 0) return native(era, s, r, r.has_mm);
    format_from = want.cpus;
  } else {
    const bool whole = r.freed || era.names == Names::kWhole;
    want.cpus = whole ? s.members : s.members & ~s.lazy;
  }
  want.how = Want::kCall;
  want.all = format_from == s.present;
  if (want.all) return want;
  want.ex = any_high(last_of(format_from), vps) || any_high(want.cpus, vps);
  if (want.cpus == 0 && !want.ex) want.how = Want::kNone;
  return want;
}

/// What the bytes say, read by hand.
std::string compare(const DecisionPolicy& out, const Want& want, const Request& r, u64 pgd,
                    const u32* vps) {
  if (out.irqs_off != 0) return "interrupts stay off";
  const auto how = out.native ? Want::kNative : out.called ? Want::kCall : Want::kNone;
  if (how != want.how) return "outcome";
  if (how == Want::kNative) {
    if (out.called) return "a hypercall was tried";
    if (out.native_trim != want.trim) return "trim";
    for (Cpu cpu = 0; cpu < 4; ++cpu)
      if (out.targets.test(cpu) != ((want.cpus >> cpu & 1) != 0)) return "IPIs";
    return "";
  }
  if (how == Want::kNone) return "";
  const u64 code = out.control & 0xffff;
  const u64 nr_banks = out.control >> 17 & 0x3ff;
  if (code != (r.everything ? 2u : 3u) + (want.ex ? 0x11u : 0u)) return "code";
  if (out.input[0] != (r.has_mm ? pgd : 0)) return "address space";
  const u64 flags = (want.all ? 1u : 0u) + (r.has_mm ? 0u : 2u) + (r.everything ? 4u : 0u);
  if (out.input[1] != flags) return "flags";
  u64 banks[4] = {};
  for (Cpu cpu = 0; cpu < 4 && !want.all; ++cpu)
    if ((want.cpus >> cpu & 1) != 0) banks[vps[cpu] / 64] |= u64{1} << (vps[cpu] % 64);
  if (want.ex) {
    const u64 used = banks[3] ? 4 : banks[2] ? 3 : banks[1] ? 2 : 1;
    if (out.input[2] != 0) return "format";
    if (nr_banks != used || out.input[3] != (u64{1} << used) - 1) return "bank count";
    for (u32 at = 0; at < used; ++at)
      if (out.input[4 + at] != banks[at]) return "banks";
  } else if (nr_banks != 0 || out.input[2] != banks[0]) {
    return "processor mask";
  }
  if ((out.control >> 32) != (r.everything ? 0u : 1u)) return "reps";
  const u64 list = want.ex ? 4 + nr_banks : 3;
  if (!r.everything && out.input[list] != 0x7000) return "list";
  return "";
}

class Exhaustive {
 public:
  explicit Exhaustive(unsigned nr_cpus) : nr_cpus_(nr_cpus) {
    for (unsigned at = 0; at < 2; ++at) {
      MachineShape shape;
      shape.nr_cpus = nr_cpus;
      shape.vp_index.assign(kNumberings[at], kNumberings[at] + nr_cpus);
      shape.hv_max_vp_index = 191;
      guests_.emplace_back(shape).new_mm();
      guests_.back().new_mm();
    }
  }

  /// Every CPU in one of 18 states; a CPU outside the mask has its other two drawn, since nobody
  /// looks at them. Only every `stride`-th state.
  u64 run(u64 stride) {
    u64 nr_states = 1;
    for (unsigned cpu = 0; cpu < nr_cpus_; ++cpu) nr_states *= 18;
    for (u64 at = 0; at < nr_states && nr_runs_ != kStop; at += stride) state(at);
    return nr_runs_;
  }

 private:
  static constexpr u64 kStop = ~u64{0};

  void state(u64 at) {
    draw_ = at * 0x9e3779b97f4a7c15 >> 20;
    State s{nr_cpus_, 0, 0, 0, 0, 0};
    Set other = 0;
    for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu, at /= 18) {
      const Set bit = 1u << cpu;
      u64 which = at % 18;
      if (which < 16)
        s.members |= bit;
      else
        which = (which & 1) << 3 | (draw_ >> (4 * cpu) & 7);
      if ((which & 8) != 0) s.present |= bit;
      if ((which & 4) != 0) s.lazy |= bit;
      if ((which & 3) == 0) s.runs_it |= bit;
      if ((which & 3) == 1) s.switching |= bit;
      if ((which & 3) == 2) other |= bit;
    }
    for (Guest& guest : guests_) {
      guest.mm(1).cpumask[0] = s.members;
      guest.cpu_present_mask[0] = s.present;
      for (Cpu cpu = 0; cpu < nr_cpus_; ++cpu) {
        const auto in = [&](Set set) { return (set >> cpu & 1) != 0; };
        guest.cpu_tlbstate_shared[cpu] = {in(s.runs_it)     ? 1
                                          : in(s.switching) ? kLoadedMmSwitching
                                          : in(other)       ? u64{2}
                                                            : 0,
                                          in(s.lazy) ? u64{1} : 0};
      }
    }
    for (std::size_t era = 0; era < std::size(kFacts); ++era)
      for (unsigned kind = 0; kind < 16; ++kind) requests(s, kFacts[era], eras()[era].rules, kind);
  }

  /// Who asks matters only to the fix: then every CPU does; otherwise one is drawn.
  void requests(const State& s, const EraFacts& facts, const Rules& rules, unsigned kind) {
    draw_ = draw_ * 6364136223846793005 + 1442695040888963407;
    Request r{(kind & 1) != 0, (kind & 2) != 0,        (kind & 4) != 0,
              (kind & 8) != 0, (draw_ >> 40 & 1) != 0, static_cast<Cpu>(draw_ >> 42) % nr_cpus_};
    const bool all = facts.names == Names::kFiltered;
    for (Cpu self = 0; self < nr_cpus_; ++self)
      if (all || self == r.self)
        one(s, facts, rules, {r.freed, r.has_mm, r.trim, r.transition, r.everything, self});
  }

  void one(const State& s, const EraFacts& facts, const Rules& rules, const Request& r) {
    if (nr_runs_ == kStop) return;
    const unsigned numbering = draw_ >> 50 & 1;
    Guest& guest = guests_[numbering];
    guest.invlpgb = true;
    guest.mm(1).asid_transition = r.transition ? 1 : 0;
    FlushTlbInfo info;
    info.mm = r.has_mm ? 1 : kInitMm;
    info.has_mm = r.has_mm;
    info.freed_tables = r.freed;
    info.trim_cpumask = r.trim;
    info.initiating_cpu = r.self;
    info.start = r.everything ? 0 : 0x7000;
    info.end = r.everything ? kTlbFlushAll : 0x8000;
    DecisionPolicy policy;
    Kernel<DecisionPolicy> k{guest, rules, policy};
    hyperv_flush_tlb_multi(k, r.self, guest.mm(1).cpumask, info);
    const u32* vps = kNumberings[numbering];
    const Want want = reference(facts, s, r, vps);
    const std::string wrong = compare(policy, want, r, guest.mm(1).pgd, vps);
    ++nr_runs_;
    if (wrong.empty()) return;
    ADD_FAILURE() << facts.name << ": " << wrong << "; members " << s.members << " lazy " << s.lazy
                  << " present " << s.present << " runs it " << s.runs_it << " switching "
                  << s.switching << "; CPU " << r.self << " freed " << r.freed << " mm " << r.has_mm
                  << " trim " << r.trim << " transition " << r.transition << " everything "
                  << r.everything << " numbering " << numbering;
    nr_runs_ = kStop;
  }

  unsigned nr_cpus_;
  std::vector<Guest> guests_;
  u64 draw_ = 0;
  u64 nr_runs_ = 0;
};

TEST(ExhaustiveBuilder, EraTableIsInStep) {
  ASSERT_EQ(eras().size(), std::size(kFacts));
  for (std::size_t at = 0; at < std::size(kFacts); ++at)
    EXPECT_EQ(eras()[at].name, kFacts[at].name);
}

TEST(ExhaustiveBuilder, OneToThreeCpus) {
  for (unsigned nr_cpus : {1u, 2u, 3u}) EXPECT_GT(Exhaustive(nr_cpus).run(1), 18u * 16u * 11u - 1);
}

TEST(ExhaustiveBuilder, FourCpus) {
#ifdef NDEBUG
  constexpr u64 kStride = 1;
#else
  constexpr u64 kStride = 7;  // with sanitizers and assertions: a sample
#endif
  EXPECT_GT(Exhaustive(4).run(kStride), 18u * 18u * 18u * 18u * 16u * 14u / kStride - 16u * 14u);
}

}  // namespace
}  // namespace hvtlb

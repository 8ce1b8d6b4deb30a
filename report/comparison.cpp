#include "report/comparison.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

#include "flush/wire.h"

namespace hvtlb {
namespace {

bool same_calls(const FlushRecord& a, const FlushRecord& b) {
  return std::equal(a.hypercalls.begin(), a.hypercalls.end(), b.hypercalls.begin(),
                    b.hypercalls.end(), [](const HypercallRecord& x, const HypercallRecord& y) {
                      return x.control == y.control && x.result == y.result;
                    });
}

bool same_row(const FlushRow& row, const ScenarioFlush& flush) {
  const FlushRecord& a = row.record;
  const FlushRecord& b = flush.record;
  return row.caller == flush.caller && row.pages == flush.pages && row.process == flush.process &&
         a.outcome == b.outcome && a.trim == b.trim && a.fell_back == b.fell_back &&
         a.request.freed_tables == b.request.freed_tables &&
         a.request.trim_cpumask == b.request.trim_cpumask &&
         a.request.initiating_cpu == b.request.initiating_cpu && a.mask == b.mask &&
         a.needed == b.needed && a.native == b.native && a.sent == b.sent && same_calls(a, b);
}

void add_flush(EraResult& result, const ScenarioFlush& flush) {
  result.total.add(flush.record);
  result.by_caller[flush.caller].add(flush.record);
  ++result.forms[form_of(flush.record)];
  if (flush.measured) {
    result.measured.add(flush.record);
    result.measured_by_caller[flush.caller].add(flush.record);
    ++result.measured_forms[form_of(flush.record)];
  }
  if (!result.rows.empty() && result.rows_dropped == 0 && same_row(result.rows.back(), flush)) {
    ++result.rows.back().count;
  } else if (result.rows.size() < kMaxRows) {
    result.rows.push_back({result.total.flushes, 1, flush.caller, std::string(flush.process),
                           flush.pages, flush.record});
  } else {
    ++result.rows_dropped;
  }
}

/// Zoo Z14's trigger: an EX call without banks.
bool sent_empty_set(const FlushRecord& record) {
  return std::any_of(record.hypercalls.begin(), record.hypercalls.end(), [](const auto& call) {
    return hv::is_ex(hv::call_code(call.control)) && hv::variable_header_words(call.control) == 0;
  });
}

FlushForm::Kind form_kind(NativeKind kind) {
  switch (kind) {
    case NativeKind::kPlain: return FlushForm::Kind::kNative;
    case NativeKind::kPeriodicTrim: return FlushForm::Kind::kPeriodicTrim;
    case NativeKind::kImmediateTrim: return FlushForm::Kind::kImmediateTrim;
    case NativeKind::kNoIpi: return FlushForm::Kind::kNoIpi;
  }
  return FlushForm::Kind::kNative;
}

}  // namespace

FlushForm form_of(const FlushRecord& record) {
  const bool self = record.sent.test(record.request.initiating_cpu);
  switch (record.outcome) {
    case Outcome::kNone: return {FlushForm::Kind::kNobody, 0, false};
    case Outcome::kLocal: return {FlushForm::Kind::kLocal, 0, true};
    case Outcome::kNative: return {form_kind(native_kind(record)), record.nr_ipis(), self};
    case Outcome::kHypercall: break;
  }
  const bool ex = hv::is_ex(hv::call_code(record.hypercalls.back().control));
  return {record.swept_by_all ? FlushForm::Kind::kAllProcessors
          : ex                ? FlushForm::Kind::kEx
                              : FlushForm::Kind::kPlain,
          record.sent.count(), self};
}

std::string form_text(const FlushForm& form, u64 count) {
  const std::string_view s = count == 1 ? "" : "s";
  const std::string_view each = count == 1 ? "" : " each";
  const auto things = [&](std::string_view one) {
    return fmt::format("{} {}{}", form.targets, one, form.targets == 1 ? "" : "s");
  };
  switch (form.kind) {
    case FlushForm::Kind::kNobody:
      return fmt::format("{} flush{} that reach{} nobody", count, count == 1 ? "" : "es",
                         count == 1 ? "es" : "");
    case FlushForm::Kind::kLocal:
      return fmt::format("{} local flush{}", count, count == 1 ? "" : "es");
    case FlushForm::Kind::kNative:
      return fmt::format("{} native flush{} with {}{}", count, count == 1 ? "" : "es",
                         things("IPI"), each);
    case FlushForm::Kind::kPeriodicTrim:
      return fmt::format("{} periodic trim round{} with {}{}", count, s, things("IPI"), each);
    case FlushForm::Kind::kImmediateTrim:
      return fmt::format("{} immediate trim{} with {}{}", count, s, things("IPI"), each);
    case FlushForm::Kind::kNoIpi:
      return fmt::format("{} native flush{} of {}", count, count == 1 ? "" : "es",
                         form.self ? "this CPU alone" : "nobody");
    case FlushForm::Kind::kAllProcessors:
      return fmt::format("{} all-processor call{} with {}{}", count, s, things("target"), each);
    case FlushForm::Kind::kPlain:
      return fmt::format("{} plain call{} with {}{}", count, s, things("target"), each);
    case FlushForm::Kind::kEx:
      return fmt::format("{} EX call{} with {}{}", count, s, things("target"), each);
  }
  return {};
}

void FlushCounts::add(const FlushRecord& record) {
  ++flushes;
  local += record.outcome == Outcome::kLocal;
  nobody += record.outcome == Outcome::kNone;
  if (record.outcome == Outcome::kNative) {
    ++native;
    ipis += record.nr_ipis();
    const NativeKind kind = native_kind(record);
    periodic_trims += kind == NativeKind::kPeriodicTrim;
    immediate_trims += kind == NativeKind::kImmediateTrim;
    no_ipi += kind == NativeKind::kNoIpi;
    if (record.trim) {
      ++trim_rounds;
      trim_ipis += record.nr_ipis();
    }
  }
  if (!record.hypercalls.empty()) {
    hypercalls += record.hypercalls.size();
    all_processors += record.swept_by_all;
    if (!record.fell_back) targets += record.sent.count();
    for (const HypercallRecord& call : record.hypercalls) {
      ex_calls += hv::is_ex(hv::call_code(call.control));
      bytes += 8 * call.input.size();
    }
  }
  reached += record.sent.count();
  needed += record.needed.count();
  missed += record.missed().count();
  for (u32 at = 0; at < kNrExcess; ++at) excess[at] += record.excess[at].count();
  if (record.swept_by_all) swept += (record.sent - record.needed - record.native).count();
}

u64 FlushCounts::nr_excess() const {
  return std::accumulate(excess.begin(), excess.end(), u64{0});
}

double CostModel::microseconds(const FlushCounts& counts) const {
  const auto times = [](u64 count, double cost) { return static_cast<double>(count) * cost; };
  return times(counts.hypercalls, hypercall) + times(counts.targets, target) +
         times(counts.ipis, ipi) + times(counts.local, local);
}

ScenarioResult<Comparison> compare(const Scenario& scenario, const std::vector<NamedRules>& rules,
                                   const std::atomic<bool>* stop, std::atomic<u64>* operations) {
  Comparison comparison{.scenario = scenario.file,
                        .title = scenario.name,
                        .about = scenario.about,
                        .machine = scenario.machine,
                        .vp = scenario.vp,
                        .host = std::string(host::name_of(scenario.host)),
                        .eras = {},
                        .stopped = false};
  for (const NamedRules& each : rules) {
    EraResult result;
    result.rules = each;
    std::set<MmId> empty_set_sent;  // kInitMm: for all mms
    ScenarioRunner runner(
        scenario, each.rules,
        [&](const ScenarioFlush& flush) {
          add_flush(result, flush);
          const FlushTlbInfo& request = flush.record.request;
          if (sent_empty_set(flush.record))
            empty_set_sent.insert(request.has_mm ? request.mm : kInitMm);
          if (operations != nullptr) operations->fetch_add(1, std::memory_order_relaxed);
        },
        each.era);
    if (auto error = runner.run(stop)) return *error;
    result.iterations = runner.measured_iterations();
    result.operations = runner.operations();
    result.violations = runner.machine().violations();
    result.nr_violations = runner.machine().nr_violations();
    result.nr_unexplained = runner.nr_unexplained();
    result.known_fault = result.nr_violations != 0 && result.nr_unexplained == 0;
    for (const Violation& violation : result.violations) {
      const bool empty_set =
          empty_set_sent.contains(violation.mm) || empty_set_sent.contains(kInitMm);
      result.explained_by.push_back(
          each.era == nullptr ? nullptr : known_fault_of(*each.era, empty_set, violation));
    }
    result.masks = runner.masks_at_end();
    comparison.eras.push_back(std::move(result));
    if (runner.stopped()) {
      comparison.stopped = true;
      break;
    }
  }
  return comparison;
}

}  // namespace hvtlb

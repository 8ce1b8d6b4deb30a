#include "cli/step.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/hypercall_json.h"
#include "cli/rules_option.h"
#include "model/eras.h"
#include "scenario/shown_text.h"

namespace hvtlb::cli {

/// What the hardware and the senders did, in order.
class StepScript::Events final : public Observer {
 public:
  Json list = Json::array();

  void cr3_to_be_written(Cpu cpu, u64 cr3) override {
    list.push_back({{"e", "cr3"},
                    {"cpu", cpu},
                    {"pgd", hex_text(cr3 & kCr3AddrMask)},
                    {"pcid", cr3 & kCr3PcidMask},
                    {"noflush", (cr3 & kCr3NoFlush) != 0 ? 1 : 0}});
  }
  void invalidated(Cpu cpu, u64 va) override {
    list.push_back({{"e", "invlpg"}, {"cpu", cpu}, {"va", hex_text(va)}});
  }
  void sent_natively(Cpu, const CpuMask& targets, const FlushTlbInfo&) override {
    list.push_back({{"e", "ipi"}, {"cpus", targets.to_hex()}});
  }
  void called(Cpu, u64 control, std::span<const u64> input, const HostEffect&) override {
    list.push_back(hypercall_event_json(control, input));
  }
};

namespace {

/// One page of the mm, for an operation that only says "a page".
constexpr u64 kBatchPage = 0x1000;

constexpr OpKind kStepOps[] = {OpKind::kSwitchMm, OpKind::kEnterLazy,       OpKind::kFlushMmRange,
                               OpKind::kBatchAdd, OpKind::kBatchFlush,      OpKind::kTick,
                               OpKind::kLeaveMm,  OpKind::kUseTemporaryMm,  OpKind::kOffline,
                               OpKind::kOnline,   OpKind::kUnuseTemporaryMm};

OpKind kind_of(const std::string& name) {
  std::string known;
  for (const OpKind kind : kStepOps) {
    if (name_of(kind) == name) return kind;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name_of(kind));
  }
  throw LineError{fmt::format("op: found \"{}\", expected one of {}", shown_text(name), known)};
}

/// Reads an operation's fields; which ones it has depends on its kind.
Op read_op(Fields& fields, u32 nr_cpus, u32 nr_mms) {
  Op op;
  op.kind = kind_of(fields.text("op"));
  const auto cpu = [&] { op.cpu = static_cast<Cpu>(fields.number("cpu", 0, nr_cpus - 1)); };
  const auto mm = [&] { op.mm = static_cast<MmId>(fields.number("mm", 0, nr_mms)); };
  switch (op.kind) {
    case OpKind::kSwitchMm:
    case OpKind::kUseTemporaryMm:
      cpu();
      mm();
      break;
    case OpKind::kEnterLazy:
    case OpKind::kLeaveMm:
    case OpKind::kUnuseTemporaryMm:
    case OpKind::kBatchFlush:
    case OpKind::kOffline:
    case OpKind::kOnline: cpu(); break;
    case OpKind::kFlushMmRange:
      cpu();
      mm();
      op.start = fields.hex("start");
      op.end = fields.hex("end");
      op.stride_shift = static_cast<u8>(fields.number_or("stride_shift", kPageShift, 0, 63));
      op.freed_tables = fields.flag_or("freed_tables", false);
      break;
    case OpKind::kBatchAdd:
      mm();
      op.start = kBatchPage;
      break;
    case OpKind::kTick: op.jiffies = fields.number("jiffies", 0, ~u32{0}); break;
    case OpKind::kFlushBatchedPending:
    case OpKind::kNestedReclaim:
    case OpKind::kUseGlobalAsid:
    case OpKind::kEnableLam:
    case OpKind::kTouch:
    case OpKind::kNewMm:
    case OpKind::kDropMm: break;  // not among kStepOps
  }
  return op;
}

Json violation_json(const Violation& v) {
  return {{"property", name_of(v.property)},
          {"cpu", v.cpu},
          {"mm", v.mm},
          {"page", hex_text(v.va & kPageMask)},
          {"why", v.why}};
}

}  // namespace

StepScript::StepScript() : events_(std::make_unique<Events>()) {}
StepScript::~StepScript() = default;

Json StepScript::make_machine(const Json& line) {
  Fields fields(line);
  fields.has("id");
  MachineShape shape;
  shape.nr_cpus = static_cast<u32>(fields.number("nr_cpus", 1, kMaxCpus));
  nr_mms_ = static_cast<u32>(fields.number("nr_mms", 0, kMaxMms - 1));
  const std::string era_name = fields.text("era");
  const Era* era = find_era(era_name);
  if (era == nullptr)
    throw LineError{fmt::format("era: found \"{}\", {}", shown_text(era_name), expected_era())};
  const std::string path = fields.text("path");
  if (path != "native" && path != "hyperv")
    throw LineError{fmt::format("path: found \"{}\", expected native or hyperv", shown_text(path))};
  shape.hyperv = path == "hyperv";
  shape.pcid = fields.flag_or("pcid", true);
  shape.hz = fields.number_or("hz", 250, 1, 1'000'000);
  shape.jiffies = fields.number_or("jiffies", 1000, 0, ~u64{0} >> 2);
  fields.finish();
  machine_ = std::make_unique<Machine>(shape, era->rules);
  machine_->observe(events_.get());
  for (u32 mm = 0; mm < nr_mms_; ++mm) machine_->apply({.kind = OpKind::kNewMm});
  return {{"machine", "ok"}};
}

Json StepScript::answer(const Json& line) {
  if (!machine_) return make_machine(line);
  Fields fields(line);
  const bool has_id = fields.has("id");
  const Op op = read_op(fields, machine_->guest().nr_cpus, nr_mms_);
  fields.finish();
  events_->list = Json::array();
  machine_->policy().violations.clear();
  if (const OpError error = machine_->apply(op); error != OpError::kNone)
    throw LineError{std::string(message_of(error))};
  Json answer = state();
  if (has_id) answer["id"] = line["id"];
  return answer;
}

Json StepScript::state() const {
  const Guest& guest = machine_->guest();
  Json cpus = Json::array();
  for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu) {
    const CpuTlbState& tlb = guest.cpu_tlbstate[cpu];
    const CpuTlbStateShared& shared = guest.cpu_tlbstate_shared[cpu];
    Json ctxs = Json::array();
    for (const TlbContext& ctx : tlb.ctxs) ctxs.push_back({ctx.ctx_id, ctx.tlb_gen});
    cpus.push_back({{"mm", shared.loaded_mm},
                    {"lazy", shared.is_lazy},
                    {"asid", tlb.loaded_mm_asid},
                    {"next_asid", tlb.next_asid},
                    {"ctxs", std::move(ctxs)}});
  }
  Json mms = Json::array();
  for (MmId mm = 1; mm <= nr_mms_; ++mm)
    mms.push_back({{"mask", CpuMask::from_words(guest.mm(mm).cpumask, guest.nr_cpus).to_hex()},
                   {"gen", guest.mm(mm).tlb_gen}});
  Json violations = Json::array();
  for (const Violation& v : machine_->violations()) violations.push_back(violation_json(v));
  return {{"events", events_->list},
          {"cpus", std::move(cpus)},
          {"mms", std::move(mms)},
          {"violations", std::move(violations)}};
}

Command make_step(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("step", "Drive the model operation by operation: JSON lines");
  auto file = std::make_shared<std::string>("-");
  sub->add_option("FILE", *file, "the script, one JSON object a line; - is standard input")
      ->capture_default_str();
  sub->footer(
      "The first line is the machine, every further line an operation; the answer shows what the\n"
      "hardware did and the state afterwards. A refused operation changes nothing; the next line "
      "goes\n"
      "on from there. The fields of a line: docs/jsonl.md.\n"
      "Example:\n"
      "  printf '%s\\n' '{\"nr_cpus\":2,\"nr_mms\":1,\"era\":\"v6.12.117\",\"path\":\"native\"}' "
      "\\\n"
      "    '{\"op\":\"switch_mm\",\"cpu\":0,\"mm\":1}' | hvtlb step");
  return {sub, [file] {
            StepScript script;
            return answer_file(*file, [&](const Json& line) { return script.answer(line); });
          }};
}

}  // namespace hvtlb::cli

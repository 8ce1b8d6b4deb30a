#include "cli/encode.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/hypercall_json.h"
#include "cli/rules_option.h"
#include "flush/decision.h"
#include "model/eras.h"
#include "scenario/shown_text.h"

namespace hvtlb::cli {
namespace {

const Era& era_of(Fields& fields) {
  const std::string name = fields.text_or("era", "v6.4");
  const Era* era = find_era(name);
  if (era == nullptr)
    throw LineError{fmt::format("era: found \"{}\", {}", shown_text(name), expected_era())};
  return *era;
}

/// The VP indices. An index that the sparse set's page cannot hold is refused: the kernel would
/// write past the set.
void read_vps(Fields& fields, MachineShape& shape) {
  shape.hv_max_vp_index = static_cast<u32>(fields.number("hv_max_vp_index", 0, ~u32{0}));
  constexpr i64 kMostVps = i64{hv::kMaxSparseVcpuBanks} * hv::kVcpusPerSparseBank;
  const bool set_is_built = *shape.hv_max_vp_index < kMostVps;
  const i64 most = set_is_built ? kMostVps - 1 : std::numeric_limits<std::int32_t>::max();
  for (const Json& vp : fields.list("vp_of_cpu", shape.nr_cpus)) {
    // A number that is not negative is unsigned, and may be beyond i64.
    const bool fits = vp.is_number_unsigned() ? vp.get<u64>() <= static_cast<u64>(most)
                                              : vp.is_number_integer() && vp.get<i64>() >= -1;
    if (!fits)
      throw LineError{
          fmt::format("vp_of_cpu: found {}, expected numbers from -1 to {}", shown_json(vp), most)};
    shape.vp_index.push_back(static_cast<u32>(vp.get<i64>()));
  }
}

void read_loaded(Fields& fields, Guest& guest, MmId target, MmId other) {
  if (!fields.has("loaded")) {
    for (CpuTlbStateShared& shared : guest.cpu_tlbstate_shared) shared.loaded_mm = target;
    return;
  }
  const Json& loaded = fields.list("loaded", guest.nr_cpus);
  for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu) {
    u64& loaded_mm = guest.cpu_tlbstate_shared[cpu].loaded_mm;
    if (loaded[cpu] == "target")
      loaded_mm = target;
    else if (loaded[cpu] == "other")
      loaded_mm = other;
    else if (loaded[cpu] == "init")
      loaded_mm = kInitMm;
    else if (loaded[cpu] == "switching")
      loaded_mm = kLoadedMmSwitching;
    else
      throw LineError{fmt::format("loaded: found {}, expected target, other, init or switching",
                                  shown_json(loaded[cpu]))};
  }
}

}  // namespace

Json encode_line(const Json& line) {
  Fields fields(line);
  if (!fields.has("id")) throw LineError{"id: missing"};
  const Era& era = era_of(fields);
  MachineShape shape;
  shape.nr_cpus = static_cast<u32>(fields.number("nr_cpus", 1, kMaxCpus));
  const Cpu self = static_cast<Cpu>(fields.number("cur_cpu", 0, shape.nr_cpus - 1));
  shape.present = fields.mask("present", shape.nr_cpus);
  shape.online = CpuMask(shape.nr_cpus);
  shape.online->set_all();
  read_vps(fields, shape);
  shape.ex_processor_masks_recommended = fields.flag_or("ex_hint", true);
  shape.hypercall_page = fields.flag_or("hypercall_page", true);
  shape.input_pages = fields.flag_or("input_page", true);
  Guest guest(shape);
  const MmId target = guest.new_mm();
  const MmId other = guest.new_mm();
  guest.mm(target).pgd = fields.hex("pgd_phys");
  fields.mask("cpus", shape.nr_cpus).for_each([&](Cpu cpu) {
    guest.mm(target).cpumask[cpu / kBitsPerWord] |= bit_of(cpu);
  });
  fields.mask("lazy", shape.nr_cpus).for_each([&](Cpu cpu) {
    guest.cpu_tlbstate_shared[cpu].is_lazy = 1;
  });
  read_loaded(fields, guest, target, other);
  guest.invlpgb = fields.flag_or("asid_transition", false);
  guest.mm(target).asid_transition = guest.invlpgb;

  FlushTlbInfo info;
  info.mm = target;
  info.has_mm = !fields.flag_or("mm_null", false);
  info.freed_tables = fields.flag_or("freed_tables", false);
  info.trim_cpumask = fields.flag_or("trim", false);
  info.initiating_cpu = self;
  info.start = fields.hex("start");
  info.end = fields.hex("end");
  DecisionPolicy policy;
  policy.host_status = static_cast<u16>(fields.number_or("hv_status", 0, 0, 0xffff));
  fields.finish();

  Kernel<DecisionPolicy> k{guest, era.rules, policy};
  flush_tlb_multi(k, self, guest.mm(target).cpumask, info);

  Json answer;
  if (policy.native) {
    answer = {
        {"outcome", "native"}, {"targets", policy.targets.to_hex()}, {"trim", policy.native_trim}};
    if (policy.called) answer["attempted"] = hypercall_json(policy.control, policy.input);
  } else if (policy.called) {
    answer = hypercall_json(policy.control, policy.input);
    answer["outcome"] = "hypercall";
  } else {
    answer = {{"outcome", "none"}};
  }
  answer["id"] = line["id"];
  return answer;
}

Command make_encode(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("encode", "Requests in, hypercalls out: JSON lines");
  auto file = std::make_shared<std::string>("-");
  sub->add_option("FILE", *file, "requests, one JSON object a line; - is standard input")
      ->capture_default_str();
  sub->footer(
      "Enters at flush_tlb_multi(): which hypercall, byte for byte, or which CPUs natively.\n"
      "The fields of a line: docs/jsonl.md.\n"
      "Example:\n"
      "  echo "
      "'{\"id\":1,\"nr_cpus\":4,\"cur_cpu\":0,\"present\":\"0xf\",\"cpus\":\"0x7\",\"lazy\":"
      "\"0x4\",\n"
      "    \"vp_of_cpu\":[0,1,2,3],\"hv_max_vp_index\":3,\"pgd_phys\":\"0x1000\",\n"
      "    \"start\":\"0x7f0000000000\",\"end\":\"0x7f0000001000\"}' | tr -d '\\n' | hvtlb encode");
  return {sub, [file] { return answer_file(*file, encode_line); }};
}

}  // namespace hvtlb::cli

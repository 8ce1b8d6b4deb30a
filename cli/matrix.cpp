// `hvtlb matrix`: the situations of the catalogue under many rules, as a table.
#include "zoo/matrix.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "cli/command.h"
#include "cli/json_lines.h"
#include "cli/progress.h"

namespace hvtlb::cli {
namespace {

using explore::MemoryModel;

struct MatrixArguments {
  std::string table;
  bool json = false;
};

/// `-` holds, `P1` breaks under both models, `P1*` under x86-TSO alone, blank: does not apply.
std::string cell_text(const zoo::MatrixCell& cell) {
  if (!cell.applies) return "";
  const auto& sc = cell.violated(MemoryModel::kSc);
  const auto& tso = cell.violated(MemoryModel::kTso);
  for (const explore::End end : cell.end)
    if (end != explore::End::kExhausted && end != explore::End::kViolation) return "?";
  if (!sc && !tso) return "-";
  return fmt::format("{}{}", name_of(sc ? *sc : *tso), sc ? "" : "*");
}

void print_table(const zoo::MatrixTable& table) {
  const auto names = zoo::situations();
  fmt::print("{}: {}\n\n{:24}", table.name, table.about, "");
  for (std::size_t at = 0; at < names.size(); ++at) fmt::print("{:>6}", at + 1);
  fmt::print("\n");
  for (std::size_t row = 0; row < table.cells.size(); ++row) {
    fmt::print("{:24}", table.rows[row].name);
    for (const zoo::MatrixCell& cell : table.cells[row]) fmt::print("{:>6}", cell_text(cell));
    fmt::print("\n");
  }
  fmt::print("\n");
  for (std::size_t at = 0; at < names.size(); ++at) fmt::print("{:>4} {}\n", at + 1, names[at]);
  fmt::print(
      "\n- holds, exhausted; P1 is broken under SC and x86-TSO; P1* under x86-TSO alone; blank: "
      "the\n"
      "era knows nothing of it; ? bounded. `hvtlb explore NAME` explores one of them.\n");
}

Json matrix_json(const zoo::MatrixTable& table) {
  const auto names = zoo::situations();
  Json rows = Json::array();
  for (std::size_t at = 0; at < table.cells.size(); ++at) {
    Json cells = Json::object();
    for (std::size_t column = 0; column < names.size(); ++column) {
      const zoo::MatrixCell& cell = table.cells[at][column];
      if (!cell.applies) continue;
      Json& json = cells[std::string(names[column])];
      for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso}) {
        const u32 which = static_cast<u32>(model);
        const auto& violated = cell.violated(model);
        const bool holds = cell.end[which] == explore::End::kExhausted;
        json[model == MemoryModel::kSc ? "sc" : "tso"] = {{"verdict", violated ? name_of(*violated)
                                                                      : holds  ? "holds"
                                                                               : "bounded"},
                                                          {"states", cell.states[which]}};
      }
    }
    rows.push_back({{"name", table.rows[at].name}, {"era", table.rows[at].era}, {"cells", cells}});
  }
  return {{"schema", "hvtlb-matrix-1"}, {"table", table.name}, {"rows", rows}};
}

int run_matrix(const MatrixArguments& options) {
  zoo::MatrixTable table = options.table == "eras"      ? zoo::era_matrix()
                           : options.table == "porting" ? zoo::porting_matrix()
                                                        : zoo::scope_matrix();
  watch_interrupt();
  {
    std::atomic<u32> cells = 0;
    std::atomic<u32> all_cells = 0;
    const Progress progress(
        [&] { return fmt::format("{} of {} cells", cells.load(), all_cells.load()); });
    zoo::fill(table, [&](u32 done, u32 all) {
      cells = done;
      all_cells = all;
      return !interrupted();
    });
  }
  if (options.json)
    fmt::print("{}\n", matrix_json(table).dump(2));
  else
    print_table(table);
  if (!interrupted()) return kExitHolds;
  if (!options.json)
    fmt::print("stopped after {} of {} rows\n", table.cells.size(), table.rows.size());
  return kExitInterrupted;
}

}  // namespace

Command make_matrix(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "matrix", "The catalogue's situations under every era, the fix on every era, every host");
  auto options = std::make_shared<MatrixArguments>();
  sub->add_option("TABLE", options->table,
                  "eras: every era, native and Hyper-V; porting: the fix on top of every era;\n"
                  "scopes: what a hypercall's flush removes")
      ->required()
      ->check(CLI::IsMember({"eras", "porting", "scopes"}));
  sub->add_flag("--json", options->json, "one JSON object (docs/schema/matrix.json)");
  sub->footer(
      "Exit codes: 0 the table is complete, 130 stopped by Ctrl-C.\n"
      "Example: hvtlb matrix porting");
  return {sub, [options] { return run_matrix(*options); }};
}

}  // namespace hvtlb::cli

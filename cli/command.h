// A subcommand: how it parses and what it runs. One file a subcommand, all listed in main.cpp.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>

#include "cli/exit_code.h"

namespace hvtlb::cli {

struct Command {
  CLI::App* app;
  std::function<int()> run;  ///< returns the exit code
};

Command make_compare(CLI::App& app);
Command make_replay(CLI::App& app);
Command make_encode(CLI::App& app);
Command make_decode(CLI::App& app);
Command make_step(CLI::App& app);
Command make_eras(CLI::App& app);
Command make_zoo(CLI::App& app);
Command make_explore(CLI::App& app);
Command make_environment(CLI::App& app);
Command make_matrix(CLI::App& app);
Command make_completion(CLI::App& app);

}  // namespace hvtlb::cli

// `hvtlb`: parses the command line and hands over to one subcommand.
#include <csignal>
#include <fmt/format.h>
#include <iostream>

#include "cli/command.h"
#include "scenario/shown_text.h"

namespace {

/// One line on standard error; a word that is no subcommand is named.
int refuse(const CLI::App& app, const std::string& first, const std::string& error) {
  const std::string what = hvtlb::escaped_text(error);
  std::string known;
  for (const CLI::App* sub : app.get_subcommands({})) {
    if (sub->get_name() == first) {
      fmt::print(stderr, "hvtlb {}: {}\n", first, what);
      return hvtlb::cli::kExitUsage;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", sub->get_name());
  }
  if (first.empty() || first.front() == '-')
    fmt::print(stderr, "hvtlb: {} ({}); see hvtlb --help\n", what, known);
  else
    fmt::print(stderr, "hvtlb: found '{}', expected one of {}\n", hvtlb::shown_text(first), known);
  return hvtlb::cli::kExitUsage;
}

int run(const hvtlb::cli::Command& command) {
  try {
    return command.run();
  } catch (const std::exception& error) {
    // What could not be printed is said once, at the end.
    if (std::ferror(stdout) == 0)
      fmt::print(stderr, "hvtlb {}: {}\n", command.app->get_name(),
                 hvtlb::escaped_text(error.what()));
    return hvtlb::cli::kExitUsage;
  }
}

/// A result that did not reach its reader is no success.
int finish(int exit_code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return exit_code;
  fmt::print(stderr, "hvtlb: standard output cannot be written\n");
  return hvtlb::cli::kExitUsage;
}

int parse_and_run(int argc, char** argv) {
  using namespace hvtlb::cli;
  // A reader that goes away (`hvtlb ... | head`) ends the program quietly.
  std::signal(SIGPIPE, SIG_DFL);
  CLI::App app{"hvtlb: the Linux guest's lazy TLB and Hyper-V's flush targets, as a model",
               "hvtlb"};
  app.set_version_flag("--version", "hvtlb " HVTLB_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 holds or success, 1 bad usage or input, 2 unknown, 3 violated.\n"
      "Example: hvtlb compare --cpus 32,96");
  const std::vector<Command> commands{make_compare(app), make_replay(app),    make_encode(app),
                                      make_decode(app),  make_step(app),      make_eras(app),
                                      make_zoo(app),     make_explore(app),   make_environment(app),
                                      make_matrix(app),  make_completion(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return finish(app.exit(success));
  } catch (const CLI::ParseError& error) {
    return refuse(app, argc > 1 ? argv[1] : "", error.what());
  }
  for (const Command& command : commands)
    if (command.app->parsed()) return finish(run(command));
  return kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (...) {  // even the message could not be made
    std::fputs("hvtlb: out of memory, or standard error cannot be written\n", stderr);
    return hvtlb::cli::kExitUsage;
  }
}

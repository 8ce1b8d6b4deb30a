// `hvtlb`: parses the command line and hands over to one subcommand.
#include <csignal>
#include <fmt/format.h>

#include "cli/command.h"

int main(int argc, char** argv) {
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
  const std::vector<Command> commands{make_encode(app), make_decode(app), make_step(app),
                                      make_eras(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "hvtlb: {}\n", error.what());
    return kExitUsage;
  }
  for (const Command& command : commands)
    if (command.app->parsed()) return command.run();
  return kExitUsage;
}

// `hvtlb completion`: a bash completion script, made from the program's own options.
#include <fmt/format.h>
#include <memory>

#include "cli/command.h"
#include "model/eras.h"
#include "scenario/builtin.h"
#include "zoo/scenarios.h"
#include "zoo/zoo.h"

namespace hvtlb::cli {
namespace {

/// Arguments: the subcommands, the eras, the scenarios, the litmuses, the zoo's subcommands and
/// entries, and a case for every subcommand.
constexpr std::string_view kScript = R"sh(# bash completion for hvtlb: eval "$(hvtlb completion)"
_hvtlb() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$word"))
    return
  fi
  local eras="{}" files=
  case $previous in
    --era|--recorded-era) words=$eras ;;
    *)
      case ${{COMP_WORDS[1]}} in
        eras) words=$eras ;;
        matrix) words="eras porting scopes" ;;
        compare) [ "$COMP_CWORD" -eq 2 ] && words="{}" files=yes ;;
        explore) words="{}" files=yes ;;
        zoo)
          if [ "$COMP_CWORD" -eq 2 ]; then
            words="{}"
          elif [ "${{COMP_WORDS[2]}}" != list ]; then
            words="{}"
          fi ;;
      esac ;;
  esac
  if [ -n "$words" ] && [[ $word != -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [ -z "$files" ] || COMPREPLY+=($(compgen -f -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -F _hvtlb hvtlb
)sh";

std::string option_names(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names += fmt::format(" --{}", name);
  return names;
}

int run(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* sub : app.get_subcommands({})) {
    commands += fmt::format(" {}", sub->get_name());
    cases +=
        fmt::format("    {}) words=\"{}\" ;;\n", sub->get_name(), option_names(*sub).substr(1));
  }
  std::string scenarios = "regression";
  for (const BuiltinScenario& each : builtin_scenarios())
    scenarios += fmt::format(" {}", each.name);
  std::string zoo_commands;
  for (const CLI::App* sub : app.get_subcommand("zoo")->get_subcommands({}))
    zoo_commands += fmt::format(" {}", sub->get_name());
  std::string entries;
  for (const zoo::Entry& entry : zoo::entries()) entries += fmt::format(" {}", entry.id);
  std::string litmuses;
  for (const auto& [name, text] : zoo::litmuses()) litmuses += fmt::format(" {}", name);
  fmt::print(kScript, commands.substr(1), era_names(), scenarios, litmuses.substr(1),
             zoo_commands.substr(1), entries.substr(1), cases);
  return kExitHolds;
}

}  // namespace

Command make_completion(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("completion", "A bash completion script");
  sub->footer("Example: eval \"$(hvtlb completion)\"");
  return {sub, [&app] { return run(app); }};
}

}  // namespace hvtlb::cli

// Scenario files: what is read, how it prints back, and how bad input is refused.
#include <gtest/gtest.h>

#include "scenario/builtin.h"
#include "scenario/scenario.h"

namespace hvtlb {
namespace {

std::string file(const std::string& machine, const std::string& steps) {
  return "hvtlb-scenario: 1\nmachine: " + machine + "\nprocesses: [A]\nsteps:\n" + steps;
}

std::string error_of(const std::string& text, std::optional<u64> cpus = std::nullopt) {
  const auto result = read_scenario(text, "x.yaml", cpus);
  const auto* error = std::get_if<ScenarioError>(&result);
  return error == nullptr ? "accepted" : error->to_string();
}

TEST(ScenarioRead, BuiltinsAreCanonicalAfterOnePrint) {
  ASSERT_GE(builtin_scenarios().size(), 9u);
  for (const BuiltinScenario& each : builtin_scenarios()) {
    const auto read = read_scenario(std::string(each.text), std::string(each.name));
    ASSERT_TRUE(std::holds_alternative<Scenario>(read))
        << std::get<ScenarioError>(read).to_string();
    const std::string printed = print_scenario(std::get<Scenario>(read));
    const auto again = read_scenario(printed, "printed");
    ASSERT_TRUE(std::holds_alternative<Scenario>(again)) << printed;
    EXPECT_EQ(print_scenario(std::get<Scenario>(again)), printed);
  }
}

TEST(ScenarioRead, MachineAndRulesAreRead) {
  const auto result = read_scenario(
      "hvtlb-scenario: 1\n"
      "name: \"a: b\"\n"
      "machine: {cpus: 4, present: '0-2', vp: [5, -1, 7, 9], hv_max_vp_index: 70, hz: 100,\n"
      "          jiffies: 5, pcid: false, path: native, ex_hint: false}\n"
      "rules: {era: v6.4, set: {hv_targets: whole_mask}}\n"
      "processes: {A: {threads: 3}}\n"
      "steps: []\n",
      "x.yaml");
  ASSERT_TRUE(std::holds_alternative<Scenario>(result))
      << std::get<ScenarioError>(result).to_string();
  const Scenario& s = std::get<Scenario>(result);
  EXPECT_EQ(s.machine.nr_cpus, 4u);
  EXPECT_EQ(s.machine.present->to_list(), "0-2");
  EXPECT_EQ(s.machine.vp_index, (std::vector<u32>{5, kVpInvalid, 7, 9}));
  EXPECT_EQ(s.machine.hv_max_vp_index, 70u);
  EXPECT_EQ(s.machine.hz, 100u);
  EXPECT_FALSE(s.machine.pcid);
  EXPECT_FALSE(s.machine.hyperv);
  EXPECT_FALSE(s.machine.ex_processor_masks_recommended);
  EXPECT_EQ(s.era, "v6.4");
  EXPECT_EQ(s.set, (std::vector<std::string>{"hv_targets=whole_mask"}));
  EXPECT_EQ(s.processes[0].threads, 3u);
}

TEST(ScenarioRead, BadInputNamesFileLineAndColumn) {
  EXPECT_EQ(error_of(file("{cpus: 4}", "  - run A on 9\n")),
            "x.yaml:5:5: found CPU 9, expected CPUs below 4");
  EXPECT_EQ(error_of(file("{cpus: 4}", "  - repeat 1000000000: [idle on 1]\n")),
            "x.yaml:5:12: found 1000000000, expected a number of repeats of at most 1000000");
  EXPECT_EQ(error_of(file("{cpus: 1000000}", "  - run A on 0\n")),
            "x.yaml:2:17: found 1000000, expected a number of CPUs of at most 4096");
  EXPECT_EQ(error_of(file("{cpus: 4, vps: 1}", "  - run A on 0\n")),
            "x.yaml:2:20: found the key 'vps', expected one of cpus, present, vp, "
            "hv_max_vp_index, hz, jiffies, pcid, lam, invlpgb, pti, path, ex_hint, host");
  EXPECT_EQ(error_of(file("{cpus: 4, cpus: 5}", "  - run A on 0\n")),
            "x.yaml:2:20: found 'cpus' twice");
  EXPECT_EQ(error_of(file("{cpus: 4, vp: [1, 2]}", "  - run A on 0\n")),
            "x.yaml:2:24: found 2 VP indices, expected 4, one a CPU");
  EXPECT_EQ(error_of(file("{cpus: 2, vp: [1, 1]}", "  - run A on 0\n")),
            "x.yaml:2:24: found VP index 1 twice");
  EXPECT_EQ(error_of(file("{cpus: -1}", "  - run A on 0\n")),
            "x.yaml:2:17: found '-1', expected a number of CPUs");
  EXPECT_EQ(error_of("hvtlb-scenario: 2\n").substr(0, 27), "x.yaml:1:17: found '2', exp");
  EXPECT_EQ(error_of("[1, 2"), "x.yaml:1:1: found no YAML: end of sequence flow not found");
  EXPECT_EQ(error_of("").substr(0, 13), "x.yaml:1:1: f");
}

TEST(ScenarioRead, NothingGrowsWithoutBound) {
  std::string deep = "idle on 0";
  for (int depth = 0; depth < 40; ++depth) deep = "{repeat 1: " + deep + "}";
  EXPECT_NE(error_of(file("{cpus: 4}", "  - " + deep + "\n")).find("at most 32 deep"),
            std::string::npos);
  EXPECT_NE(error_of(file("{cpus: 4}", "  - repeat 100000: {repeat 100000: [idle on 0]}\n"))
                .find("found more than 20000000 operations"),
            std::string::npos);
  std::string bomb =
      "hvtlb-scenario: 1\nmachine: {cpus: 1}\nprocesses: [A]\nsteps:\n  - &a [idle]\n";
  EXPECT_NE(error_of(bomb), "accepted");
  EXPECT_NE(error_of(std::string(kMaxScenarioBytes + 1, ' ')).find("expected at most 1048576"),
            std::string::npos);
}

TEST(ScenarioRead, AliasesCountAsWhatTheyName) {
  std::string text = "hvtlb-scenario: 1\nmachine: {cpus: 1}\nprocesses: [A]\nsteps:\n";
  text += "  - repeat 1: &x0 [idle, idle, idle, idle, idle, idle, idle, idle, idle, idle]\n";
  for (int level = 1; level < 8; ++level) {
    text += "  - repeat 1: &x" + std::to_string(level) + " [";
    for (int at = 0; at < 10; ++at)
      text += "{repeat 1: *x" + std::to_string(level - 1) + "}" + (at < 9 ? ", " : "]\n");
  }
  EXPECT_NE(error_of(text).find("expected at most 100000 steps"), std::string::npos);
}

TEST(ScenarioRead, AnEmptyLoopTakesTimeToo) {
  const std::string refused = "found more than 20000000 operations";
  for (const char* steps : {"  - repeat 1000000: [{repeat 1000000: []}]\n",
                            "  - repeat 1000000: [{repeat 1000000: [{repeat 0: []}]}]\n",
                            "  - repeat 1000000: [{each cpu: [{repeat 0: [idle on 0]}]}]\n"})
    EXPECT_NE(error_of(file("{cpus: 64}", steps)).find(refused), std::string::npos) << steps;
  EXPECT_EQ(error_of(file("{cpus: 4}", "  - repeat 1000000: []\n")), "accepted");
  std::string list = "0";
  for (int at = 0; at < 400; ++at) list += ",0";
  const std::string loop = "  - repeat 100: [{repeat 100: [\"each cpu of " + list + "\": []]}]\n";
  EXPECT_NE(error_of(file("{cpus: 64}", loop)).find(refused), std::string::npos) << "a long list";
}

TEST(ScenarioRead, SingleFieldsNeedTheirEra) {
  const std::string text = file("{cpus: 4}", "  - run A on 0\n");
  EXPECT_EQ(error_of(text + "rules: {set: {hv_targets: whole_mask}}\n"),
            "x.yaml:6:9: found 'set' without 'era', expected the era that it changes");
  EXPECT_EQ(error_of(text + "rules: {set: {hv_targets: whole_mask}, era: v6.4}\n"), "accepted");
  EXPECT_EQ(error_of(text + "rules: {era: v6.16}\n").substr(0, 68),
            "x.yaml:6:14: found 'v6.16', expected an era (see hvtlb eras for the ");
  EXPECT_EQ(error_of(text + "rules: {era: v6.4, set: {" + std::string(500, 'x') + ": 1}}\n"),
            "x.yaml:6:26: found '" + std::string(37, 'x') +
                "...', expected a rule field (see hvtlb eras)");
}

TEST(ScenarioRead, TheHighestVpIndexIsNotBelowThatOfACpu) {
  EXPECT_EQ(error_of(file("{cpus: 4, hv_max_vp_index: 2}", "  - run A on 0\n")),
            "x.yaml:2:37: found '2', expected at least 3, the highest VP index of a CPU");
  EXPECT_EQ(error_of(file("{cpus: 2, hv_max_vp_index: 7, vp: [7, -1]}", "  - run A on 0\n")),
            "accepted");
}

TEST(ScenarioRead, MessagesAreOneLineWithoutControlCharacters) {
  EXPECT_EQ(error_of("hvtlb-scenario: 1\n\"foo\\nbar\": 1\n").substr(0, 38),
            "x.yaml:2:1: found the key 'foo\\nbar', ");
  EXPECT_EQ(error_of(file("{cpus: 8}", "  - \"run A\\n on 7\"\n")),
            "x.yaml:5:5: found 'A\\n', expected a process's name");
  EXPECT_EQ(error_of(file("{cpus: 8, host: \"\\e[31m\\x7f\"}", "  - idle on 7\n")),
            "x.yaml:2:26: found '\\x1b[31m\\x7f', expected one of tlfs, kvm, openhcl, xen");
  for (const std::string& step : {"run " + std::string(500, 'P'), std::string(500, 'x')}) {
    const std::string error = error_of(file("{cpus: 8}", "  - " + step + "\n"));
    EXPECT_EQ(error.find(std::string(38, step.back())), std::string::npos) << error;
  }
}

TEST(ScenarioRead, ColumnsInsideScalars) {
  const auto place = [](const std::string& steps) {
    const std::string error = error_of(file("{cpus: 4}", steps));
    return error.substr(0, error.find(": "));
  };
  EXPECT_EQ(place("  - run A on 0, then bogus\n"), "x.yaml:5:22");
  EXPECT_EQ(place("  - \"run A on 0, then bogus\"\n"), "x.yaml:5:23");
  EXPECT_EQ(place("  - 'run A on 0, then bogus'\n"), "x.yaml:5:23");
  EXPECT_EQ(place("  - \"run A on 0, th\\x65n bogus\"\n"), "x.yaml:5:5") << "the step's start";
  EXPECT_EQ(place("  - run A on 0,\n      then bogus\n"), "x.yaml:5:5");
  EXPECT_EQ(place("  - >\n    run A on 0,\n    then bogus\n"), "x.yaml:5:5");
  EXPECT_EQ(place("  - |\n    bogus\n"), "x.yaml:5:5");
  EXPECT_EQ(place("  - 'repeat x': []\n"), "x.yaml:5:13");
  EXPECT_EQ(place("  - repeat x: []\n"), "x.yaml:5:12");
  EXPECT_EQ(error_of(file("{cpus: 4, present: '0,2-1'}", "  - idle on 0\n")),
            "x.yaml:2:32: found '2-1', expected an ascending range");
  EXPECT_EQ(error_of("hvtlb-scenario: 1\nmachine: {cpus: 1}\nprocesses: [7A]\nsteps: []\n"),
            "x.yaml:3:13: found '7A', expected a process's name");
}

TEST(ScenarioRead, AFileIsOneDocument) {
  const std::string text = file("{cpus: 4}", "  - run A on 0\n");
  EXPECT_EQ(error_of(text + "---\nmore: 1\n"), "x.yaml:6:1: found a second document, expected one");
  EXPECT_EQ(error_of("---\n" + text + "...\n"), "accepted");
  // yaml-cpp finds documents without end here.
  EXPECT_EQ(error_of(", t"), "x.yaml:1:1: found nothing, expected a scenario");
}

TEST(ScenarioRead, TheNumberOfCpusCanBeReplaced) {
  const std::string text = file("{cpus: 4, vp: {offset: 64, stride: 8}}", "  - run A on 0\n");
  EXPECT_EQ(error_of(text, 96), "accepted");
  EXPECT_EQ(error_of(text, 4096),
            "x.yaml:2:24: found VP index 32824 for the last of 4096 CPUs, expected at most 4095");
  EXPECT_EQ(error_of(text, 0), "x.yaml: found 0 CPUs, expected 1 to 4096");
}

}  // namespace
}  // namespace hvtlb

// A case on a machine, with every checker watching.
#pragma once

#include "proptest/case.h"
#include "scenario/inspector.h"
#include "scenario/ops_player.h"
#include "scenario/profile_host.h"

namespace hvtlb::proptest {

class CaseRun {
 public:
  CaseRun(const OpsRun& run, const Rules& rules, const Era* era, FlushRecorder::Sink sink = {});

  void play(const Op& op) { player.play(op); }

  ProfileHost host;
  Machine machine;
  Inspector inspector;
  OpsPlayer player;
};

/// Runs `body` under rc::check. When it fails, says so in GoogleTest and writes the shrunk case as
/// a scenario file that `hvtlb compare` runs; RapidCheck prints the seed. `body` gets a drawn case.
void check_cases(const std::string& what, const Wanted& wanted,
                 const std::function<void(const Case&)>& body);

}  // namespace hvtlb::proptest

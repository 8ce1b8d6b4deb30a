// What `hvtlb explore` prints, for tests that read it.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "temp_file.h"

namespace hvtlb::cli {

struct Printed {
  int exit_code;
  std::string out;
  std::string error;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

inline Printed explore_printed(const std::string& arguments) {
  CLI::App app;
  const Command command = make_explore(app);
  app.parse("explore " + arguments);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Printed printed{command.run(), {}, {}};
  std::fflush(stdout);
  printed.out = testing::internal::GetCapturedStdout();
  printed.error = testing::internal::GetCapturedStderr();
  return printed;
}

}  // namespace hvtlb::cli

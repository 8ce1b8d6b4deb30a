// How often the interesting states come up. A generator that no longer reaches one makes its
// properties worthless without anybody noticing: a class that becomes rare fails the test.
#pragma once

#include <map>
#include <string>

#include "model/types.h"

namespace hvtlb::proptest {

class Classes {
 public:
  /// One case has been seen.
  void next_case() { ++cases_; }
  /// It belongs to the class.
  void add(const std::string& name, bool belongs) { counts_[name] += belongs ? 1 : 0; }

  /// Whether there were so many cases that a class that is missing is no accident.
  bool enough() const { return cases_ >= kEnoughCases; }

  /// Prints all classes with their shares; when there were enough cases, GoogleTest fails for one
  /// below `least` (of 1).
  void expect_at_least(double least) const;

  static constexpr u64 kEnoughCases = 1000;

 private:
  u64 cases_ = 0;
  std::map<std::string, u64> counts_;
};

}  // namespace hvtlb::proptest

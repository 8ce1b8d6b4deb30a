// The steps that the guest's routines consist of, and which of them a search has reached.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/policy.h"

namespace hvtlb::explore {

/// A call of the memory policy in the sources of model/ or flush/.
struct KnownStep {
  std::string_view file;  ///< `model/switch_mm.h`
  std::string_view routine;
  int line;
};

/// All of them, by file and line: listed from the sources when the program is built.
std::span<const KnownStep> known_steps();

class ReachedSteps {
 public:
  /// Steps that are no calls in a routine of the guest (line 0: an IPI taken, set_pte) do not
  /// count.
  void add(const Site& site) {
    if (site.line == 0) return;
    const auto place = reinterpret_cast<std::size_t>(site.file) + static_cast<u32>(site.line);
    Site& recent = recent_[place % recent_.size()];
    if (recent.file == site.file && recent.line == site.line) return;
    recent = site;
    reached_.emplace(site.file, site.line);
  }
  void add(const ReachedSteps& others) {
    reached_.insert(others.reached_.begin(), others.reached_.end());
  }

  /// The known steps that were not reached.
  std::vector<KnownStep> missing() const;
  /// How many places were reached that known_steps() does not list: none, or the list is wrong.
  std::size_t nr_unknown() const;

 private:
  bool has(const KnownStep& step) const;

  std::array<Site, 256> recent_{};  // spares the look into the set
  std::set<std::pair<std::string_view, int>> reached_;
};

}  // namespace hvtlb::explore

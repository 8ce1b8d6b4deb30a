// A comparison as one self-contained page with a picture.
#pragma once

#include <string>

#include "report/comparison.h"

namespace hvtlb {

/// Every run as a section: the CPUs reached by each flush, needed or not, before and after, and the
/// totals. No scripts, no links to elsewhere.
std::string compare_html(const std::vector<Comparison>& runs);

}  // namespace hvtlb

// What no mutant touches, precompiled once for all of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <boost/dynamic_bitset.hpp>
#include <cassert>
#include <concepts>
#include <deque>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

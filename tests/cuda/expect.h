// SPDX-License-Identifier: Apache-2.0
//
// Checks of the engines for graphics cards, without a test library: a line each, and a count of those that failed.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>

namespace dfcl::nn::cuda {

inline int failures = 0;

inline void expect(bool holds, const std::string& what) {
  fmt::print("{} {}\n", holds ? "ok  " : "FAIL", what);
  std::fflush(stdout);
  if (!holds) ++failures;
}

inline double relative_distance(std::span<const float> a, std::span<const float> b) {
  double distance = 0.0;
  double length = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    distance += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    length += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(distance / std::max(length, 1e-300));
}

}  // namespace dfcl::nn::cuda

// SPDX-License-Identifier: Apache-2.0
//
// The settings of boosted trees, from the study's [boost]. The defaults are section 8.3 of docs/method.md; leaves and
// bags go by the number of training units, where the study leaves them open (docs/decisions/0146).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dfcl/data/study.h"

namespace dfcl::boost {

inline constexpr std::size_t kMostLeaves = 255;

struct BoostOptions {
  std::size_t trees = 2000;  // at most, of each outcome and bag; growing stops where held-out units gain no more
  std::size_t leaves = 15;   // of a tree, at most
  // Units in a leaf, at least. Counted by their curvature, as a leaf's value is: units whose outcome says little count
  // for less, and the average unit for one.
  std::size_t min_leaf = 100;
  double learning_rate = 0.05;
  double feature_share = 0.7;  // of the features, for each tree; the arm is always among them
  double row_share = 0.8;      // of the units, for each tree
  std::size_t bags = 2;        // models whose predictions are averaged
  std::uint64_t seed = 0;
};

// The study has been checked (data/study_keys.h).
BoostOptions boost_options(const data::Study& study, std::size_t num_training_units, std::uint64_t seed);

}  // namespace dfcl::boost

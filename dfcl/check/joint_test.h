// SPDX-License-Identifier: Apache-2.0
//
// One p-value for "the arms have the same mean in all columns". The statistic compares the arm means in the metric of
// the columns' covariance (Pillai's trace); under random assignment its mean is exact whatever the distribution of the
// columns. Dependent columns are dropped. Time: columns^3 / 3; memory: columns^2.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dfcl::check {

struct JointTest {
  bool run = false;        // false where there are too few draws for the columns
  double statistic = 0.0;  // T = sum_j n_j d_j' S^-1 d_j
  double degrees = 0.0;    // independent columns x (arms - 1)
  std::size_t rank = 0;    // independent columns
  double p = 1.0;
};

// covariance: columns x columns, total over all draws with divisor draws - 1 (upper triangle used). deviations: arms x
// columns, mean of the arm less mean of all draws. counts: draws per arm.
JointTest joint_test(std::span<const double> covariance, std::span<const double> deviations,
                     std::span<const double> counts, std::size_t num_columns);

}  // namespace dfcl::check

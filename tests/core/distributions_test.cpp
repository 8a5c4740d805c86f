// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/distributions.h"

#include <gtest/gtest.h>

namespace dfcl::core {
namespace {

// Expected values from scipy 1.17.1 (norm, t, chi2, f).
TEST(Distributions, AgreeWithAnIndependentImplementation) {
  EXPECT_NEAR(normal_cdf(1.2), 0.8849303297782918, 1e-14);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_two_sided(-2.5), 0.012419330651552265, 1e-15);
  EXPECT_NEAR(student_t_quantile(0.975, 7), 2.364624251592784, 1e-10);
  EXPECT_NEAR(chi_square_upper(9.0, 4), 0.06109948096033269, 1e-13);
  EXPECT_NEAR(chi_square_upper(700.0, 428), 1.9162837994861807e-15, 1e-24);
  EXPECT_NEAR(f_upper(2.5, 3, 20), 0.08884375193768917, 1e-12);
}

}  // namespace
}  // namespace dfcl::core

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/small_system.h"

#include <gtest/gtest.h>

namespace dfcl::core {
namespace {

TEST(SmallSystem, SolvesWhereRowsMustBeExchanged) {
  // 2 y = 4, x + y = 5, x + y + z = 9
  const auto found = solve_system({0, 2, 0, 4, 1, 1, 0, 5, 1, 1, 1, 9}, 3);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ((*found)[0], 3.0);
  EXPECT_DOUBLE_EQ((*found)[1], 2.0);
  EXPECT_DOUBLE_EQ((*found)[2], 4.0);
}

TEST(SmallSystem, TheInverseTimesTheMatrixIsOne) {
  const std::vector<double> matrix{4, 1, 2, 1, 3, 0, 2, 0, 5};
  const auto inverse = inverse_of(matrix, 3);
  ASSERT_TRUE(inverse);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < 3; ++k) sum += (*inverse)[i * 3 + k] * matrix[k * 3 + j];
      EXPECT_NEAR(sum, i == j ? 1.0 : 0.0, 1e-15);
    }
  }
}

TEST(SmallSystem, SingularMatricesAreRefused) {
  EXPECT_FALSE(inverse_of({1, 2, 2, 4}, 2));
  EXPECT_FALSE(solve_system({0, 1}, 1));
}

}  // namespace
}  // namespace dfcl::core

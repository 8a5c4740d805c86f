// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/fast_exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace dfcl::core {
namespace {

TEST(FastExp, StaysWithinItsStatedErrorOverTheWholeRange) {
  double worst = 0.0;
  for (float x = -87.0f; x <= 88.0f; x += 1.0f / 4096.0f) {
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(fast_exp(x)) / exact - 1.0));
  }
  EXPECT_LT(worst, 1.2e-7);
}

TEST(FastExp, StaysWithinItsStatedErrorNearZero) {
  for (float x = 1e-30f; x < 1.0f; x *= 1.01f) {
    for (const float signed_x : {x, -x}) {
      EXPECT_NEAR(static_cast<double>(fast_exp(signed_x)) / std::exp(static_cast<double>(signed_x)), 1.0, 1.2e-7)
          << signed_x;
    }
  }
  EXPECT_EQ(fast_exp(0.0f), 1.0f);
}

TEST(FastExp, GoesToZeroBelowAndStaysFiniteAbove) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {-87.1f, -1000.0f, -1e30f, -infinity}) EXPECT_EQ(fast_exp(x), 0.0f) << x;
  for (const float x : {88.1f, 1000.0f, 1e30f, infinity}) EXPECT_EQ(fast_exp(x), fast_exp(88.0f)) << x;
  EXPECT_TRUE(std::isfinite(fast_exp(88.0f)));
  EXPECT_TRUE(std::isnan(fast_exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST(FastExp, GivesTheSameNumbersInAVectorAsAlone) {
  std::vector<float> in(1003), out(1003);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = -40.0f + 0.07f * static_cast<float>(i);
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = fast_exp(in[i]);
  for (std::size_t i = 0; i < in.size(); ++i) {
    volatile float alone = in[i];
    EXPECT_EQ(out[i], fast_exp(alone));
  }
}

TEST(FastExp, OfADoubleIsTheLibrarys) { EXPECT_EQ(fast_exp(-0.3), std::exp(-0.3)); }

}  // namespace
}  // namespace dfcl::core

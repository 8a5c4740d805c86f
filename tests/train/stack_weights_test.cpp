// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/stack_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"

namespace dfcl::train {
namespace {

using Vector = std::vector<double>;

// H of members whose residuals are `noise` in common and something of their own.
Vector random_products(std::size_t num_members, double noise, std::uint64_t seed) {
  core::RandomStream random(seed, core::stream_purpose("stack weights"), 0);
  constexpr std::size_t kUnits = 400;
  Vector products(num_members * num_members);
  Vector quality(num_members), bias(num_members);
  for (double& value : quality) value = random.uniform() + 0.05;
  for (double& value : bias) value = 0.3 * random.normal();
  for (std::size_t unit = 0; unit < kUnits; ++unit) {
    Vector residual(num_members);
    const double common = noise * random.normal();
    for (std::size_t m = 0; m < num_members; ++m) residual[m] = common + bias[m] + quality[m] * random.normal();
    for (std::size_t m = 0; m < num_members; ++m) {
      for (std::size_t n = 0; n < num_members; ++n)
        products[m * num_members + n] += residual[m] * residual[n] / static_cast<double>(kUnits);
    }
  }
  return products;
}

// The least risk over all weights that are multiples of 1 / steps.
double least_on_grid(const Vector& products, std::size_t num_members, int steps) {
  double least = std::numeric_limits<double>::infinity();
  Vector weights(num_members);
  const auto visit = [&](auto&& self, std::size_t place, int left) -> void {
    if (place + 1 == num_members) {
      weights[place] = static_cast<double>(left) / steps;
      least = std::min(least, stack_risk(products, weights));
      return;
    }
    for (int own = 0; own <= left; ++own) {
      weights[place] = static_cast<double>(own) / steps;
      self(self, place + 1, left - own);
    }
  };
  visit(visit, 0, steps);
  return least;
}

TEST(StackWeights, NoPointOfAFineGridIsBetter) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const std::size_t num_members = 2 + seed % 3;
    const Vector products = random_products(num_members, seed % 2 == 0 ? 3.0 : 0.0, seed);
    const Vector weights = stack_weights(products, num_members);
    EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1.0, 1e-12);
    for (const double weight : weights) EXPECT_GE(weight, 0.0);
    const double found = stack_risk(products, weights);
    const double grid = least_on_grid(products, num_members, num_members == 4 ? 40 : 200);
    EXPECT_LE(found, grid + 1e-12) << "seed " << seed;
    EXPECT_GT(found, grid - 0.01 * grid) << "seed " << seed;
  }
}

TEST(StackWeights, OneMemberHasAllAndTwoThatAreTheSameGoToTheFirst) {
  EXPECT_EQ(stack_weights(Vector{2.0}, 1), Vector{1.0});
  EXPECT_EQ(stack_weights(Vector{2.0, 2.0, 2.0, 2.0}, 2), (Vector{1.0, 0.0}));
}

TEST(StackWeights, AMemberOfPureNoiseGetsNothingBesideAGoodOne) {
  // Residuals: of the good one the noise of the scores; of the other the same and as much again of its own.
  const Vector weights = stack_weights(Vector{1.0, 1.0, 1.0, 2.0}, 2);
  EXPECT_EQ(weights, (Vector{1.0, 0.0}));
}

TEST(StackWeights, TwoGoodMembersWithErrorsOfTheirOwnShare) {
  const Vector weights = stack_weights(Vector{2.0, 1.0, 1.0, 2.0}, 2);
  EXPECT_NEAR(weights[0], 0.5, 1e-12);
  // nu = 1 looks at members alone, nu = 0 at the mixture.
  EXPECT_NEAR(stack_risk(Vector{2.0, 1.0, 1.0, 2.0}, weights, 0.0), 1.5, 1e-12);
  EXPECT_NEAR(stack_risk(Vector{2.0, 1.0, 1.0, 2.0}, weights, 1.0), 2.0, 1e-12);
}

TEST(StackWeights, ErrorsThatAreNotFiniteAreRefused) {
  const double never = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)stack_weights(std::vector<double>{1.0, never, never, 1.0}, 2), core::Error);
  EXPECT_THROW((void)stack_weights(std::vector<double>{std::numeric_limits<double>::infinity()}, 1), core::Error);
}

}  // namespace
}  // namespace dfcl::train

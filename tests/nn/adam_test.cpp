// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dfcl/core/error.h"
#include "tests/nn/reference.h"
#include "tests/nn/reference_adam.h"

namespace dfcl::nn {
namespace {

TEST(AdamTest, seventy_steps_equal_those_of_the_numpy_reference) {
  std::vector<double> parameters = {0.5, -1.0, 2.0};
  AdamState<double> state(3);
  const double push[] = {1.0, -0.2, 0.01};
  for (int step = 0; step < 70; ++step) {
    std::vector<double> gradient(3);
    for (std::size_t i = 0; i < 3; ++i) gradient[i] = push[i] * std::cos(step) + 0.3 * parameters[i];
    adam_step<double>(reference::kAdam, state, gradient, parameters);
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(parameters[i], reference::kAdamAlone[i], 1e-10);
}

TEST(AdamTest, the_rate_warms_up_falls_by_a_cosine_and_stays) {
  const AdamOptions options{.rate = 2.0, .warmup_steps = 4, .total_steps = 24, .final_share = 0.25};
  EXPECT_DOUBLE_EQ(rate_at(options, 0), 0.5);
  EXPECT_DOUBLE_EQ(rate_at(options, 3), 2.0);
  EXPECT_DOUBLE_EQ(rate_at(options, 4), 2.0);
  EXPECT_DOUBLE_EQ(rate_at(options, 14), 2.0 * (0.25 + 0.75 * 0.5));
  EXPECT_DOUBLE_EQ(rate_at(options, 24), 0.5);
  EXPECT_DOUBLE_EQ(rate_at(options, 1000), 0.5);
  EXPECT_DOUBLE_EQ(rate_at({.rate = 2.0}, 1000), 2.0);
}

TEST(AdamTest, clipping_makes_a_step_blind_to_the_length_of_a_long_gradient) {
  const AdamOptions options{.rate = 0.1, .clip_norm = 1.0};
  std::vector<double> one = {0.0, 0.0};
  std::vector<double> two = {0.0, 0.0};
  AdamState<double> state_one(2);
  AdamState<double> state_two(2);
  EXPECT_DOUBLE_EQ(adam_step<double>(options, state_one, std::vector<double>{3.0, 4.0}, one), 5.0);
  adam_step<double>(options, state_two, std::vector<double>{300.0, 400.0}, two);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(state_one.mean[i], state_two.mean[i], 1e-15);
  EXPECT_NEAR(state_one.mean[0], 0.1 * 0.6, 1e-15);
}

TEST(AdamTest, a_gradient_that_is_not_finite_changes_nothing) {
  std::vector<float> parameters = {1.0f, 2.0f};
  AdamState<float> state(2);
  const std::vector<float> gradient = {std::numeric_limits<float>::quiet_NaN(), 1.0f};
  EXPECT_FALSE(std::isfinite(adam_step<float>({}, state, gradient, parameters)));
  EXPECT_EQ(parameters, (std::vector<float>{1.0f, 2.0f}));
  EXPECT_EQ(state.step, 0u);
  EXPECT_EQ(state.mean, std::vector<float>(2, 0.0f));
}

TEST(AdamTest, options_out_of_bounds_are_refused) {
  require_valid(reference::kAdam);
  EXPECT_THROW(require_valid({.rate = 0.0}), core::Error);
  EXPECT_THROW(require_valid({.beta1 = 1.0}), core::Error);
  EXPECT_THROW(require_valid({.weight_decay = -1.0}), core::Error);
}

}  // namespace
}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
//
// A whole training by alpha x Poisson deviance (eq. 4b) + MER (eq. 6) against the same in NumPy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dfcl/loss/policy_loss.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/adam.h"
#include "dfcl/nn/batch_gradient.h"
#include "tests/nn/reference.h"
#include "tests/nn/reference_adam.h"

namespace dfcl::nn {
namespace {

constexpr std::uint32_t kRows = 320;
constexpr std::size_t kInputs = 6;

// graded_data() of reference.py.
struct GradedRows {
  GradedRows() : features(kRows, kInputs) {
    for (std::uint32_t row = 0; row < kRows; ++row) {
      for (std::size_t j = 0; j < kInputs; ++j) {
        const double angle = 0.37 * static_cast<double>(row * (j + 1)) + static_cast<double>(j);
        features(row, j) = static_cast<float>(std::sin(angle));
      }
      const auto x0 = static_cast<double>(features(row, 0));
      const auto x1 = static_cast<double>(features(row, 1));
      const std::uint32_t level = row * 5 % 7 % 3;
      const double orders = std::nearbyint(4.0 * std::max(0.0, 1.0 + x0 + 0.4 * level * (1.0 + x1))) / 4.0;
      arm.push_back(static_cast<std::uint8_t>(level));
      revenue.push_back(static_cast<float>(orders));
      cost.push_back(static_cast<float>(0.25 * level * orders));
      weight.push_back(level == 0 ? 2.5f : level == 1 ? 3.0f : 3.5f);
    }
  }
  TrainingRows rows() const { return {.arm = arm, .revenue = revenue, .cost = cost, .weight = weight}; }

  core::Matrix<float> features;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue, cost, weight;
};

TEST(DecisionTrainingTest, fifty_steps_on_both_losses_equal_those_of_the_numpy_reference) {
  using loss::OutcomeKind;
  const GradedRows data;
  OutcomeNetwork<float> model({.inputs = kInputs,
                               .shared = {8, 5},
                               .revenue = {.num_arms = 3, .kind = OutcomeKind::non_negative},
                               .cost = {.num_arms = 3, .kind = OutcomeKind::non_negative, .control_is_free = true}});
  const auto parameters = model.network().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] = static_cast<float>(0.3 * std::sin(1.3 * static_cast<double>(i) + 0.2));
  }
  const loss::PredictionLoss<float> prediction({OutcomeKind::non_negative, OutcomeKind::non_negative, true, true});
  const loss::PolicyLoss<float> decision(
      {.multipliers = {0.3, 1.1}, .baseline = loss::Baseline::mean, .temperature = 0.25});
  constexpr double kAlpha = 2.0;
  const std::vector<WeightedLoss<float>> losses = {{&prediction, kAlpha}, {&decision, 1.0}};
  BatchGradient<float> engine(model);
  core::RunContext context(2);
  AdamState<float> state(parameters.size());
  std::vector<float> gradient(parameters.size());
  ASSERT_EQ(parameters.size(), std::size(reference::kDecisionParameters));
  for (std::uint32_t step = 0; step < 50; ++step) {
    std::vector<std::uint32_t> batch;
    for (std::uint32_t k = 0; k < 100; ++k) batch.push_back((step * 37 + 7 * k) % kRows);
    const std::vector<double> means =
        engine.compute(context, inputs_from<float>(data.features.view()), data.rows(), batch, losses, {}, gradient);
    EXPECT_NEAR(kAlpha * means[0] + means[1], reference::kDecisionLosses[step], 1e-4) << "step " << step;
    adam_step<float>(reference::kAdam, state, gradient, parameters);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_NEAR(parameters[i], reference::kDecisionParameters[i], 1e-4) << "parameter " << i;
  }
}

}  // namespace
}  // namespace dfcl::nn

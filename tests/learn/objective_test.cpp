// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/objective.h"

#include <gtest/gtest.h>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/loss/prediction_loss.h"

namespace dfcl::learn {
namespace {

constexpr std::size_t kRows = 30;
constexpr std::size_t kArms = 3;
constexpr std::uint64_t kSeed = 11;

// A batch drawn at random.
struct Batch {
  Batch() : revenue(kRows, kArms), cost(kRows, kArms) {
    core::RandomStream random(kSeed, core::stream_purpose("objective test"), 0);
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t j = 0; j < kArms; ++j) {
        revenue(row, j) = static_cast<float>(random.uniform(0.2, 0.8));
        cost(row, j) = static_cast<float>(random.uniform(0.5, 2.0));
      }
      arm.push_back(static_cast<std::uint8_t>(random.below(kArms)));
      seen_revenue.push_back(random.bernoulli(0.5) ? 1.0f : 0.0f);
      seen_cost.push_back(static_cast<float>(random.uniform(0.0, 2.0)));
      weight.push_back(static_cast<float>(random.uniform(2.0, 4.0)));
    }
  }
  loss::Rows<float> rows() const {
    return {.revenue = revenue.view(),
            .cost = cost.view(),
            .arm = arm,
            .observed_revenue = seen_revenue,
            .observed_cost = seen_cost,
            .weight = weight};
  }
  core::Matrix<float> revenue, cost;
  std::vector<std::uint8_t> arm;
  std::vector<float> seen_revenue, seen_cost, weight;
};

struct Slopes {
  Slopes() : revenue(kRows, kArms), cost(kRows, kArms) {
    std::fill_n(revenue.data(), kRows * kArms, 0.0f);
    std::fill_n(cost.data(), kRows * kArms, 0.0f);
  }
  loss::Gradient<float> view() { return {revenue.view(), cost.view()}; }
  core::Matrix<float> revenue, cost;
};

std::unique_ptr<const loss::Loss<float>> prediction() {
  return std::make_unique<loss::PredictionLoss<float>>(
      loss::PredictionOptions{loss::OutcomeKind::binary, loss::OutcomeKind::non_negative});
}

TEST(Objective, AddsTheLossesByTheirWeights) {
  const Batch batch;
  Objective both, first, second;
  const loss::DecisionOptions options{.multipliers = {0.5}};
  first.add(prediction(), 1.0, 1.0);
  second.add(std::make_unique<loss::PolicyLoss<float>>(options), 1.0, 1.0);
  both.add(prediction(), 0.3, 1.0);
  both.add(std::make_unique<loss::PolicyLoss<float>>(options), 2.0, 0.0);
  Slopes of_both, of_first, of_second;
  const double sum = both.add_gradient(batch.rows(), 0.1, of_both.view());
  const double one = first.add_gradient(batch.rows(), 0.1, of_first.view());
  const double two = second.add_gradient(batch.rows(), 0.1, of_second.view());
  EXPECT_NEAR(sum, 0.3 * one + 2.0 * two, 1e-5 * std::abs(sum));
  for (std::size_t i = 0; i < kRows * kArms; ++i) {
    EXPECT_NEAR(of_both.revenue.data()[i], 0.3f * of_first.revenue.data()[i] + 2.0f * of_second.revenue.data()[i],
                1e-5f);
    EXPECT_NEAR(of_both.cost.data()[i], 0.3f * of_first.cost.data()[i] + 2.0f * of_second.cost.data()[i], 1e-5f);
  }
  EXPECT_NEAR(both.value(batch.rows()), one / kRows, 1e-6) << "validation looks at prediction alone";
}

// Second derivatives against differences of the first.
TEST(Objective, TheCurvatureOfPredictionIsThatOfItsGradient) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Batch batch;
  for (const auto kind : {loss::OutcomeKind::real, loss::OutcomeKind::non_negative, loss::OutcomeKind::binary}) {
    Objective objective;
    objective.add(std::make_unique<loss::PredictionLoss<float>>(loss::PredictionOptions{kind, kind}), 1.5, 1.0);
    batch.cost = core::Matrix<float>(kRows, kArms);
    std::copy_n(batch.revenue.data(), kRows * kArms, batch.cost.data());
    Slopes gradient, curvature;
    loss::Gradient<float> bends = curvature.view();
    (void)objective.add_gradient(batch.rows(), 1.0, gradient.view(), &bends);
    constexpr float kStep = 1e-2f;
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::size_t arm = batch.arm[row];
      const auto slope_at = [&](float moved) {
        const float kept = batch.revenue(row, arm);
        batch.revenue(row, arm) = kept + moved;
        Slopes slopes;
        (void)objective.add_gradient(batch.rows(), 1.0, slopes.view());
        batch.revenue(row, arm) = kept;
        return slopes.revenue(row, arm);
      };
      const float expected = (slope_at(kStep) - slope_at(-kStep)) / (2.0f * kStep);
      EXPECT_NEAR(curvature.revenue(row, arm), expected, 0.02f * (1.0f + std::abs(expected)));
      EXPECT_EQ(curvature.revenue(row, (arm + 1) % kArms), 0.0f);
    }
  }
}

TEST(Objective, ALossWithoutCurvatureSaysSo) {
  const Batch batch;
  Objective objective;
  objective.add(std::make_unique<loss::PolicyLoss<float>>(loss::DecisionOptions{.multipliers = {0.5}}), 1.0, 1.0);
  Slopes gradient, curvature;
  loss::Gradient<float> bends = curvature.view();
  EXPECT_THROW((void)objective.add_gradient(batch.rows(), 1.0, gradient.view(), &bends), core::Error);
}

}  // namespace
}  // namespace dfcl::learn

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/batch_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "dfcl/core/random.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/adam.h"
#include "tests/gradient_check.h"
#include "tests/nn/reference.h"
#include "tests/nn/reference_adam.h"

namespace dfcl::nn {
namespace {

using loss::OutcomeKind;

constexpr std::uint64_t kSeed = 21;

struct Sample {
  Sample(std::size_t num_rows, std::size_t inputs, std::size_t num_arms) : features(num_rows, inputs) {
    for (std::size_t row = 0; row < num_rows; ++row) {
      core::RandomStream random(kSeed, core::stream_purpose("batch test"), row);
      for (float& value : features.row(row)) value = static_cast<float>(random.normal());
      arm.push_back(static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(num_arms))));
      const double level = 0.3 * static_cast<double>(arm.back());
      revenue.push_back(static_cast<float>(std::exp(0.4 * features(row, 0)) * (1.0 + level * random.uniform())));
      cost.push_back(static_cast<float>(level * random.uniform()));
      weight.push_back(static_cast<float>(random.uniform(1.0, 4.0)));
    }
  }
  TrainingRows rows() const { return {.arm = arm, .revenue = revenue, .cost = cost, .weight = weight}; }
  std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> rows(arm.size());
    std::iota(rows.begin(), rows.end(), 0u);
    return rows;
  }

  core::Matrix<float> features;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue;
  std::vector<float> cost;
  std::vector<float> weight;
};

OutcomeNetworkOptions heads_options(std::size_t num_arms) {
  return {.inputs = 5,
          .shared = {12},
          .heads = std::vector<std::size_t>{7},
          .revenue = {.num_arms = num_arms, .kind = OutcomeKind::non_negative},
          .cost = {.num_arms = num_arms, .kind = OutcomeKind::non_negative, .control_is_free = true}};
}

OutcomeNetworkOptions trunk_options(std::size_t num_arms) {
  return {.inputs = 5,
          .shared = {12, 8},
          .revenue = {.num_arms = num_arms, .kind = OutcomeKind::non_negative, .arm_shape = ArmShape::concave},
          .cost = {.num_arms = num_arms, .arm_shape = ArmShape::monotone, .non_negative = true}};
}

loss::PredictionOptions loss_options(const OutcomeNetworkOptions& options) {
  return {.revenue = options.revenue.kind, .cost = options.cost.kind};
}

// A loss that is not separable: the square of the mean difference of revenue between its first two arms.
template <class T>
class SquaredMean final : public loss::Loss<T> {
 public:
  std::size_t num_totals() const override { return 2; }
  void add_totals(const loss::Rows<T>& rows, std::span<double> totals) const override {
    for (std::size_t i = 0; i < rows.num_rows(); ++i) totals[0] += difference(rows, i);
    totals[1] += static_cast<double>(rows.num_rows());
  }
  double add_gradient(const loss::Rows<T>& rows, std::span<const double> totals, double scale,
                      loss::Gradient<T> gradient) const override {
    const double mean = totals[0] / totals[1];
    for (std::size_t i = 0; i < rows.num_rows(); ++i) {
      gradient.revenue(i, 1) += static_cast<T>(scale * 2.0 * mean);
      gradient.revenue(i, 0) -= static_cast<T>(scale * 2.0 * mean);
    }
    return static_cast<double>(rows.num_rows()) * mean * mean;
  }

 private:
  static double difference(const loss::Rows<T>& rows, std::size_t i) { return rows.revenue(i, 1) - rows.revenue(i, 0); }
};

TEST(BatchGradientTest, the_whole_equals_symmetric_differences_for_trunk_and_heads) {
  for (const std::size_t num_arms : {2u, 4u}) {
    const Sample sample(300, 5, num_arms);
    for (const OutcomeNetworkOptions& options : {heads_options(num_arms), trunk_options(num_arms)}) {
      for (const bool received_arm_only : {false, true}) {
        OutcomeNetwork<double> model(options);
        model.network().initialise(kSeed);
        const loss::PredictionLoss<double> prediction(loss_options(options));
        const SquaredMean<double> whole;
        std::vector<WeightedLoss<double>> losses = {{&prediction, 0.7}};
        if (!received_arm_only) losses.push_back({&whole, 2.0});
        BatchGradient<double> engine(model);
        core::RunContext context(2);
        std::vector<double> gradient(model.network().num_parameters());
        std::vector<double> scratch(gradient.size());
        const auto value = [&](std::vector<double>& to) {
          const std::vector<double> means =
              engine.compute(context, inputs_from<double>(sample.features.view()), sample.rows(), sample.all(), losses,
                             {received_arm_only}, to);
          return 0.7 * means[0] + (received_arm_only ? 0.0 : 2.0 * means[1]);
        };
        value(gradient);
        expect_gradient(
            model.network().parameters(), gradient, [&] { return value(scratch); }, through_corners(1e-5, 3));
      }
    }
  }
}

TEST(BatchGradientTest, skipping_the_heads_of_other_arms_changes_nothing_but_rounding) {
  const Sample sample(5000, 5, 4);
  const OutcomeNetworkOptions options = heads_options(4);
  OutcomeNetwork<double> model(options);
  model.network().initialise(kSeed);
  const loss::PredictionLoss<double> prediction(loss_options(options));
  const std::vector<WeightedLoss<double>> losses = {{&prediction, 1.0}};
  BatchGradient<double> engine(model);
  core::RunContext context(2);
  std::vector<double> all(model.network().num_parameters());
  std::vector<double> some(all.size());
  const auto inputs = inputs_from<double>(sample.features.view());
  const auto mean_all = engine.compute(context, inputs, sample.rows(), sample.all(), losses, {false}, all);
  const auto mean_some = engine.compute(context, inputs, sample.rows(), sample.all(), losses, {true}, some);
  EXPECT_NEAR(mean_all[0], mean_some[0], 1e-12);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], some[i], 1e-12);
}

TEST(BatchGradientTest, one_two_and_eight_threads_give_the_same_bytes_after_twenty_steps) {
  const Sample sample(9000, 5, 3);
  for (const OutcomeNetworkOptions& options : {heads_options(3), trunk_options(3)}) {
    for (const bool received_arm_only : {false, true}) {
      std::vector<float> expected_gradient;
      std::vector<float> expected;
      for (const int threads : {1, 2, 8}) {
        core::RunContext context(threads);
        OutcomeNetwork<float> model(options);
        model.network().initialise(kSeed);
        const loss::PredictionLoss<float> prediction(loss_options(options));
        const std::vector<WeightedLoss<float>> losses = {{&prediction, 1.0}};
        BatchGradient<float> engine(model);
        AdamState<float> state(model.network().num_parameters());
        std::vector<float> gradient(model.network().num_parameters());
        const std::vector<std::uint32_t> rows = sample.all();
        for (std::size_t step = 0; step < 20; ++step) {
          const auto batch = std::span(rows).subspan(step * 61, 7777);
          engine.compute(context, inputs_from<float>(sample.features.view()), sample.rows(), batch, losses,
                         {received_arm_only}, gradient);
          adam_step<float>({}, state, gradient, model.network().parameters());
        }
        const auto parameters = model.network().parameters();
        if (threads == 1) {
          expected_gradient = gradient;
          expected.assign(parameters.begin(), parameters.end());
        }
        EXPECT_EQ(std::memcmp(gradient.data(), expected_gradient.data(), gradient.size() * sizeof(float)), 0);
        EXPECT_EQ(std::memcmp(parameters.data(), expected.data(), expected.size() * sizeof(float)), 0);
      }
    }
  }
}

TEST(BatchGradientTest, predictions_of_a_row_do_not_depend_on_its_neighbours_or_the_threads) {
  const Sample sample(3000, 5, 3);
  for (const OutcomeNetworkOptions& options : {heads_options(3), trunk_options(3)}) {
    OutcomeNetwork<float> model(options);
    model.network().initialise(kSeed);
    const auto run = [&](int threads, std::size_t first, std::size_t count) {
      core::RunContext context(threads);
      core::Matrix<float> revenue(count, 3);
      core::Matrix<float> cost(count, 3);
      const FillRange<float> fill = [&](std::size_t begin, core::MatrixView<float> inputs) {
        std::copy_n(sample.features.data() + (first + begin) * 5, inputs.size(), inputs.data);
      };
      predict<float>(context, model, count, fill, revenue.view(), cost.view());
      std::vector<float> both(revenue.data(), revenue.data() + count * 3);
      both.insert(both.end(), cost.data(), cost.data() + count * 3);
      return both;
    };
    const std::vector<float> all = run(1, 0, 3000);
    EXPECT_EQ(run(2, 0, 3000), all);
    for (const std::size_t count : {1u, 2u, 255u, 257u, 1000u}) {
      for (const std::size_t first : {0u, 13u, 1999u}) {
        const std::vector<float> part = run(2, first, count);
        EXPECT_EQ(std::memcmp(part.data(), all.data() + first * 3, count * 3 * sizeof(float)), 0);
        EXPECT_EQ(std::memcmp(part.data() + count * 3, all.data() + (3000 + first) * 3, count * 3 * sizeof(float)), 0);
      }
    }
  }
}

TEST(BatchGradientTest, a_small_regression_is_learned) {
  Sample sample(4000, 5, 2);
  for (std::size_t row = 0; row < sample.arm.size(); ++row) {
    const auto x = sample.features.row(row);
    sample.revenue[row] = std::abs(x[0]) + (sample.arm[row] == 1 ? 0.5f * x[1] : 0.0f);
    sample.cost[row] = sample.arm[row] == 1 ? 1.0f + 0.3f * x[2] : 0.0f;
    sample.weight[row] = 2.0f;
  }
  const OutcomeNetworkOptions options{
      .inputs = 5, .shared = {32, 16}, .revenue = {.num_arms = 2}, .cost = {.num_arms = 2, .control_is_free = true}};
  OutcomeNetwork<float> model(options);
  model.network().initialise(kSeed);
  const loss::PredictionLoss<float> prediction(loss_options(options));
  const std::vector<WeightedLoss<float>> losses = {{&prediction, 1.0}};
  BatchGradient<float> engine(model);
  core::RunContext context(2);
  AdamState<float> state(model.network().num_parameters());
  std::vector<float> gradient(model.network().num_parameters());
  const std::vector<std::uint32_t> rows = sample.all();
  double first = 0.0;
  double last = 0.0;
  for (int step = 0; step < 400; ++step) {
    last = engine.compute(context, inputs_from<float>(sample.features.view()), sample.rows(), rows, losses, {},
                          gradient)[0];
    if (step == 0) first = last;
    adam_step<float>({.rate = 1e-2}, state, gradient, model.network().parameters());
  }
  EXPECT_GT(first, 0.5);
  EXPECT_LT(last, 0.01);
}

// The network, data, batches and optimiser of reference.py.
TEST(BatchGradientTest, fifty_steps_of_training_equal_those_of_the_numpy_reference) {
  constexpr std::uint32_t kRows = 320;
  constexpr std::size_t kInputs = 6;
  Sample sample(kRows, kInputs, 2);
  for (std::size_t row = 0; row < kRows; ++row) {
    const auto x = sample.features.row(row);
    for (std::size_t j = 0; j < kInputs; ++j) {
      const double angle = 0.37 * static_cast<double>(row * (j + 1)) + static_cast<double>(j);
      x[j] = static_cast<float>(std::sin(angle));
    }
    const double arm = row * 7 % 5 < 3 ? 1.0 : 0.0;
    const std::vector<double> v(x.begin(), x.end());
    sample.arm[row] = static_cast<std::uint8_t>(arm);
    sample.revenue[row] = static_cast<float>(v[0] + 0.5 * arm * v[1] * v[1] - v[2] * v[3]);
    sample.cost[row] = static_cast<float>(0.3 + 0.4 * arm * (1.0 + v[4]));
    sample.weight[row] = static_cast<float>(arm == 1.0 ? 1.0 / 0.6 : 1.0 / 0.4);
  }
  const OutcomeNetworkOptions options{
      .inputs = kInputs, .shared = {8, 5}, .revenue = {.num_arms = 2}, .cost = {.num_arms = 2}};
  OutcomeNetwork<float> model(options);
  const auto parameters = model.network().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] = static_cast<float>(0.6 * std::sin(1.3 * static_cast<double>(i) + 0.2));
  }
  const loss::PredictionLoss<float> prediction(loss_options(options));
  const std::vector<WeightedLoss<float>> losses = {{&prediction, 1.0}};
  BatchGradient<float> engine(model);
  core::RunContext context(2);
  AdamState<float> state(parameters.size());
  std::vector<float> gradient(parameters.size());
  ASSERT_EQ(parameters.size(), std::size(reference::kParameters));
  for (std::uint32_t step = 0; step < 50; ++step) {
    std::vector<std::uint32_t> batch;
    for (std::uint32_t k = 0; k < 100; ++k) batch.push_back((step * 37 + 7 * k) % kRows);
    const double mean = engine.compute(context, inputs_from<float>(sample.features.view()), sample.rows(), batch,
                                       losses, {}, gradient)[0];
    EXPECT_NEAR(mean, reference::kLosses[step], 1e-4);
    adam_step<float>(reference::kAdam, state, gradient, parameters);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_NEAR(parameters[i], reference::kParameters[i], 1e-4);
}

}  // namespace
}  // namespace dfcl::nn

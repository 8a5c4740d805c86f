// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/table_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/loss/drm_loss.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/table/arm_means.h"
#include "dfcl/nn/table/table_gradient.h"
#include "dfcl/nn/table/table_predictor.h"
#include "tests/gradient_check.h"
#include "tests/nn/table_sample.h"

namespace dfcl::nn {
namespace {

using loss::OutcomeKind;

// A dense network of the same parameters, written from the definition: one unit and one member at a time.
struct DenseUnit {
  std::vector<double> revenue, cost;
};
DenseUnit dense_forward(const TableNetwork<double>& network, const float* features, std::size_t member) {
  const TableEncoding& encoding = network.encoding();
  const TableLayout& layout = network.layout();
  const std::size_t width = network.width();
  const double* p = network.parameters().data();
  std::vector<double> a(p + layout.first_bias, p + layout.first_bias + width);
  for (const TableColumn& column : encoding.columns()) {
    Lookup lookup;
    {
      std::vector<Lookup> all(encoding.num_columns());
      encoding.apply(features, all.data());
      lookup = all[static_cast<std::size_t>(&column - encoding.columns().data())];
    }
    for (std::size_t j = 0; j < width; ++j) {
      const auto value = [&](std::size_t row) { return network.values()[row * width + j]; };
      const double share = static_cast<double>(lookup.share);
      a[j] += (1.0 - share) * value(lookup.row) + (share > 0.0 ? share * value(lookup.row + 1) : 0.0);
    }
  }
  std::vector<double> y(width, 0.0);
  const std::size_t place = member * width;
  for (std::size_t i = 0; i < width; ++i) {
    const double h = std::max(0.0, a[i] * p[layout.scale1 + place + i] + p[layout.bias1 + place + i]);
    for (std::size_t j = 0; j < width; ++j) y[j] += h * p[layout.sign + place + i] * p[layout.second + i * width + j];
  }
  const std::size_t num_outputs = network.num_outputs();
  std::vector<double> raw(num_outputs);
  for (std::size_t output = 0; output < num_outputs; ++output) {
    raw[output] = p[layout.head_bias + member * num_outputs + output];
    for (std::size_t j = 0; j < width; ++j) {
      const double g = std::max(0.0, y[j] * p[layout.scale2 + place + j] + p[layout.bias2 + place + j]);
      raw[output] += g * p[layout.heads + (member * num_outputs + output) * width + j];
    }
  }
  // Revenue: a base and log ratios; cost: control is free, its base an output of its own.
  return {{std::exp(raw[0]), std::exp(raw[0] + raw[1]), std::exp(raw[0] + raw[2])},
          {0.0, std::exp(raw[3] + raw[4]), std::exp(raw[3] + raw[5])}};
}

TEST(TableNetwork, ATileGivesWhatADenseNetworkOfTheSameWeightsWould) {
  const TableSample sample(50);
  TableNetwork<double> network(sample.encoding, small_table_options());
  shake(network, 4);
  TableNetwork<float> single(sample.encoding, small_table_options());
  for (std::size_t i = 0; i < single.parameters().size(); ++i)
    single.parameters()[i] = static_cast<float>(network.parameters()[i]);
  single.refresh();
  const TableRunner runner(single);
  core::RunContext context(2);
  std::size_t seen = 0;
  runner.run(context, single, {sample.values()}, [&](std::size_t first, std::size_t count, TableTile<float>& tile) {
    for (std::size_t row = 0; row < count * 3; ++row) {
      const DenseUnit expected = dense_forward(network, sample.values().row(first + row % count).data(), row / count);
      for (std::size_t arm = 0; arm < 3; ++arm) {
        EXPECT_NEAR(static_cast<double>(tile.revenue()(row, arm)), expected.revenue[arm], 1e-4);
        EXPECT_NEAR(static_cast<double>(tile.cost()(row, arm)), expected.cost[arm], 1e-4);
      }
    }
    seen += count;
  });
  EXPECT_EQ(seen, 50u);
}

struct GradientCase {
  const char* name;
  TableOptions options;
  double dropout;
  bool decides;
};

void check_gradient(const GradientCase& test) {
  SCOPED_TRACE(test.name);
  const TableSample sample(70);
  TableNetwork<double> network(sample.encoding, test.options);
  shake(network, 7);
  TableGradient<double> gradient(network);
  core::RunContext context(1);
  const loss::PredictionLoss<double> prediction({test.options.revenue.kind, test.options.cost.kind});
  const loss::PolicyLoss<double> decision(
      {.multipliers = {0.3, 0.9}, .baseline = loss::Baseline::none, .temperature = 0.5});
  std::vector<WeightedLoss<double>> losses = {{&prediction, 0.7}};
  if (test.decides) losses.push_back({&decision, 1.0});
  const std::vector<std::uint32_t> units = sample.all();
  const StepDropout dropout{test.dropout, 99};
  std::vector<double> slopes(network.layout().size);
  const auto value = [&] {
    network.refresh();
    std::vector<double> unused(network.layout().size);
    const auto means = gradient.compute(context, sample.values(), sample.rows(), units, losses, dropout, unused);
    double sum = 0.0;
    for (std::size_t i = 0; i < losses.size(); ++i) sum += losses[i].weight * means[i];
    return sum;
  };
  gradient.compute(context, sample.values(), sample.rows(), units, losses, dropout, slopes);
  std::vector<double> kept(network.parameters().begin(), network.parameters().end());
  DifferenceOptions options = through_corners(1e-5, 7);
  expect_gradient(network.parameters(), slopes, value, options);
  // Every parameter of the small tensors.
  const TableLayout& layout = network.layout();
  for (const std::size_t begin :
       {layout.first_bias, layout.scale1, layout.bias1, layout.sign, layout.scale2, layout.bias2, layout.head_bias})
    expect_gradient(network.parameters().subspan(begin, test.options.members),
                    std::span<const double>(slopes).subspan(begin, test.options.members), value, through_corners(1e-5));
}

TEST(TableGradient, EqualsSymmetricDifferences) {
  check_gradient({"plain", small_table_options(), 0.0, false});
  check_gradient({"dropout", small_table_options(), 0.25, false});
  check_gradient({"decision", small_table_options(2), 0.25, true});
}

TEST(TableGradient, EqualsSymmetricDifferencesThroughShapedHeads) {
  TableOptions options = small_table_options(2);
  options.revenue = {.num_arms = 3, .kind = OutcomeKind::non_negative, .arm_shape = ArmShape::concave};
  options.cost = {.num_arms = 3, .kind = OutcomeKind::real, .arm_shape = ArmShape::monotone, .non_negative = true};
  check_gradient({"shaped", options, 0.1, false});
}

// Dropped numbers are a share of all, and the kept ones make up for them.
TEST(TableGradient, DropoutLeavesTheMeanAndFollowsItsSeed) {
  constexpr std::size_t kWidth = 256, kRows = 400;
  std::vector<float> in(kRows * kWidth, 1.0f), out(kRows * kWidth), other(kRows * kWidth);
  const std::vector<float> scale(kWidth, 1.0f), bias(kWidth, 0.0f);
  const MemberLayer<float> layer{scale.data(), bias.data(), nullptr};
  member_forward({kRows, kWidth, 0, 1}, {77, 51}, layer, in.data(), out.data());
  double mean = 0.0, zeros = 0.0;
  for (const float value : out) {
    mean += static_cast<double>(value) / static_cast<double>(out.size());
    zeros += value == 0.0f ? 1.0 / static_cast<double>(out.size()) : 0.0;
  }
  EXPECT_NEAR(mean, 1.0, 0.01);
  EXPECT_NEAR(zeros, 51.0 / 256.0, 0.006);
  // A row's numbers follow its number, not its place.
  member_forward({kRows - 3, kWidth, 3, 1}, {77, 51}, layer, in.data(), other.data());
  EXPECT_EQ(std::memcmp(out.data() + 3 * kWidth, other.data(), (kRows - 3) * kWidth * sizeof(float)), 0);
  member_forward({kRows, kWidth, 0, 1}, {78, 51}, layer, in.data(), other.data());
  EXPECT_NE(out, other);
}

TEST(TableGradient, IsTheSameBytesOnAnyNumberOfThreads) {
  const TableSample sample(700);
  TableNetwork<float> network(sample.encoding, small_table_options(8));
  shake(network, 3);
  const loss::PredictionLoss<float> prediction({OutcomeKind::non_negative, OutcomeKind::non_negative});
  const std::vector<WeightedLoss<float>> losses = {{&prediction, 1.0}};
  std::vector<std::vector<float>> gradients;
  std::vector<std::vector<double>> means;
  for (const int threads : {1, 2, 8}) {
    core::RunContext context(threads);
    network.refresh(context);
    TableGradient<float> gradient(network);
    gradients.emplace_back(network.layout().size);
    means.push_back(
        gradient.compute(context, sample.values(), sample.rows(), sample.all(), losses, {0.2, 5}, gradients.back()));
  }
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_EQ(gradients[0], gradients[2]);
  EXPECT_EQ(means[0], means[2]);
}

// A loss of a whole group (eq. 12) is each member's own: with one member's weights in all, it is that member's.
TEST(TableGradient, LossesThatAreNotSeparableAreTheMembersOwn) {
  const TableSample sample(90);
  TableOptions one = small_table_options(1);
  one.revenue = {.num_arms = 2};
  TableOptions two = one;
  two.members = 2;
  TableNetwork<double> single(sample.encoding, one);
  shake(single, 3);
  TableNetwork<double> both(sample.encoding, two);
  for (const Tensor& tensor : both.tensors()) {
    for (const Tensor& from : single.tensors()) {
      if (from.name != tensor.name) continue;
      for (std::size_t i = 0; i < tensor.size(); ++i)
        both.parameters()[tensor.offset + i] = single.parameters()[from.offset + i % from.size()];
    }
  }
  both.refresh();
  const loss::DrmLoss<double> drm(3);
  const std::vector<WeightedLoss<double>> losses = {{&drm, 1.0}};
  core::RunContext context(1);
  std::vector<double> gradient1(single.layout().size), gradient2(both.layout().size);
  const auto mean1 = TableGradient<double>(single).compute(context, sample.values(), sample.rows(), sample.all(),
                                                           losses, {}, gradient1);
  const auto mean2 =
      TableGradient<double>(both).compute(context, sample.values(), sample.rows(), sample.all(), losses, {}, gradient2);
  EXPECT_NEAR(mean1[0], mean2[0], 1e-12);
  for (std::size_t i = 0; i < single.layout().first_bias; ++i) EXPECT_NEAR(gradient1[i], gradient2[i], 1e-12);
}

TEST(TableNetwork, StartsAtTheArmsMeans) {
  const TableSample sample(400);
  data::Arms arms;
  arms.labels = {"0", "1", "2"};
  const std::vector<std::uint32_t> all = sample.all();
  learn::TrainingSet set;
  set.arms = &arms;
  set.arm = sample.arm;
  set.scaled_revenue = sample.revenue;
  set.scaled_cost = sample.cost;
  set.weight = sample.weight;
  set.rows = all;
  std::vector<double> revenue(3), cost(3), weight(3);
  for (std::size_t row = 0; row < 400; ++row) {
    const double share = static_cast<double>(sample.weight[row]);
    revenue[sample.arm[row]] += share * static_cast<double>(sample.revenue[row]);
    cost[sample.arm[row]] += share * static_cast<double>(sample.cost[row]);
    weight[sample.arm[row]] += share;
  }
  TableOptions real = small_table_options();
  real.cost = {.num_arms = 3, .kind = OutcomeKind::real, .non_negative = true};
  for (const TableOptions& options : {small_table_options(), real}) {
    TableNetwork<float> network(sample.encoding, options);
    network.initialise(1);
    start_at_arm_means(set, true, network);
    const TableLayout& layout = network.layout();
    for (std::size_t i = layout.heads; i < layout.head_bias; ++i) network.parameters()[i] = 0.0f;
    network.refresh();
    core::RunContext context(1);
    TableRunner(network).run(
        context, network, {sample.values()}, [&](std::size_t, std::size_t count, TableTile<float>& tile) {
          for (std::size_t row = 0; row < count * 3; ++row) {
            for (std::size_t arm = 0; arm < 3; ++arm) {
              EXPECT_NEAR(static_cast<double>(tile.revenue()(row, arm)), revenue[arm] / weight[arm], 1e-4);
              EXPECT_NEAR(static_cast<double>(tile.cost()(row, arm)), cost[arm] / weight[arm], 1.1e-3);
            }
          }
        });
  }
}

TEST(TablePredictor, AUnitsNumbersDependOnNothingButItsFeatures) {
  const TableSample sample(300);
  TableParts parts{sample.encoding, small_table_options(5), {}, {{0.0, 2.0}, {0.0, 0.5}}};
  TableNetwork<float> network(parts.encoding, parts.options);
  for (const std::uint64_t seed : {1u, 2u}) {
    shake(network, seed);
    parts.networks.emplace_back(network.parameters().begin(), network.parameters().end());
  }
  const TablePredictor predictor(std::move(parts));
  core::Matrix<float> revenue(300, 3), cost(300, 3), some_revenue(7, 3), some_cost(7, 3);
  core::RunContext one(1), eight(8);
  predictor.predict({sample.values()}, {revenue.view(), cost.view()}, eight);
  const std::vector<std::uint32_t> rows = {299, 0, 17, 64, 128, 129, 31};
  predictor.predict({sample.values(), rows}, {some_revenue.view(), some_cost.view()}, one);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      EXPECT_EQ(some_revenue(i, arm), revenue(rows[i], arm));
      EXPECT_EQ(some_cost(i, arm), cost(rows[i], arm));
    }
  }
}

TEST(TableNetwork, SizesOutOfRangeAreRefused) {
  const TableSample sample(50);
  for (const TableOptions& options :
       {TableOptions{.width = 40, .members = 2}, TableOptions{.width = 0}, TableOptions{.members = 0},
        TableOptions{.members = 65}, TableOptions{.width = 2048}}) {
    EXPECT_THROW(TableNetwork<float>(sample.encoding, options), core::Error);
    EXPECT_EQ(num_table_parameters(sample.encoding, options), 0u);
  }
}

}  // namespace
}  // namespace dfcl::nn

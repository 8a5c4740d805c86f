// SPDX-License-Identifier: Apache-2.0
//
// What holds for every decision loss: PL, MER, IFD and IFD-softmax.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include "dfcl/core/error.h"
#include "dfcl/loss/ifd_loss.h"
#include "dfcl/loss/ifd_softmax_loss.h"
#include "dfcl/loss/policy_loss.h"
#include "tests/loss/gradient_check.h"

namespace dfcl::loss {
namespace {

constexpr std::uint64_t kSeed = 31;

enum class Kind { policy, ifd, ifd_softmax };

template <class T>
std::unique_ptr<Loss<T>> make(Kind kind, const DecisionOptions& options) {
  switch (kind) {
    case Kind::policy: return std::make_unique<PolicyLoss<T>>(options);
    case Kind::ifd: return std::make_unique<IfdLoss<T>>(options);
    case Kind::ifd_softmax: return std::make_unique<IfdSoftmaxLoss<T>>(options);
  }
  return nullptr;
}

DecisionOptions some_options() {
  return {.multipliers = {0.0, 0.25, 1.5}, .baseline = Baseline::mean, .temperature = 0.5, .window = 0.5};
}

class DecisionLoss : public testing::TestWithParam<Kind> {
 protected:
  template <class T>
  Result<T> run(const Sample<T>& sample, const DecisionOptions& options) const {
    return result_of(*make<T>(GetParam(), options), sample.rows());
  }
};

// A row that stands for three units is three rows, by every form of the reward.
TEST_P(DecisionLoss, CountsRowsBySampleWeight) {
  for (const Baseline baseline : {Baseline::none, Baseline::mean, Baseline::doubly_robust}) {
    DecisionOptions options = some_options();
    options.baseline = baseline;
    Sample<double> sample = random_sample<double>(kSeed, 70, 4, 4);
    const Result<double> once = run(sample, options);
    const std::vector<float> three(70, 3.0f);
    for (float& weight : sample.weight) weight *= 3.0f;
    Rows<double> rows = sample.rows();
    rows.sample = three;
    const Result<double> thrice = result_of(*make<double>(GetParam(), options), rows);
    EXPECT_NEAR(thrice.value, 3.0 * once.value, 1e-5 * std::abs(once.value));
    for (std::size_t i = 0; i < sample.revenue.view().size(); ++i)
      EXPECT_NEAR(thrice.revenue.data()[i], 3.0 * once.revenue.data()[i], 1e-5);
  }
}

TEST_P(DecisionLoss, IsTheMeanOverItsMultipliers) {
  for (const Baseline baseline : {Baseline::none, Baseline::mean, Baseline::doubly_robust}) {
    DecisionOptions options = some_options();
    options.baseline = baseline;
    const Sample<double> sample = random_sample<double>(kSeed, 40, 4, 4);
    const Result<double> together = run(sample, options);
    double value = 0.0;
    std::vector<double> revenue(sample.revenue.view().size()), cost(revenue.size());
    for (const double multiplier : some_options().multipliers) {
      options.multipliers = {multiplier};
      const Result<double> alone = run(sample, options);
      value += alone.value / 3.0;
      for (std::size_t i = 0; i < revenue.size(); ++i) {
        revenue[i] += alone.revenue.data()[i] / 3.0;
        cost[i] += alone.cost.data()[i] / 3.0;
      }
    }
    EXPECT_NEAR(together.value, value, 1e-12);
    for (std::size_t i = 0; i < revenue.size(); ++i) {
      EXPECT_NEAR(together.revenue.data()[i], revenue[i], 1e-12);
      EXPECT_NEAR(together.cost.data()[i], cost[i], 1e-12);
    }
  }
}

TEST_P(DecisionLoss, MovesCostByMinusTheMultiplierTimesRevenue) {
  DecisionOptions options = some_options();
  options.multipliers = {0.75};
  const Sample<double> sample = random_sample<double>(kSeed, 40, 5, 5);
  const Result<double> result = run(sample, options);
  for (std::size_t i = 0; i < sample.revenue.view().size(); ++i) {
    EXPECT_NEAR(result.cost.data()[i], -0.75 * result.revenue.data()[i], 1e-12);
  }
  options.gradient_to_cost = false;
  const Result<double> revenue_only = run(sample, options);
  EXPECT_EQ(numbers(revenue_only.revenue), numbers(result.revenue));
  EXPECT_EQ(numbers(revenue_only.cost), std::vector<double>(numbers(result.cost).size(), 0.0));
}

TEST_P(DecisionLoss, NeverMovesTheLevelOfAUnitsScores) {
  for (const Baseline baseline : {Baseline::none, Baseline::mean, Baseline::doubly_robust}) {
    DecisionOptions options = some_options();
    options.baseline = baseline;
    const Sample<double> sample = random_sample<double>(kSeed + 1, 60, 6, 6);
    const Result<double> result = run(sample, options);
    for (std::size_t row = 0; row < sample.num_rows(); ++row) {
      const std::span<const double> line = result.revenue.row(row);
      EXPECT_NEAR(std::accumulate(line.begin(), line.end(), 0.0), 0.0, 1e-12);
    }
  }
}

// Exact enumeration over the arm that a unit might have received: neither a baseline nor the doubly robust form changes
// the expected gradient.
TEST_P(DecisionLoss, HasTheSameExpectedGradientUnderEveryBaseline) {
  const std::vector<float> weight = {2.0f, 4.0f, 8.0f, 8.0f};  // probabilities 1/2, 1/4, 1/8, 1/8
  const std::size_t num_arms = weight.size();
  for (std::uint64_t seed = kSeed; seed < kSeed + 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Sample<double> truth = random_sample<double>(seed, num_arms, num_arms, num_arms);  // row j: outcomes of arm j
    const auto expected_gradient = [&](Baseline baseline) {
      DecisionOptions options = some_options();
      options.baseline = baseline;
      options.window = 5.0;
      std::vector<double> sum(2 * num_arms);
      for (std::size_t arm = 0; arm < num_arms; ++arm) {
        Sample<double> unit = random_sample<double>(seed + 1000, 1, num_arms, num_arms);
        unit.arm[0] = static_cast<std::uint8_t>(arm);
        unit.weight[0] = weight[arm];
        unit.observed_revenue[0] = truth.observed_revenue[arm];
        unit.observed_cost[0] = truth.observed_cost[arm];
        const Result<double> result = run(unit, options);
        for (std::size_t j = 0; j < num_arms; ++j) {
          sum[j] += result.revenue(0, j) / static_cast<double>(weight[arm]);
          sum[num_arms + j] += result.cost(0, j) / static_cast<double>(weight[arm]);
        }
      }
      return sum;
    };
    const std::vector<double> none = expected_gradient(Baseline::none);
    const std::vector<double> mean = expected_gradient(Baseline::mean);
    const std::vector<double> robust = expected_gradient(Baseline::doubly_robust);
    double largest = 0.0;
    for (std::size_t i = 0; i < none.size(); ++i) {
      EXPECT_NEAR(mean[i], none[i], 1e-12);
      EXPECT_NEAR(robust[i], none[i], 1e-12);
      largest = std::max(largest, std::abs(none[i]));
    }
    EXPECT_GT(largest, 1e-3);
  }
}

template <class T>
Sample<T> scaled(const Sample<T>& from, std::uint64_t seed, T revenue, T cost) {
  Sample<T> to = random_sample<T>(seed, from.num_rows(), from.num_arms(), from.num_arms());
  for (std::size_t i = 0; i < to.revenue.view().size(); ++i) {
    to.revenue.data()[i] *= revenue;
    to.cost.data()[i] *= cost;
    to.nuisance_revenue.data()[i] *= static_cast<float>(revenue);
    to.nuisance_cost.data()[i] *= static_cast<float>(cost);
  }
  for (std::size_t row = 0; row < to.num_rows(); ++row) {
    to.observed_revenue[row] *= static_cast<float>(revenue);
    to.observed_cost[row] *= static_cast<float>(cost);
  }
  return to;
}

// Revenue in units of half the size, cost in units of an eighth: multipliers scale by 2 / 8, temperature and window by
// 2. Bit for bit. (The window of IFD-softmax is a probability and stays.)
TEST_P(DecisionLoss, IsTheSameInAnotherCurrency) {
  for (const Baseline baseline : {Baseline::none, Baseline::mean, Baseline::doubly_robust}) {
    const Sample<float> sample = random_sample<float>(kSeed, 100, 5, 5);
    const Sample<float> other = scaled<float>(sample, kSeed, 2.0f, 8.0f);
    DecisionOptions options = some_options();
    options.baseline = baseline;
    const Result<float> before = run(sample, options);
    for (double& multiplier : options.multipliers) multiplier *= 2.0 / 8.0;
    options.temperature *= 2.0;
    if (GetParam() != Kind::ifd_softmax) options.window *= 2.0;
    const Result<float> after = run(other, options);
    EXPECT_EQ(after.value, 2.0 * before.value);
    // IFD-softmax: value doubles, s stays, d s / d a halves; the same as the others.
    EXPECT_EQ(numbers(after.revenue), numbers(before.revenue));
    for (std::size_t i = 0; i < before.cost.view().size(); ++i) {
      EXPECT_EQ(after.cost.data()[i], before.cost.data()[i] / 4.0f);
    }
  }
}

TEST_P(DecisionLoss, GivesARowTheSameNumbersInAnyTile) {
  for (const std::size_t num_arms : {1u, 2u, 5u, 11u}) {
    const Sample<float> sample = random_sample<float>(kSeed, 200, num_arms, num_arms);
    DecisionOptions options = some_options();
    options.baseline = Baseline::doubly_robust;
    const auto loss = make<float>(GetParam(), options);
    const Result<float> together = result_of(*loss, sample.rows());
    for (const std::size_t tile : {1u, 37u, 64u, 65u}) {
      for (std::size_t first = 0; first < 200; first += tile) {
        const std::size_t count = std::min<std::size_t>(tile, 200 - first);
        const Result<float> part = result_of(*loss, sample.rows(first, count));
        for (std::size_t i = 0; i < count * num_arms; ++i) {
          ASSERT_EQ(part.revenue.data()[i], together.revenue.data()[first * num_arms + i]);
          ASSERT_EQ(part.cost.data()[i], together.cost.data()[first * num_arms + i]);
        }
      }
    }
  }
}

TEST_P(DecisionLoss, InFloatIsCloseToDouble) {
  for (const bool as_published : {false, true}) {
    const Sample<double> exact = random_sample<double>(kSeed, 300, 5, 5);
    const Sample<float> rough = random_sample<float>(kSeed, 300, 5, 5);
    DecisionOptions options = some_options();
    options.as_published = as_published;
    const Result<double> in_double = run(exact, options);
    const Result<float> in_float = run(rough, options);
    EXPECT_NEAR(in_float.value, in_double.value, 1e-5 * 300);
    for (std::size_t i = 0; i < exact.revenue.view().size(); ++i) {
      EXPECT_NEAR(in_float.revenue.data()[i], in_double.revenue.data()[i], 3e-5);
      EXPECT_NEAR(in_float.cost.data()[i], in_double.cost.data()[i], 3e-5);
    }
  }
}

TEST_P(DecisionLoss, IsFiniteForScoresFarApartAndForTies) {
  Sample<float> sample = random_sample<float>(kSeed, 70, 4, 4);
  for (std::size_t i = 0; i < sample.revenue.view().size(); ++i) sample.revenue.data()[i] *= i % 3 == 0 ? 1e6f : 0.0f;
  std::fill_n(sample.cost.data(), sample.cost.view().size(), 0.0f);
  DecisionOptions options = some_options();
  options.temperature = 0.01;
  const Result<float> result = run(sample, options);
  EXPECT_TRUE(std::isfinite(result.value));
  for (std::size_t i = 0; i < result.revenue.view().size(); ++i) EXPECT_TRUE(std::isfinite(result.revenue.data()[i]));
}

TEST_P(DecisionLoss, RefusesOptionsThatMakeNoSense) {
  const auto refused = [&](auto change) {
    DecisionOptions options = some_options();
    change(options);
    try {
      make<float>(GetParam(), options);
    } catch (const core::Error& error) {
      return error.kind() == core::ErrorKind::usage;
    }
    return false;
  };
  EXPECT_TRUE(refused([](DecisionOptions& options) { options.multipliers.clear(); }));
  EXPECT_TRUE(refused([](DecisionOptions& options) { options.multipliers.push_back(-1.0); }));
  EXPECT_TRUE(refused([](DecisionOptions& options) { options.multipliers.push_back(std::nan("")); }));
  EXPECT_TRUE(refused([](DecisionOptions& options) { options.temperature = 0.0; }));
  EXPECT_TRUE(refused([](DecisionOptions& options) { options.window = -0.1; }));
  EXPECT_TRUE(refused([](DecisionOptions& options) {
    options.as_published = true;
    options.baseline = Baseline::doubly_robust;
  }));
  EXPECT_FALSE(refused([](DecisionOptions&) {}));
}

TEST_P(DecisionLoss, NeedsTheNuisanceForTheDoublyRobustForm) {
  const Sample<float> sample = random_sample<float>(kSeed, 5, 2, 2);
  Rows<float> rows = sample.rows();
  rows.nuisance_cost = {};
  DecisionOptions options = some_options();
  options.baseline = Baseline::doubly_robust;
  const auto loss = make<float>(GetParam(), options);
  EXPECT_THROW(result_of(*loss, rows), core::Error);
}

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  return std::vector<std::string>{"Policy", "Ifd", "IfdSoftmax"}[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Every, DecisionLoss, testing::Values(Kind::policy, Kind::ifd, Kind::ifd_softmax), name_of);

}  // namespace
}  // namespace dfcl::loss

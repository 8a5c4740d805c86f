// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/simulator.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "dfcl/core/distributions.h"
#include "dfcl/core/parallel.h"
#include "dfcl/simulate/arm_totals.h"
#include "dfcl/simulate/batch_sources.h"
#include "tests/simulate/simulated.h"

namespace dfcl::simulate {
namespace {

constexpr std::uint64_t kSeed = 11;

const std::vector<SimulatorOptions> kKinds = {
    {.num_rows = 3000, .seed = kSeed},
    {.response = Response::tree, .num_rows = 2100, .seed = kSeed, .num_days = 3, .noise = 6.0, .imbalance = true},
    {.preset = Preset::criteo, .response = Response::sparse, .num_rows = 5000, .seed = kSeed},
    {.preset = Preset::varied, .response = Response::rules, .num_rows = 3000, .seed = kSeed},
    {.preset = Preset::varied, .response = Response::smooth, .num_rows = 2000, .seed = kSeed, .imbalance = true},
};

void expect_same(const data::Batch& a, const data::Batch& b) {
  ASSERT_EQ(a.num_rows, b.num_rows);
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (std::size_t i = 0; i < a.columns.size(); ++i) EXPECT_TRUE(same_values(a.columns[i], b.columns[i])) << i;
}

// Joins the batches that `part` picks out of chunks made on a pool of threads.
data::Batch made_in_chunks(const Simulator& simulator, std::size_t chunk_rows, int threads,
                           data::Batch SimulatedRows::*part) {
  core::RunContext context(threads);
  std::vector<data::Batch> chunks((simulator.num_rows() + chunk_rows - 1) / chunk_rows);
  const auto make = [&](std::size_t begin, std::size_t end, std::size_t i) {
    chunks[i] = simulator.make_rows(begin, end - begin).*part;
  };
  core::for_each_chunk(context, simulator.num_rows(), chunk_rows, make);
  data::Batch all = std::move(chunks.front());
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    all.num_rows += chunks[i].num_rows;
    for (std::size_t c = 0; c < all.columns.size(); ++c) {
      std::visit(
          [&](auto& whole) {
            const auto& more = std::get<std::decay_t<decltype(whole)>>(chunks[i].columns[c]);
            if constexpr (std::is_same_v<std::decay_t<decltype(whole)>, data::TextColumn>) {
              whole.append(more);
            } else {
              whole.insert(whole.end(), more.begin(), more.end());
            }
          },
          all.columns[c]);
    }
  }
  return all;
}

TEST(Simulator, GivesTheSameRowsForAnyChunksAndThreads) {
  for (const SimulatorOptions& options : kKinds) {
    const Simulator simulator(options);
    const SimulatedRows whole = simulator.make_rows(0, options.num_rows);
    for (const int threads : {1, 2, 8}) {
      for (const std::size_t chunk_rows : {std::size_t{997}, std::size_t{64}}) {
        expect_same(made_in_chunks(simulator, chunk_rows, threads, &SimulatedRows::trial), whole.trial);
        expect_same(made_in_chunks(simulator, chunk_rows, threads, &SimulatedRows::truth), whole.truth);
      }
    }
  }
}

TEST(Simulator, AnotherSeedGivesOtherUnits) {
  SimulatorOptions options{.num_rows = 100, .seed = 1};
  const SimulatedRows one = Simulator(options).make_rows(0, 100);
  options.seed = 2;
  const SimulatedRows two = Simulator(options).make_rows(0, 100);
  EXPECT_FALSE(one.truth.columns[1] == two.truth.columns[1]);
}

TEST(Simulator, AShorterTrialIsTheBeginningOfALongerOne) {
  const Simulator shorter({.num_rows = 50, .seed = kSeed});
  const Simulator longer({.num_rows = 5000, .seed = kSeed});
  expect_same(shorter.make_rows(0, 50).trial, longer.make_rows(0, 50).trial);
}

TEST(Simulator, SourcesStreamTheSameRowsAndRewind) {
  for (const SimulatorOptions& options : kKinds) {
    const Simulator simulator(options);
    const SimulatedRows whole = simulator.make_rows(0, options.num_rows);
    const auto trial = trial_source(simulator, options.num_rows);
    const auto truth = truth_source(simulator, 700);
    EXPECT_EQ(trial->columns(), simulator.trial_columns());
    EXPECT_EQ(truth->columns(), simulator.truth_columns());
    data::Batch batch;
    for (int pass = 0; pass < 2; ++pass) {
      ASSERT_TRUE(trial->next(batch));
      expect_same(batch, whole.trial);
      EXPECT_FALSE(trial->next(batch));
      trial->rewind();
      std::size_t rows = 0;
      while (truth->next(batch)) rows += batch.num_rows;
      EXPECT_EQ(rows, options.num_rows);
      truth->rewind();
    }
  }
}

TEST(Simulator, DrawsTheTrialsOutcomesForTheTrialsArms) {
  for (const SimulatorOptions& options : kKinds) {
    const Simulator simulator(options);
    const SimulatedRows rows = simulator.make_rows(100, 900);
    const DrawnOutcomes drawn = simulator.draw_outcomes(100, simulator.drawn_arms(100, 900));
    for (std::size_t i = 0; i < 900; ++i) {
      const auto at = [&](const std::string& name) {
        return std::visit(
            [&](const auto& numbers) -> double {
              if constexpr (std::is_same_v<std::decay_t<decltype(numbers)>, data::TextColumn>)
                return NAN;
              else
                return static_cast<double>(numbers[i]);
            },
            column(simulator.trial_columns(), rows.trial, name));
      };
      ASSERT_EQ(drawn.revenue[i], at(simulator.roles().revenue));
      ASSERT_EQ(drawn.cost[i], at(simulator.roles().cost));
    }
  }
}

TEST(Simulator, TruthFileHoldsTheExpectedOutcomes) {
  const Simulator simulator({.num_rows = 500, .seed = kSeed});
  const SimulatedRows rows = simulator.make_rows(0, 500);
  const ExpectedOutcomes expected = simulator.expected_outcomes(0, 500);
  for (std::size_t arm = 0; arm < 5; ++arm) {
    const auto& revenue = values<float>(simulator.truth_columns(), rows.truth, "revenue_" + simulator.arms()[arm]);
    const auto& cost = values<float>(simulator.truth_columns(), rows.truth, "cost_" + simulator.arms()[arm]);
    for (std::size_t i = 0; i < 500; ++i) {
      EXPECT_EQ(revenue[i], static_cast<float>(expected.revenue(i, arm)));
      EXPECT_EQ(cost[i], static_cast<float>(expected.cost(i, arm)));
    }
  }
}

double chi_square_p(const Simulator& simulator, const std::vector<ArmTotals>& totals) {
  double statistic = 0.0;
  for (std::size_t arm = 0; arm < totals.size(); ++arm) {
    const double expected = simulator.shares()[arm] * static_cast<double>(simulator.num_rows());
    statistic += std::pow(static_cast<double>(totals[arm].units) - expected, 2) / expected;
  }
  return core::chi_square_upper(statistic, static_cast<double>(totals.size() - 1));
}

TEST(Simulator, DrawsTheDesignedShares) {
  const std::vector<SimulatorOptions> designs = {
      {.num_rows = 30'000, .seed = kSeed},
      {.num_rows = 30'000, .seed = kSeed, .shares = {0.4, 0.3, 0.15, 0.1, 0.05}},
      {.preset = Preset::criteo, .num_rows = 100'000, .seed = kSeed},
      {.preset = Preset::varied, .response = Response::few, .num_rows = 30'000, .seed = kSeed},
  };
  for (const SimulatorOptions& options : designs) {
    const Simulator simulator(options);
    EXPECT_GT(chi_square_p(simulator, totals_of(simulator, simulator.make_rows(0, options.num_rows))), 1e-3);
  }
}

TEST(Simulator, OutcomesMeetTheTruthInEveryArm) {
  for (const Response response : {Response::smooth, Response::tree, Response::sparse}) {
    for (const Preset preset : {Preset::marketing, Preset::criteo}) {
      const Simulator simulator({.preset = preset, .response = response, .num_rows = 20'000, .seed = kSeed});
      const ExpectedOutcomes expected = simulator.expected_outcomes(0, 20'000);
      for (std::uint8_t arm = 0; arm < simulator.arms().size(); ++arm) {
        const DrawnOutcomes drawn = simulator.draw_outcomes(0, std::vector<std::uint8_t>(20'000, arm));
        std::vector<double> revenue_error(20'000);
        std::vector<double> cost_error(20'000);
        for (std::size_t i = 0; i < 20'000; ++i) {
          revenue_error[i] = drawn.revenue[i] - expected.revenue(i, arm);
          cost_error[i] = drawn.cost[i] - expected.cost(i, arm);
        }
        const Moments revenue = moments(revenue_error);
        const Moments cost = moments(cost_error);
        EXPECT_LT(std::fabs(revenue.mean), 4.0 * revenue.standard_error)
            << core::to_word(preset) << " arm " << int{arm};
        EXPECT_LE(std::fabs(cost.mean), 4.0 * cost.standard_error) << core::to_word(preset) << " arm " << int{arm};
      }
    }
  }
}

TEST(Simulator, ImbalanceShowsInTheSharesAndInAFeature) {
  const std::vector<std::pair<Preset, std::string>> leaning = {{Preset::marketing, "reviews_count"},
                                                               {Preset::criteo, "f0"}};
  for (const auto& [preset, feature] : leaning) {
    for (const bool imbalance : {false, true}) {
      const Simulator simulator({.preset = preset, .num_rows = 50'000, .seed = kSeed, .imbalance = imbalance});
      const SimulatedRows rows = simulator.make_rows(0, simulator.num_rows());
      const auto& arms = values<std::int64_t>(simulator.trial_columns(), rows.trial, simulator.roles().arm);
      const auto& sizes = values<float>(simulator.trial_columns(), rows.trial, feature);
      std::array<std::vector<double>, 2> first_and_last;
      const std::int64_t last = std::stoll(simulator.arms().back());
      for (std::size_t i = 0; i < arms.size(); ++i) {
        if (arms[i] == 0 || arms[i] == last) first_and_last[arms[i] == 0 ? 0 : 1].push_back(std::log(1.0 + sizes[i]));
      }
      const Moments control = moments(first_and_last[0]);
      const Moments treated = moments(first_and_last[1]);
      const double z = (treated.mean - control.mean) / std::hypot(treated.standard_error, control.standard_error);
      const double p = chi_square_p(simulator, totals_of(simulator, rows));
      if (imbalance) {
        EXPECT_GT(z, 5.0) << core::to_word(preset);
        EXPECT_LT(p, 1e-3) << core::to_word(preset);
      } else {
        EXPECT_LT(std::fabs(z), 4.0) << core::to_word(preset);
        EXPECT_GT(p, 1e-3) << core::to_word(preset);
      }
    }
  }
}

}  // namespace
}  // namespace dfcl::simulate

// SPDX-License-Identifier: Apache-2.0
//
// Our forest against EconML's CausalForest at the same settings on the same trials (reference.py made reference.json).
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dfcl/core/hash.h"
#include "tests/forest/made_trial.h"

namespace dfcl::forest {
namespace {

constexpr std::size_t kUnits = 6000;
constexpr std::size_t kTestUnits = 2000;
constexpr std::size_t kFeatures = 10;
constexpr std::size_t kArms = 3;

struct KnownTrial {
  MadeTrial trial;
  core::Matrix<double> revenue_effect, cost_effect;
  double check_sum = 0.0;
};

// As make_trial of reference.py, number for number.
KnownTrial known_trial(std::uint64_t number, std::size_t num_units) {
  KnownTrial known{MadeTrial(num_units, kFeatures, kArms), core::Matrix<double>(num_units, kArms),
                   core::Matrix<double>(num_units, kArms)};
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    const auto uniform = [&](std::size_t column) {
      return core::hash_fraction(core::mix_bits(number * 1'000'000'007 + unit * 1'000 + column));
    };
    const auto noise = [&](std::size_t first) {
      return uniform(first) + uniform(first + 1) + uniform(first + 2) - 1.5;
    };
    auto x = known.trial.features.row(unit);
    for (std::size_t i = 0; i < kFeatures; ++i) x[i] = static_cast<float>(2.0 * uniform(i) - 1.0);
    const auto arm = std::min(static_cast<std::size_t>(uniform(kFeatures) * kArms), kArms - 1);
    const double pull = std::max(static_cast<double>(x[0]) + 0.5 * static_cast<double>(x[1]), 0.0);
    const double step = x[2] > 0.0f ? 0.5 : 0.0;
    const double revenue_effect[kArms] = {0.0, pull, 1.5 * pull + step};
    const double cost_effect[kArms] = {0.0, 0.3 + 0.2 * pull, 0.6 + step};
    std::copy_n(revenue_effect, kArms, known.revenue_effect.row(unit).data());
    std::copy_n(cost_effect, kArms, known.cost_effect.row(unit).data());
    const double revenue = static_cast<double>(x[3]) + revenue_effect[arm] + 2.0 * noise(kFeatures + 1);
    const double cost = 0.3 * static_cast<double>(x[4]) + cost_effect[arm] + noise(kFeatures + 4);
    known.check_sum += revenue + cost;
    known.trial.arm[unit] = static_cast<std::uint8_t>(arm);
    known.trial.revenue[unit] = static_cast<float>(revenue);
    known.trial.cost[unit] = static_cast<float>(cost);
    known.trial.base_revenue[unit] = x[3];
    known.trial.base_cost[unit] = static_cast<float>(0.3 * static_cast<double>(x[4]));
  }
  return known;
}

double error_of(const core::Matrix<float>& predicted, const core::Matrix<double>& effect) {
  double squares = 0.0;
  for (std::size_t unit = 0; unit < predicted.rows(); ++unit) {
    for (std::size_t arm = 1; arm < kArms; ++arm) {
      const double found = static_cast<double>(predicted(unit, arm)) - static_cast<double>(predicted(unit, 0));
      squares += std::pow(found - effect(unit, arm), 2);
    }
  }
  return std::sqrt(squares / static_cast<double>(predicted.rows() * (kArms - 1)));
}

TEST(ForestReference, EffectsAreAsGoodAsThoseOfEconMLAtEqualSettings) {
  std::ifstream file(std::filesystem::path(DFCL_SOURCE_DIR) / "tests/forest/reference.json");
  const nlohmann::json reference = nlohmann::json::parse(file);
  const auto& settings = reference.at("settings");
  core::RunContext context(2);
  double ours_revenue = 0.0, ours_cost = 0.0, theirs_revenue = 0.0, theirs_cost = 0.0;
  for (std::size_t number = 0; number < reference.at("trials").size(); ++number) {
    const KnownTrial known = known_trial(number, kUnits);
    const KnownTrial test = known_trial(1000 + number, kTestUnits);
    const auto& figures = reference["trials"][number];
    ASSERT_NEAR(known.check_sum, figures["check_sum"].get<double>(), 1e-6) << "the trial is not the reference's";
    const ForestOptions options{.trees = settings["trees"],
                                .depth = settings["depth"],
                                .min_leaf = settings["leaf"],
                                .min_leaf_per_arm = 2,
                                .mtry = kFeatures,
                                .subsample = settings["subsample"],
                                .seed = number};
    const Forest forest = grow_forest(known.trial.data(), options, context);
    const Predicted found = predicted(forest, test.trial.units(), context);
    ours_revenue += error_of(found.revenue, test.revenue_effect);
    ours_cost += error_of(found.cost, test.cost_effect);
    theirs_revenue += figures["revenue_error"].get<double>();
    theirs_cost += figures["cost_error"].get<double>();
  }
  RecordProperty("revenue_error_ratio", fmt::format("{:.3f}", ours_revenue / theirs_revenue));
  RecordProperty("cost_error_ratio", fmt::format("{:.3f}", ours_cost / theirs_cost));
  fmt::print("error of the effects over EconML's: revenue {:.3f}, cost {:.3f}\n", ours_revenue / theirs_revenue,
             ours_cost / theirs_cost);
  EXPECT_LT(ours_revenue, 1.05 * theirs_revenue);
  EXPECT_LT(ours_cost, 1.05 * theirs_cost);
}

}  // namespace
}  // namespace dfcl::forest

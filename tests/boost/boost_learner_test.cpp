// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/boost_learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/boost/bagged_outcome.h"
#include "dfcl/core/error.h"
#include "made_set.h"

namespace dfcl::boost {
namespace {

using loss::OutcomeKind;

double taste_lift(std::span<const float> x, std::size_t arm) {
  return (1.0 + static_cast<double>(x[0])) * (1.0 + static_cast<double>(arm) * (x[1] > 0.0f ? 0.5 : 0.05));
}
double arm_cost(std::span<const float> x, std::size_t arm) {
  return static_cast<double>(arm) * (0.5 + 0.3 * static_cast<double>(x[2]));
}
MadeSet usual_set(std::size_t num_units = 8000, std::uint64_t seed = 1) {
  return made_set(num_units, 6, 3, seed, taste_lift, arm_cost);
}

TEST(BoostLearner, FindsWhoRespondsToTheArm) {
  const MadeSet made = usual_set(20'000);
  data::Study study = small_study();
  study.boost.trees = 200;
  const learn::Fit fit = fitted(made, study);
  const learn::Predicted found = predicted(*fit.predictor, made);
  double with = 0.0, without = 0.0, num_with = 0.0, num_without = 0.0;
  for (std::size_t unit = 0; unit < made.num_units(); ++unit) {
    const double lift = static_cast<double>(found.revenue(unit, 2)) / static_cast<double>(found.revenue(unit, 0));
    const bool responds = made.features.values(unit, 1) > 0.0f;
    (responds ? with : without) += lift;
    (responds ? num_with : num_without) += 1.0;
  }
  EXPECT_NEAR(with / num_with, 2.0, 0.3);
  EXPECT_NEAR(without / num_without, 1.1, 0.15);
  const std::vector<double> importance = fit.predictor->importance();
  EXPECT_GT(importance[0] + importance[1], 0.8) << "what splits beside the arm are worth";
  EXPECT_NEAR(std::accumulate(importance.begin(), importance.end(), 0.0), 1.0, 1e-5);
  ASSERT_FALSE(fit.record.empty());
  EXPECT_TRUE(fit.record.back().validation_loss.has_value());
}

TEST(BoostLearner, GivesTheSameModelForAnyNumberOfThreads) {
  const MadeSet made = usual_set();
  const learn::Fit one = fitted(made, small_study(), 1);
  EXPECT_TRUE(parts_of(one) == parts_of(fitted(made, small_study(), 2)));
  EXPECT_TRUE(parts_of(one) == parts_of(fitted(made, small_study(), 8)));
  EXPECT_FALSE(parts_of(one) == parts_of(fitted(made, small_study(), 2, 7))) << "another seed";
  const learn::Predicted few = predicted(*one.predictor, made, 1), many = predicted(*one.predictor, made, 5);
  EXPECT_TRUE(std::equal(few.revenue.data(), few.revenue.data() + made.num_units() * 3, many.revenue.data()));
}

TEST(BoostLearner, DoesNotDependOnTheOrderOfTheUnits) {
  MadeSet made = usual_set(4000);
  data::Study study = small_study();
  study.boost.row_share = 1.0;  // which units a tree sees would follow their numbers
  const learn::Fit straight = fitted(made, study);
  std::reverse(made.rows.begin(), made.rows.end());
  std::reverse(made.validation_rows.begin(), made.validation_rows.end());
  EXPECT_TRUE(parts_of(straight).revenue.at(0).trees == parts_of(fitted(made, study)).revenue.at(0).trees);
}

TEST(BoostLearner, AUnitOfWeightTwoIsTwoUnits) {
  MadeSet made = usual_set(3000);
  data::Study study = small_study();
  study.boost.row_share = 1.0;
  study.boost.min_leaf = 1;
  study.boost.trees = 5;
  study.boost.bags = 1;
  MadeSet twice = usual_set(3000);
  made.sample.assign(made.num_units(), 1.0f);
  for (std::size_t place = 0; place < made.rows.size(); place += 3) {
    made.sample[made.rows[place]] = 2.0f;
    twice.rows.push_back(made.rows[place]);
  }
  const Bag heavy = parts_of(fitted(made, study)).revenue.at(0);
  const Bag doubled = parts_of(fitted(twice, study)).revenue.at(0);
  ASSERT_EQ(heavy.trees.size(), doubled.trees.size());
  ASSERT_GT(heavy.trees.size(), 0u);
  // What is counted in average units (ridge, least leaf) changes a little, the splits of the first tree do not.
  EXPECT_TRUE(heavy.trees[0].nodes == doubled.trees[0].nodes);
  for (std::size_t leaf = 0; leaf < heavy.trees[0].values.size(); ++leaf)
    EXPECT_NEAR(heavy.trees[0].values[leaf], doubled.trees[0].values[leaf], 1e-3);
}

// Two arms, one of them given to one unit in a hundred, which weighs accordingly.
MadeSet rare_arm(std::size_t num_units) {
  MadeSet made = made_set(
      num_units, 4, 2, 11, [](auto x, std::size_t) { return 2.0 + static_cast<double>(x[0]); },
      [](auto, std::size_t) { return 1.0; });
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    made.arm[unit] = unit % 100 == 7 ? 1 : 0;
    made.weight[unit] = made.arm[unit] == 1 ? 100.0f : 100.0f / 99.0f;
  }
  return made;
}

TEST(BoostLearner, AFewUnitsOfARareArmMakeNoLeaf) {
  MadeSet made = rare_arm(20'000);
  made.validation_rows.clear();
  for (OutcomeKind kind : {OutcomeKind::real, OutcomeKind::non_negative}) {
    made.facts.revenue.kind = kind;
    data::Study study = small_study();
    study.boost.row_share = 1.0;
    study.boost.trees = 10;
    study.boost.bags = 1;
    study.boost.min_leaf = 160;
    const learn::Fit fit = fitted(made, study);
    const BoostParts& parts = parts_of(fit);
    core::RunContext context(1);
    const BinnedUnits units(parts.bins, made.features.values.view(), made.rows, made.arm, 2, context);
    ASSERT_GT(parts.revenue.at(0).trees.size(), 0u);
    for (const Tree& tree : parts.revenue.at(0).trees) {
      std::vector<double> sums(tree.values.size());
      for (std::size_t unit = 0; unit < units.num_units(); ++unit) {
        const auto leaf = trees::leaf_of(tree.nodes, tree.sets, 0, units.row(unit));
        sums[leaf] += 1.0;
      }
      // A quarter of 160; half of that is sure, since arms are mixed by chance.
      for (const double sum : sums) EXPECT_GE(sum, 20.0);
    }
  }
}

TEST(BoostLearner, AnArmOfOneUnitBeginsAtTheMeanOfAll) {
  MadeSet made = rare_arm(3000);
  for (std::uint32_t unit = 0; unit < made.num_units(); ++unit) made.arm[unit] = unit == 7 ? 1 : 0;
  std::fill(made.revenue.begin(), made.revenue.end(), 1.0f);
  made.weight[7] = 1000.0f;
  made.revenue[7] = 23.0f;
  made.facts.revenue.kind = OutcomeKind::real;
  const std::vector<float> base = parts_of(fitted(made, small_study())).revenue.at(0).base;
  // Ten units of the mean of all, which that unit's weight has moved already, and the one unit.
  EXPECT_LT(base[1], 0.5f * 23.0f);
}

// One arm for nine units in ten, and an outcome of chance alone but for what all arms share.
TEST(BoostLearner, ARareArmDoesNotDecideWhatIsCommonToAllArms) {
  const auto mean = [](std::span<const float> x, std::size_t) { return std::exp(0.5 * static_cast<double>(x[0])); };
  double error = 0.0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    MadeSet made = made_set(8000, 4, 2, seed, mean, mean);
    for (std::uint32_t unit = 0; unit < made.num_units(); ++unit) {
      core::RandomStream random(seed, core::stream_purpose("a rare arm"), unit);
      made.arm[unit] = random.uniform() < 0.05 ? 0 : 1;
      made.weight[unit] = made.arm[unit] == 0 ? 20.0f : 1.0f / 0.95f;
    }
    made.facts.revenue.kind = OutcomeKind::non_negative;
    const learn::Fit fit = fitted(made, small_study());
    const learn::Predicted found = predicted(*fit.predictor, made);
    for (std::uint32_t unit = 0; unit < made.num_units(); ++unit) {
      const double effect = static_cast<double>(found.revenue(unit, 1) - found.revenue(unit, 0));
      error += effect * effect / (3.0 * static_cast<double>(made.num_units()));
    }
  }
  EXPECT_LT(error, 0.004) << "there are no effects";
}

// Where trees show nothing, the means of the arms: an effect that all units share is not lost.
TEST(BoostLearner, OneEffectForAllIsTheDifferenceOfTheMeans) {
  const auto mean = [](std::span<const float>, std::size_t arm) { return arm == 0 ? 1.0 : 1.2; };
  MadeSet made = made_set(3000, 2, 2, 5, mean, mean);
  made.facts.revenue.kind = OutcomeKind::non_negative;
  const learn::Fit fit = fitted(made, small_study());
  const learn::Predicted found = predicted(*fit.predictor, made);
  double effect = 0.0;
  for (std::uint32_t unit = 0; unit < made.num_units(); ++unit)
    effect +=
        static_cast<double>(found.revenue(unit, 1) - found.revenue(unit, 0)) / static_cast<double>(made.num_units());
  EXPECT_NEAR(effect, 0.2, 0.12);
}

TEST(BoostLearner, RisingArmsBeginAtTheirOwnMeansWhereControlIsFree) {
  const auto cost = [](std::span<const float>, std::size_t arm) {
    return arm == 0 ? 0.0 : 1.0 + 2.0 * static_cast<double>(arm);
  };
  MadeSet made = made_set(6000, 3, 3, 2, cost, cost);
  made.facts.cost.arm_shape = learn::ArmShape::monotone;
  made.facts.cost.control_is_free = true;
  const std::vector<float> base = parts_of(fitted(made, small_study())).cost.at(0).base;
  EXPECT_NEAR(base[1], std::log(3.0), 0.05);
  EXPECT_NEAR(base[2], std::log(5.0), 0.05);
  EXPECT_EQ(base[0], base[1]) << "its prediction is 0 whatever it begins at";
  // Arms 1 and 2 the wrong way round: they are pooled, arm 0 keeps its own mean.
  made.facts.cost.control_is_free = false;
  for (std::size_t unit = 0; unit < made.num_units(); ++unit)
    made.cost[unit] = made.arm[unit] == 0 ? 1.0f : made.arm[unit] == 1 ? 4.0f : 3.0f;
  const std::vector<float> pooled = parts_of(fitted(made, small_study())).cost.at(0).base;
  EXPECT_NEAR(pooled[0], 0.0, 0.05);
  EXPECT_EQ(pooled[1], pooled[2]);
  EXPECT_NEAR(pooled[1], std::log(3.5), 0.05);
}

TEST(BoostLearner, PredictionsAddUpToTheOutcomesOfEachArm) {
  const MadeSet made = usual_set(20'000);
  data::Study study = small_study();
  study.boost.min_leaf = 5;
  const learn::Predicted found = predicted(*fitted(made, study).predictor, made);
  for (std::size_t arm = 0; arm < 3; ++arm) {
    double seen = 0.0, expected = 0.0;
    for (const std::uint32_t unit : made.rows) {
      if (made.arm[unit] != arm) continue;
      seen += static_cast<double>(made.revenue[unit]);
      expected += static_cast<double>(found.revenue(unit, arm));
    }
    EXPECT_NEAR(expected / seen, 1.0, 0.02) << "arm " << arm;
  }
}

TEST(BoostLearner, StopsWhereHeldOutUnitsGainNoMore) {
  const auto noise = [](std::span<const float>, std::size_t) { return 1.0; };
  const MadeSet made = made_set(4000, 6, 3, 5, noise, noise);
  data::Study study = small_study();
  study.boost.trees = 1000;
  const learn::Fit fit = fitted(made, study);
  for (const Bag& bag : parts_of(fit).revenue) EXPECT_LT(bag.trees.size(), 20u) << "there is nothing to learn";
  EXPECT_LT(fit.record.back().epoch, 100u);
  const MadeSet rich = usual_set(20'000);
  study.boost.learning_rate = 0.1;
  const learn::Fit learned = fitted(rich, study);
  for (const Bag& bag : parts_of(learned).revenue) EXPECT_GT(bag.trees.size(), 20u);
}

TEST(BoostLearner, ImportanceIsThatOfTheTreesKept) {
  MadeSet made = usual_set(4000);
  made.learns_cost = false;
  data::Study study = small_study();
  study.boost.trees = 1000;
  study.boost.bags = 1;
  const learn::Fit stopped = fitted(made, study);
  const std::size_t kept = parts_of(stopped).num_trees();
  ASSERT_GT(kept, 0u);
  ASSERT_LT(kept, stopped.record.back().epoch) << "some were dropped";
  study.boost.trees = static_cast<std::int64_t>(kept);
  EXPECT_EQ(parts_of(stopped).importance, parts_of(fitted(made, study)).importance);
  BoostParts parts = parts_of(stopped);
  std::fill(parts.importance.begin(), parts.importance.end(), 0.0f);
  EXPECT_TRUE(BoostPredictor(parts).importance().empty()) << "no split depends on the arm";
}

TEST(BoostLearner, HoldsOutWholeClustersWhereNobodyValidates) {
  MadeSet made = usual_set(600);
  made.validation_rows.clear();
  for (std::uint32_t unit = 0; unit < made.num_units(); ++unit) made.cluster.push_back(unit / 4);
  data::Study study = small_study();
  study.boost.trees = 1;
  const learn::Fit fit = fitted(made, study);
  EXPECT_TRUE(fit.record.back().validation_loss.has_value());
  std::size_t num_held = 0, others = 0;
  for (std::uint32_t first = 0; first < 120; first += 4) {
    std::size_t held[2] = {};  // of each bag: units whose outcome does not move the means that it begins at
    for (std::uint32_t unit = first; unit < first + 4; ++unit) {
      made.cost[unit] += 50.0f;
      const learn::Fit changed = fitted(made, study);
      made.cost[unit] -= 50.0f;
      for (std::size_t bag = 0; bag < 2; ++bag)
        held[bag] += parts_of(fit).cost.at(bag).base == parts_of(changed).cost.at(bag).base ? 1 : 0;
    }
    for (const std::size_t units : held) {
      EXPECT_TRUE(units == 0 || units == 4) << units << " units of a cluster";
      num_held += units;
    }
    others += held[0] != held[1] ? 1 : 0;
  }
  EXPECT_GT(num_held, 0u);
  EXPECT_GT(others, 0u) << "each bag holds out its own";
}

TEST(BoostLearner, HalvesThatJudgeLevelsKeepClustersTogether) {
  // Forty levels that mean nothing, each of ten clusters whose treated units have one outcome: where a
  // cluster is in both halves, one half knows what the other will say.
  MadeSet made = usual_set(16'000);
  made.features.columns[1].categorical = true;
  for (std::size_t level = 0; level < 40; ++level) made.features.columns[1].levels.push_back(fmt::format("l{}", level));
  std::vector<std::uint32_t> rows(made.num_units());
  std::iota(rows.begin(), rows.end(), 0u);
  for (std::uint32_t unit = 0; unit < made.num_units(); ++unit) {
    const std::uint32_t cluster = unit / 40;
    core::RandomStream random(3, core::stream_purpose("boost clusters"), cluster);
    made.features.values(unit, 1) = static_cast<float>(cluster % 40);
    made.revenue[unit] = made.arm[unit] == 0 ? 0.0f : static_cast<float>(random.uniform(0.0, 2.0));
    made.cluster.push_back(cluster);
  }
  core::RunContext context(1);
  const auto bins = trees::fit_bins(made.features.columns, made.features.values.view(), rows, 64, context);
  const BinnedUnits units(bins, made.features.values.view(), rows, made.arm, 3, context);
  const auto gain_of_levels = [&](std::vector<std::uint32_t> cluster) {
    BagData data{.observed = made.revenue,
                 .weight = std::vector<float>(made.num_units(), 1.0f),
                 .arm = made.arm,
                 .num_arms = 3,
                 .starts_at_arms = true,
                 .row = rows,
                 .cluster = std::move(cluster)};
    BoostedBag bag(units, std::move(data), {.leaves = 6, .feature_share = 1.0, .row_share = 1.0});
    bag.grow(false, context);
    bag.keep();
    return bag.arm_gains()[1];
  };
  EXPECT_LT(gain_of_levels(made.cluster), 0.5 * gain_of_levels({}));
}

TEST(BoostLearner, BagsOfAnOutcomeStopWhereTheirMeanIsBest) {
  const MadeSet made = usual_set(3000);
  std::vector<std::uint32_t> rows(made.num_units());
  std::iota(rows.begin(), rows.end(), 0u);
  core::RunContext context(1);
  const auto bins = trees::fit_bins(made.features.columns, made.features.values.view(), rows, 64, context);
  const BinnedUnits units(bins, made.features.values.view(), rows, made.arm, 3, context);
  std::vector<BagData> data;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    BagData bag{.kind = OutcomeKind::non_negative,
                .observed = made.revenue,
                .weight = std::vector<float>(made.num_units(), 1.0f),
                .arm = made.arm,
                .num_arms = 3,
                .row = rows,
                .seed = seed};
    for (std::uint32_t unit = 0; unit < 600; ++unit) {  // the third holds out half of what the others do
      bag.weight[unit] = 0.0f;
      if (seed == 3 && unit >= 300) continue;
      bag.held_out.push_back(unit);
      bag.held_weight.push_back(1.0f);
    }
    data.push_back(std::move(bag));
  }
  BaggedOutcome outcome(units, std::move(data), {.trees = 120, .learning_rate = 0.2}, context);
  const auto loss_of_mean = [&] {
    double sum = 0.0;
    for (std::uint32_t unit = 0; unit < 600; ++unit) {
      const std::size_t holders = unit < 300 ? 3 : 2;
      double mean = 0.0;
      for (std::size_t bag = 0; bag < holders; ++bag)
        mean += std::exp(static_cast<double>(outcome.bags()[bag].raw(unit)));
      mean /= static_cast<double>(holders);
      sum += mean - static_cast<double>(made.revenue[unit]) * std::log(mean);
    }
    return sum / 600.0;
  };
  std::vector<double> losses{loss_of_mean()};
  while (!outcome.finished()) {
    bool any_grown = false;
    for (BoostedBag& bag : outcome.bags()) any_grown |= bag.grow(false, context);
    ASSERT_TRUE(any_grown);
    outcome.end_round(any_grown, context);
    losses.push_back(loss_of_mean());
  }
  const auto best = std::min_element(losses.begin(), losses.end());
  EXPECT_LT(losses.size(), 120u) << "it stops";
  EXPECT_GT(losses.back(), *best);
  EXPECT_NEAR(outcome.held_out_loss(), *best, 1e-6 * std::abs(*best));
  for (const Bag& bag : outcome.kept()) EXPECT_EQ(bag.trees.size(), static_cast<std::size_t>(best - losses.begin()));
}

TEST(BoostLearner, MonotonePredictionsRiseWithTheArm) {
  MadeSet made = usual_set(6000);
  made.facts.revenue.arm_shape = learn::ArmShape::monotone;
  made.facts.cost.arm_shape = learn::ArmShape::monotone;
  made.facts.cost.control_is_free = true;
  const learn::Predicted found = predicted(*fitted(made, small_study()).predictor, made);
  for (std::size_t unit = 0; unit < made.num_units(); ++unit) {
    EXPECT_EQ(found.cost(unit, 0), 0.0f);
    for (std::size_t arm = 1; arm < 3; ++arm) {
      EXPECT_GE(found.revenue(unit, arm), found.revenue(unit, arm - 1));
      EXPECT_GE(found.cost(unit, arm), found.cost(unit, arm - 1));
    }
  }
}

TEST(BoostLearner, AFreeControlIsExactlyZeroAndTeachesNothing) {
  MadeSet made = usual_set(6000);
  made.facts.cost.control_is_free = true;
  const learn::Fit fit = fitted(made, small_study());
  for (std::size_t unit = 0; unit < made.num_units(); ++unit) {
    if (made.arm[unit] == 0) made.cost[unit] = 1e6f;
  }
  const learn::Fit other = fitted(made, small_study());
  EXPECT_TRUE(parts_of(fit).cost == parts_of(other).cost);
  const learn::Predicted found = predicted(*fit.predictor, made);
  for (std::size_t unit = 0; unit < made.num_units(); ++unit) EXPECT_EQ(found.cost(unit, 0), 0.0f);
}

TEST(BoostLearner, KnownCostsAreNotLearned) {
  MadeSet made = usual_set(3000);
  made.learns_cost = false;
  const learn::Fit fit = fitted(made, small_study());
  EXPECT_TRUE(parts_of(fit).cost.empty());
  const learn::Predicted found = predicted(*fit.predictor, made);
  EXPECT_EQ(found.cost(7, 1), 0.0f);
}

TEST(BoostLearner, EveryKindOfOutcomeIsLearned) {
  const auto chance = [](std::span<const float> x, std::size_t arm) {
    return 0.2 + 0.3 * (x[0] > 0.0f ? 1.0 : 0.0) + 0.1 * static_cast<double>(arm);
  };
  MadeSet made = made_set(20'000, 4, 2, 3, chance, chance);
  for (float& value : made.revenue) value = std::min(value, 1.0f);
  for (std::size_t unit = 0; unit < made.num_units(); ++unit)
    made.cost[unit] = made.features.values(unit, 0) * 3.0f - 5.0f;
  made.facts.revenue.kind = OutcomeKind::binary;
  made.facts.cost.kind = OutcomeKind::real;
  const learn::Predicted found = predicted(*fitted(made, small_study()).predictor, made);
  double error = 0.0, cost_error = 0.0;
  for (std::size_t unit = 0; unit < made.num_units(); ++unit) {
    const double truth = 1.0 - std::exp(-chance(std::as_const(made.features.values).row(unit), 1));
    error += std::abs(static_cast<double>(found.revenue(unit, 1)) - truth);
    cost_error += std::abs(static_cast<double>(found.cost(unit, 1) - made.cost[unit]));
  }
  EXPECT_LT(error / static_cast<double>(made.num_units()), 0.03);
  EXPECT_LT(cost_error / static_cast<double>(made.num_units()), 0.1);
}

TEST(BoostLearner, OutcomesThatNeverHappenAndHugeOnesGiveNumbers) {
  MadeSet made = usual_set(3000);
  std::fill(made.revenue.begin(), made.revenue.end(), 0.0f);
  for (std::size_t unit = 0; unit < made.num_units(); unit += 97) made.cost[unit] = 1e6f;
  const learn::Fit fit = fitted(made, small_study());
  const learn::Predicted found = predicted(*fit.predictor, made);
  for (std::size_t unit = 0; unit < made.num_units(); ++unit) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      EXPECT_EQ(found.revenue(unit, arm), 0.0f);
      EXPECT_TRUE(std::isfinite(found.cost(unit, arm)));
    }
  }
  made.facts.revenue.kind = OutcomeKind::binary;
  const learn::Predicted never = predicted(*fitted(made, small_study()).predictor, made);
  EXPECT_EQ(never.revenue(5, 1), 0.0f);
  std::fill(made.revenue.begin(), made.revenue.end(), 1.0f);
  const learn::Predicted always = predicted(*fitted(made, small_study()).predictor, made);
  EXPECT_EQ(always.revenue(5, 1), 1.0f);
}

TEST(BoostLearner, MissingValuesAndCategoriesHaveTheirSay) {
  // Revenue is high for every third level of forty, and where x0 is missing.
  MadeSet made = usual_set(20'000);
  made.features.columns[1].categorical = true;
  for (std::size_t level = 0; level < 40; ++level) made.features.columns[1].levels.push_back(fmt::format("l{}", level));
  for (std::uint32_t unit = 0; unit < made.num_units(); ++unit) {
    core::RandomStream random(9, core::stream_purpose("boost categories"), unit);
    const std::uint32_t level = random.below(40);
    made.features.values(unit, 1) = static_cast<float>(level);
    const bool missing = random.below(4) == 0;
    if (missing) made.features.values(unit, 0) = std::nanf("");
    made.revenue[unit] = (level % 3 == 0 ? 4.0f : 1.0f) * (missing ? 2.0f : 1.0f);
  }
  data::Study study = small_study();
  study.boost.trees = 200;
  const learn::Predicted found = predicted(*fitted(made, study).predictor, made);
  for (std::size_t unit = 0; unit < made.num_units(); ++unit)
    EXPECT_NEAR(found.revenue(unit, 0) / made.revenue[unit], 1.0f, 0.1f);
}

TEST(BoostLearner, ArmsWithoutAnOrderAreSplitInAnyWay) {
  // Arms 0 and 2 are alike, 1 is not.
  const auto mean = [](std::span<const float>, std::size_t arm) { return arm == 1 ? 3.0 : 1.0; };
  MadeSet made = made_set(6000, 3, 3, 4, mean, mean);
  made.arms.ordered = false;
  const learn::Predicted found = predicted(*fitted(made, small_study()).predictor, made);
  for (std::size_t unit = 0; unit < made.num_units(); unit += 100) {
    EXPECT_NEAR(found.revenue(unit, 1), 3.0f, 0.4f);
    EXPECT_NEAR(found.revenue(unit, 0), found.revenue(unit, 2), 0.3f);
  }
}

TEST(BoostLearner, FewUnitsGiveTheMeansOfTheArms) {
  const MadeSet made = usual_set(60);
  data::Study study = small_study();
  study.boost.min_leaf = 100;
  const learn::Fit fit = fitted(made, study);
  EXPECT_EQ(parts_of(fit).num_trees(), 0u);
  const learn::Predicted found = predicted(*fit.predictor, made);
  EXPECT_TRUE(std::isfinite(found.revenue(0, 1)));
  EXPECT_EQ(found.revenue(0, 1), found.revenue(50, 1));
}

TEST(BoostLearner, AFinishedFitIsTakenUpAgain) {
  const MadeSet made = usual_set(2000);
  const learn::TrainingSet set = made.set();
  core::RunContext context(2);
  const data::Study study = small_study();
  const auto learner = make_boost_learner({.study = study, .set = set, .steps = {}, .seed = 1}, context);
  std::optional<io::TensorFile> kept;
  learn::Stage stage;
  stage.load = [&] { return kept; };
  stage.save = [&](io::TensorFile file) { kept = std::move(file); };
  const learn::Fit fit = learner->fit(set, learn::Objective(), stage, context);
  ASSERT_TRUE(kept.has_value());
  stage.save = nullptr;
  const learn::Fit again = learner->fit(set, learn::Objective(), stage, context);
  EXPECT_TRUE(parts_of(fit) == parts_of(again));
  EXPECT_EQ(fit.record.size(), again.record.size());
  kept->tensors.pop_back();
  EXPECT_THROW((void)learner->fit(set, learn::Objective(), stage, context), core::Error);
}

TEST(BoostLearner, StopsWhenAskedTo) {
  const MadeSet made = usual_set(2000);
  const std::atomic<bool> cancel = true;
  core::RunContext context(2, 1, nullptr, &cancel);
  const learn::TrainingSet set = made.set();
  core::RunContext making(1);
  const auto learner = make_boost_learner({.study = small_study(), .set = set, .steps = {}, .seed = 1}, making);
  EXPECT_THROW((void)learner->fit(set, learn::Objective(), learn::Stage(), context), core::Error);
}

}  // namespace
}  // namespace dfcl::boost

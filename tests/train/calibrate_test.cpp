// SPDX-License-Identifier: Apache-2.0
//
// A calibration finds a distortion that was put in, leaves exact predictions alone, and finds no slope where effects
// are the same for everyone.
#include "dfcl/train/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dfcl/core/random.h"

namespace dfcl::train {
namespace {

using loss::OutcomeKind;

constexpr std::size_t kArms = 3;

// Units with known expected outcomes, of which each shows one, and predictions made of the truth by `distort`.
struct World {
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue, cost, weight;
  learn::Predicted predicted;
  learn::Predicted truth;

  CalibrationUnits units() const { return {arm, revenue, cost, weight}; }
};

double expected(OutcomeKind kind, double size, double taste, std::size_t arm) {
  const double strength = static_cast<double>(arm) * (0.25 + 0.2 * taste);
  if (kind == OutcomeKind::binary) return 1.0 / (1.0 + std::exp(1.5 - 0.5 * size - strength));
  if (kind == OutcomeKind::non_negative) return std::exp(0.5 + 0.4 * size + 0.5 * strength);
  return -1.0 + size + strength;
}

template <class Distort>
World make_world(OutcomeKind kind, std::size_t num_units, bool equal_effects, Distort&& distort,
                 std::uint64_t seed = 7) {
  World world;
  world.predicted = {core::Matrix<float>(num_units, kArms), core::Matrix<float>(num_units, kArms)};
  world.truth = {core::Matrix<float>(num_units, kArms), core::Matrix<float>(num_units, kArms)};
  const double shares[] = {0.5, 0.3, 0.2};
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream random(seed, core::stream_purpose("calibration world"), unit);
    const double size = random.normal();
    const double taste = random.normal();
    const double u = random.uniform();
    const std::size_t arm = u < 0.5 ? 0 : u < 0.8 ? 1 : 2;
    double means[kArms];
    for (std::size_t j = 0; j < kArms; ++j) means[j] = expected(kind, size, equal_effects ? 0.0 : taste, j);
    if (equal_effects) {
      for (std::size_t j = 1; j < kArms; ++j) means[j] = means[0] + 0.05 * static_cast<double>(j);
    }
    const double mean = means[arm];
    const double seen = kind == OutcomeKind::binary         ? (random.bernoulli(mean) ? 1.0 : 0.0)
                        : kind == OutcomeKind::non_negative ? static_cast<double>(random.poisson(mean))
                                                            : mean + random.normal();
    world.arm.push_back(static_cast<std::uint8_t>(arm));
    world.revenue.push_back(static_cast<float>(seen));
    world.cost.push_back(0.0f);
    world.weight.push_back(static_cast<float>(1.0 / shares[arm]));
    for (std::size_t j = 0; j < kArms; ++j) {
      world.truth.revenue(unit, j) = static_cast<float>(means[j]);
      world.predicted.revenue(unit, j) = static_cast<float>(distort(means, j, taste));
      world.predicted.cost(unit, j) = world.truth.cost(unit, j) = 0.0f;
    }
  }
  return world;
}

learn::Calibration calibration_of(const World& world, OutcomeKind kind, learn::ArmShape shape = {}) {
  core::RunContext context(2);
  learn::Facts facts;
  facts.revenue = {.num_arms = kArms, .kind = kind, .arm_shape = shape};
  facts.cost = {.num_arms = kArms, .kind = OutcomeKind::non_negative};
  return fit_calibration(world.units(), world.predicted, facts, 0, true, context);
}

double mean_of(const core::Matrix<float>& values, std::size_t arm) {
  double sum = 0.0;
  for (std::size_t row = 0; row < values.rows(); ++row) sum += static_cast<double>(values(row, arm));
  return sum / static_cast<double>(values.rows());
}

double root_mean_square(const core::Matrix<float>& a, const core::Matrix<float>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.rows() * a.cols(); ++i)
    sum += std::pow(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]), 2);
  return std::sqrt(sum / static_cast<double>(a.rows() * a.cols()));
}

constexpr OutcomeKind kKinds[] = {OutcomeKind::real, OutcomeKind::non_negative, OutcomeKind::binary};

TEST(Calibrate, LeavesExactPredictionsAlone) {
  for (const OutcomeKind kind : kKinds) {
    World world =
        make_world(kind, 40'000, false, [](const double* means, std::size_t arm, double) { return means[arm]; });
    const learn::Calibration found = calibration_of(world, kind);
    EXPECT_GT(found.revenue.slope, 0.85) << static_cast<int>(kind);
    EXPECT_NEAR(found.revenue.found_slope, 1.0, 4.0 * found.revenue.slope_error);
    const learn::Predicted before{std::move(world.predicted.revenue), std::move(world.predicted.cost)};
    learn::Predicted after{core::Matrix<float>(40'000, kArms), core::Matrix<float>(40'000, kArms)};
    std::copy_n(before.revenue.data(), 40'000 * kArms, after.revenue.data());
    std::copy_n(before.cost.data(), 40'000 * kArms, after.cost.data());
    learn::calibrate(found, 0, {after.revenue.view(), after.cost.view()});
    EXPECT_LT(root_mean_square(after.revenue, before.revenue), 0.03) << static_cast<int>(kind);
  }
}

TEST(Calibrate, FindsLevelsAndASlopeThatWereDistorted) {
  for (const OutcomeKind kind : kKinds) {
    // Effects three times too far from their means, and arms at wrong levels.
    World world = make_world(kind, 60'000, false, [&](const double* means, std::size_t arm, double) {
      const double center = kind == OutcomeKind::binary ? 0.05 : 0.3;
      const double effect = arm == 0 ? 0.0 : center * static_cast<double>(arm);
      const double wild = means[0] + effect + 3.0 * (means[arm] - means[0] - effect);
      if (kind == OutcomeKind::real) return wild + 0.5 * static_cast<double>(arm);
      if (kind == OutcomeKind::binary) return std::min(0.98, std::max(0.02, wild));
      return std::max(0.01, wild) * (1.0 + 0.2 * static_cast<double>(arm));
    });
    const double wrong = root_mean_square(world.predicted.revenue, world.truth.revenue);
    const learn::Calibration found = calibration_of(world, kind);
    EXPECT_LT(found.revenue.slope, 0.75) << static_cast<int>(kind);
    EXPECT_GT(found.revenue.slope, 0.1) << static_cast<int>(kind);
    learn::calibrate(found, 0, {world.predicted.revenue.view(), world.predicted.cost.view()});
    for (std::size_t arm = 0; arm < kArms; ++arm)
      EXPECT_NEAR(mean_of(world.predicted.revenue, arm), mean_of(world.truth.revenue, arm), 0.04)
          << static_cast<int>(kind) << " arm " << arm;
    EXPECT_LT(root_mean_square(world.predicted.revenue, world.truth.revenue), 0.75 * wrong) << static_cast<int>(kind);
  }
}

TEST(Calibrate, EffectsThatAreTooSmallAreStretched) {
  for (const OutcomeKind kind : kKinds) {
    World world = make_world(kind, 60'000, false, [&](const double* means, std::size_t arm, double) {
      const double center = (kind == OutcomeKind::binary ? 0.05 : 0.3) * static_cast<double>(arm);
      return arm == 0 ? means[0] : means[0] + center + 0.5 * (means[arm] - means[0] - center);
    });
    const double wrong = root_mean_square(world.predicted.revenue, world.truth.revenue);
    const learn::Calibration found = calibration_of(world, kind);
    EXPECT_GT(found.revenue.slope, 1.5) << static_cast<int>(kind);
    learn::calibrate(found, 0, {world.predicted.revenue.view(), world.predicted.cost.view()});
    EXPECT_LT(root_mean_square(world.predicted.revenue, world.truth.revenue), 0.5 * wrong) << static_cast<int>(kind);
  }
}

// As boosting with a log link does: effects go with the base where the truth does not, and miss half of what units
// differ in.
TEST(Calibrate, EffectsThatWronglyGoWithTheBaseAreFreedOfIt) {
  const auto distorted = [](const double* means, std::size_t arm, double taste) {
    const double step = static_cast<double>(arm);
    return arm == 0 ? means[0] : means[0] + step * (0.25 + 0.1 * taste + 0.15 * (means[0] + 1.0));
  };
  World world = make_world(OutcomeKind::real, 60'000, false, distorted);  // the truth: step x (0.25 + 0.2 taste)
  const double wrong = root_mean_square(world.predicted.revenue, world.truth.revenue);
  const learn::Calibration found = calibration_of(world, OutcomeKind::real);
  EXPECT_NEAR(found.revenue.slope, 2.0, 0.3);
  EXPECT_LT(found.revenue.base_slope, -0.5);
  learn::calibrate(found, 0, {world.predicted.revenue.view(), world.predicted.cost.view()});
  EXPECT_LT(root_mean_square(world.predicted.revenue, world.truth.revenue), 0.2 * wrong);
}

// Effects that go with the base are much alike to their product with it: of few units the regression finds slopes that
// are far off in opposite directions.
TEST(Calibrate, FewUnitsDoNotTearTheTwoSlopesApart) {
  double most = 0.0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const World world = make_world(
        OutcomeKind::non_negative, 400, false,
        [](const double* means, std::size_t arm, double taste) {
          return means[0] * (1.0 + static_cast<double>(arm) * (0.15 + 0.02 * taste));
        },
        seed);
    const learn::Calibration found = calibration_of(world, OutcomeKind::non_negative);
    if (found.revenue.base_slope != 0.0)
      most = std::max({most, std::abs(found.revenue.base_slope), std::abs(found.revenue.slope - 1.0)});
  }
  EXPECT_GT(most, 0.0);  // some pass the gate by chance
  EXPECT_LT(most, 1.5);
}

TEST(Calibrate, FindsNoSlopeWhereEffectsAreTheSameForEveryone) {
  for (const OutcomeKind kind : {OutcomeKind::real, OutcomeKind::binary}) {
    const World world = make_world(kind, 40'000, true, [](const double* means, std::size_t arm, double taste) {
      return means[arm] + (arm == 0 ? 0.0 : 0.03 * taste);  // a model that sees effects where there are none
    });
    const learn::Calibration found = calibration_of(world, kind);
    EXPECT_NEAR(found.revenue.found_slope, 0.0, 4.0 * found.revenue.slope_error) << static_cast<int>(kind);
    EXPECT_TRUE(found.revenue.found_slope < 4.0 * found.revenue.slope_error);
    EXPECT_GT(found.revenue.slope_error, 0.0);
  }
}

// Units that say next to nothing about the slope leave the model's ranking as it is (decision 115).
TEST(Calibrate, FewNoisyUnitsDoNotMakeAllUnitsAlike) {
  const World world = make_world(
      OutcomeKind::binary, 1'500, true,
      [](const double* means, std::size_t arm, double taste) { return means[arm] + (arm == 0 ? 0.0 : -0.01 * taste); });
  const learn::Calibration found = calibration_of(world, OutcomeKind::binary);
  EXPECT_GT(found.revenue.slope_error, 1.5);
  EXPECT_GT(found.revenue.slope, 0.1);
  // What many units deny goes nearly to nothing, and still ranks.
  const World sure = make_world(
      OutcomeKind::real, 200'000, true,
      [](const double* means, std::size_t arm, double taste) { return means[arm] + (arm == 0 ? 0.0 : -0.1 * taste); });
  EXPECT_LT(calibration_of(sure, OutcomeKind::real).revenue.slope, 0.25);
  EXPECT_GE(calibration_of(sure, OutcomeKind::real).revenue.slope, learn::kLeastSlope);
}

// A fit knows the mean of an arm as surely as its units do: few others move it by their share.
TEST(Calibrate, ValidationUnitsMoveAnArmByTheirShareOfAllUnits) {
  const World world = make_world(OutcomeKind::real, 20'000, false, [](const double* means, std::size_t arm, double) {
    return means[arm] + (arm == 1 ? 0.5 : 0.0);
  });
  core::RunContext context(2);
  learn::Facts facts;
  facts.revenue = {.num_arms = kArms, .kind = OutcomeKind::real};
  facts.cost = {.num_arms = kArms, .kind = OutcomeKind::non_negative};
  CalibrationUnits units = world.units();
  const auto difference = [&] {
    const std::vector<double> shift = fit_calibration(units, world.predicted, facts, 0, true, context).revenue.shift;
    return shift[1] - shift[2];
  };
  const double whole = difference();
  units.num_fitted = 60'000;
  EXPECT_LT(whole, -0.3);
  EXPECT_NEAR(difference(), 0.25 * whole, 1e-9);
}

TEST(Calibrate, PredictionsWithoutDifferencesHaveNoSlopeToFind) {
  const World world = make_world(OutcomeKind::real, 5'000, false,
                                 [](const double*, std::size_t arm, double) { return 0.1 * static_cast<double>(arm); });
  const learn::Calibration found = calibration_of(world, OutcomeKind::real);
  EXPECT_EQ(found.revenue.slope_error, 0.0);
  EXPECT_EQ(found.revenue.slope, 1.0);
  EXPECT_FALSE(found.revenue.is_unsupported());
}

TEST(Calibrate, AShapeOverTheArmsSurvives) {
  World world = make_world(OutcomeKind::non_negative, 20'000, false,
                           [](const double* means, std::size_t arm, double) { return 1.3 * means[arm]; });
  for (std::size_t unit = 0; unit < 20'000; ++unit) {  // as a network of this shape would
    for (std::size_t arm = 1; arm < kArms; ++arm)
      world.predicted.revenue(unit, arm) =
          std::max(world.predicted.revenue(unit, arm), world.predicted.revenue(unit, arm - 1));
  }
  const learn::Calibration found = calibration_of(world, OutcomeKind::non_negative, learn::ArmShape::monotone);
  EXPECT_EQ(found.revenue.shift[0], found.revenue.shift[1]);
  EXPECT_NEAR(found.revenue.shift[0], -std::log(1.3), 0.05);
  learn::calibrate(found, 0, {world.predicted.revenue.view(), world.predicted.cost.view()});
  for (std::size_t unit = 0; unit < 20'000; ++unit) {
    for (std::size_t arm = 1; arm < kArms; ++arm)
      ASSERT_GE(world.predicted.revenue(unit, arm) + 1e-6f, world.predicted.revenue(unit, arm - 1));
  }
}

TEST(Calibrate, ClustersAreTheUnitsOfItsErrors) {
  World world = make_world(OutcomeKind::real, 10'000, false,
                           [](const double* means, std::size_t arm, double) { return means[arm]; });
  core::RunContext context(1);
  learn::Facts facts;
  facts.revenue = {.num_arms = kArms, .kind = OutcomeKind::real};
  facts.cost = {.num_arms = kArms, .kind = OutcomeKind::non_negative};
  const auto error_with = [&](std::size_t copies) {
    // The same units several times over, in clusters with their copies: no more is known than before.
    World many = make_world(OutcomeKind::real, 10'000 * copies, false,
                            [](const double* means, std::size_t arm, double) { return means[arm]; });
    std::vector<std::uint32_t> cluster;
    for (std::uint32_t i = 0; i < 10'000 * copies; ++i) {
      const std::size_t of = i % 10'000;
      cluster.push_back(static_cast<std::uint32_t>(of));
      many.arm[i] = world.arm[of];
      many.revenue[i] = world.revenue[of];
      many.weight[i] = world.weight[of];
      for (std::size_t arm = 0; arm < kArms; ++arm) many.predicted.revenue(i, arm) = world.predicted.revenue(of, arm);
    }
    CalibrationUnits units = many.units();
    units.cluster = cluster;
    return fit_calibration(units, many.predicted, facts, 0, true, context).revenue.slope_error;
  };
  EXPECT_NEAR(error_with(3), error_with(1), 1e-6);
}

TEST(Calibrate, ArmsThatAreOffAlikeAreMovedAlike) {
  const World world =
      make_world(OutcomeKind::non_negative, 20'000, false, [](const double* means, std::size_t arm, double) {
        return means[arm] / (arm == 2 ? 1.252 : 1.25);  // the third differs by less than its mean can tell
      });
  const learn::Calibration found = calibration_of(world, OutcomeKind::non_negative);
  EXPECT_NEAR(found.revenue.shift[0], std::log(1.25), 0.03);
  EXPECT_NEAR(found.revenue.shift[1], found.revenue.shift[0], 1e-9) << "contrasts keep what the predictions say";
  EXPECT_NEAR(found.revenue.shift[2], found.revenue.shift[0], 1e-9);
}

TEST(Calibrate, AnArmWhoseMeanIsKnownExactlyDoesNotSpeakForTheOthers) {
  World world = make_world(OutcomeKind::non_negative, 5000, false,
                           [](const double* means, std::size_t arm, double) { return means[arm]; });
  for (std::size_t unit = 0; unit < world.arm.size(); ++unit) {  // nothing in control, of which a little is predicted
    world.predicted.revenue(unit, 0) = 0.001f;
    if (world.arm[unit] == 0) world.revenue[unit] = 0.0f;
  }
  const learn::Calibration found = calibration_of(world, OutcomeKind::non_negative);
  EXPECT_NEAR(found.revenue.shift[1], 0.0, 0.05);
  EXPECT_NEAR(found.revenue.shift[2], 0.0, 0.05);
}

TEST(Calibrate, AnArmOfOneUnitSaysNothingAboutItsMean) {
  World world = make_world(OutcomeKind::real, 5000, false,
                           [](const double* means, std::size_t arm, double) { return means[arm]; });
  bool kept = false;
  for (std::size_t unit = 0; unit < world.arm.size(); ++unit) {
    if (world.arm[unit] != 2) continue;
    world.arm[unit] = kept ? 1 : 2;
    if (kept) world.revenue[unit] = world.predicted.revenue(unit, 1);
    if (!kept) world.revenue[unit] = 50.0f;
    kept = true;
  }
  const learn::Calibration found = calibration_of(world, OutcomeKind::real);
  EXPECT_NEAR(found.revenue.shift[2], found.revenue.shift[0], 0.1);
}

TEST(Calibrate, KnownCostsAreLeftAlone) {
  const World world = make_world(OutcomeKind::real, 2'000, false,
                                 [](const double* means, std::size_t arm, double) { return means[arm] + 1.0; });
  core::RunContext context(1);
  learn::Facts facts;
  facts.revenue = {.num_arms = kArms, .kind = OutcomeKind::real};
  EXPECT_TRUE(fit_calibration(world.units(), world.predicted, facts, 0, false, context).cost.is_known());
}

}  // namespace
}  // namespace dfcl::train

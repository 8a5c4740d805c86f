// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/inputs/preprocessing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/nn/inputs/signed_log.h"

namespace dfcl::nn {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint64_t kSeed = 5;

// age: plain, price: heavy tail with missing values, constant, city: categories with a pool and missing values.
data::Features some_features(std::size_t rows) {
  data::Features features;
  features.columns = {
      {"age", false, {}}, {"price", false, {}}, {"constant", false, {}}, {"city", true, {"(other)", "Bern", "Ulm"}}};
  features.values = core::Matrix<float>(rows, 4);
  for (std::size_t row = 0; row < rows; ++row) {
    core::RandomStream stream(kSeed, core::stream_purpose("preprocessing_test"), row);
    features.values(row, 0) = static_cast<float>(40.0 + 10.0 * stream.normal());
    features.values(row, 1) = stream.bernoulli(0.1) ? kNaN : static_cast<float>(std::exp(3.0 * stream.normal()));
    features.values(row, 2) = 7.0f;
    features.values(row, 3) = stream.bernoulli(0.05) ? kNaN : static_cast<float>(stream.below(3));
  }
  return features;
}

Preprocessing fit(const data::Features& features, std::span<const std::uint8_t> is_training = {},
                  Scaling scaling = Scaling::standard, int threads = 1) {
  core::RunContext context(threads);
  return fit_preprocessing(features.columns, features.values.view(), is_training, scaling, context);
}

core::Matrix<float> apply(const Preprocessing& preprocessing, core::MatrixView<const float> features) {
  core::Matrix<float> inputs(features.rows, preprocessing.num_inputs());
  preprocessing.apply(features, inputs.view());
  return inputs;
}

std::vector<float> apply_one(const Preprocessing& preprocessing, std::vector<float> row) {
  const core::Matrix<float> inputs = apply(preprocessing, {row.data(), 1, row.size()});
  return {inputs.data(), inputs.data() + inputs.cols()};
}

TEST(SignedLog, IsCloseToTheLibraryEverywhere) {
  double worst = 0.0;
  for (double x = 1e-8; x < 3e38; x *= 1.001) {
    const float value = static_cast<float>(x);
    const double exact = std::log1p(static_cast<double>(value));
    worst = std::max(worst, std::abs(static_cast<double>(signed_log(value)) - exact) / std::max(1.0, exact));
    EXPECT_EQ(signed_log(-value), -signed_log(value));
  }
  EXPECT_LT(worst, 2e-7);
  EXPECT_EQ(signed_log(0.0f), 0.0f);
  EXPECT_TRUE(std::isfinite(signed_log(std::numeric_limits<float>::infinity())));
}

TEST(Preprocessing, NamesItsInputsAndLeavesOutConstants) {
  const data::Features features = some_features(3000);
  const Preprocessing preprocessing = fit(features);
  EXPECT_EQ(preprocessing.names(features.columns),
            (std::vector<std::string>{"age", "price", "price is missing", "city = (other)", "city = Bern", "city = Ulm",
                                      "city is missing"}));
  EXPECT_EQ(preprocessing.num_inputs(), 7u);
}

TEST(Preprocessing, StandardisesPlainColumnsAndTakesTheLogarithmOfHeavyTails) {
  SCOPED_TRACE(kSeed);
  const data::Features features = some_features(20'000);
  const Preprocessing preprocessing = fit(features);
  ASSERT_EQ(preprocessing.numbers().size(), 2u);
  EXPECT_EQ(preprocessing.numbers()[0].log_factor, 0.0f);
  // exp(3 normal) has the geometric mean 1.
  EXPECT_NEAR(preprocessing.numbers()[1].log_factor, 1.0f, 0.1f);
  const core::Matrix<float> inputs = apply(preprocessing, features.values.view());
  for (const std::size_t input : {0u, 1u}) {
    double sum = 0.0, squares = 0.0, count = 0.0;
    for (std::size_t row = 0; row < inputs.rows(); ++row) {
      if (input == 1 && std::isnan(features.values(row, 1))) continue;
      const double value = inputs(row, input);
      sum += value;
      squares += value * value;
      ++count;
    }
    EXPECT_NEAR(sum / count, 0.0, 1e-4);
    EXPECT_NEAR(squares / count, 1.0, 1e-3);
  }
}

TEST(Preprocessing, PutsMissingValuesAtTheMeanAndMarksThem) {
  const Preprocessing preprocessing = fit(some_features(3000));
  const std::vector<float> inputs = apply_one(preprocessing, {kNaN, kNaN, kNaN, kNaN});
  EXPECT_EQ(inputs, (std::vector<float>{0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(apply_one(preprocessing, {kNaN, std::numeric_limits<float>::infinity(), 0, 2})[2], 1.0f);
}

TEST(Preprocessing, GivesLevelsWithoutTrainingRowsTheSharesOfTheOthers) {
  data::Features features = some_features(3000);
  for (std::size_t row = 0; row < 3000; ++row) features.values(row, 3) = row % 4 == 0 ? 1.0f : 2.0f;
  const Preprocessing preprocessing = fit(features);
  ASSERT_EQ(preprocessing.num_inputs(), 5u);
  const auto city = [&](float code) {
    const std::vector<float> inputs = apply_one(preprocessing, {40, 1, 7, code});
    return std::vector<float>{inputs[3], inputs[4]};
  };
  EXPECT_EQ(city(1), (std::vector<float>{1, 0}));
  EXPECT_EQ(city(2), (std::vector<float>{0, 1}));
  for (const float unseen : {0.0f, kNaN, 99.0f, -1.0f}) EXPECT_EQ(city(unseen), (std::vector<float>{0.25f, 0.75f}));
}

TEST(Preprocessing, KeepsWildValuesWithinBounds) {
  for (const Scaling scaling : {Scaling::standard, Scaling::unit_interval}) {
    const Preprocessing preprocessing = fit(some_features(3000), {}, scaling);
    const float most = std::numeric_limits<float>::max();
    for (const float wild : {most, -most, 1e20f, -1e20f, std::numeric_limits<float>::infinity()}) {
      for (const float input : apply_one(preprocessing, {wild, wild, wild, wild}))
        EXPECT_LE(std::abs(input), kMostInput);
    }
  }
}

TEST(Preprocessing, ScalesToTheUnitIntervalOnRequest) {
  const data::Features features = some_features(3000);
  const Preprocessing preprocessing = fit(features, {}, Scaling::unit_interval);
  const core::Matrix<float> inputs = apply(preprocessing, features.values.view());
  float least = 1.0f, most = 0.0f;
  for (std::size_t row = 0; row < inputs.rows(); ++row) {
    least = std::min(least, inputs(row, 0));
    most = std::max(most, inputs(row, 0));
  }
  EXPECT_NEAR(least, 0.0f, 1e-6f);
  EXPECT_NEAR(most, 1.0f, 1e-6f);
  EXPECT_NEAR(apply_one(preprocessing, {kNaN, 1, 7, 1})[0], apply_one(preprocessing, {40, 1, 7, 1})[0], 0.02f);
}

TEST(Preprocessing, LooksAtTrainingRowsOnly) {
  data::Features features = some_features(4000);
  std::vector<std::uint8_t> is_training(4000, 0);
  data::Features half = some_features(2000);
  std::fill_n(is_training.begin(), 2000, std::uint8_t{1});
  for (std::size_t row = 2000; row < 4000; ++row) features.values(row, 0) = 1e9f;
  EXPECT_EQ(fit(features, is_training), fit(half));
  EXPECT_FALSE(fit(features) == fit(half));
}

TEST(Preprocessing, IsTheSameForAnyNumberOfThreadsAndAnyTiles) {
  const data::Features features = some_features(150'000);
  const Preprocessing one = fit(features);
  EXPECT_EQ(fit(features, {}, Scaling::standard, 2), one);
  EXPECT_EQ(fit(features, {}, Scaling::standard, 8), one);
  const core::Matrix<float> whole = apply(one, features.values.view());
  for (const std::size_t tile : {1u, 7u, 256u}) {
    for (std::size_t row = 0; row + tile <= 1000; row += tile) {
      const core::Matrix<float> part = apply(one, features.values.view().slice(row, tile));
      ASSERT_EQ(std::memcmp(part.data(), whole.row(row).data(), tile * whole.cols() * sizeof(float)), 0);
    }
  }
  const std::vector<std::uint32_t> rows = {5, 3, 99'999};
  core::Matrix<float> chosen(3, one.num_inputs());
  one.apply(features.values.view(), rows, chosen.view());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::memcmp(chosen.row(i).data(), whole.row(rows[i]).data(), whole.cols() * sizeof(float)), 0);
  }
}

TEST(Preprocessing, KeepsTheDigitsOfSmallVariationAroundALargeMean) {
  data::Features features;
  features.columns = {{"day", false, {}}};
  features.values = core::Matrix<float>(1000, 1);
  for (std::size_t row = 0; row < 1000; ++row) features.values(row, 0) = 16'000'000.0f + static_cast<float>(row % 2);
  const Preprocessing preprocessing = fit(features);
  EXPECT_NEAR(preprocessing.numbers()[0].factor, 2.0f, 1e-4f);
}

TEST(Preprocessing, SaysWhenThereIsNothingToLearnFrom) {
  data::Features features = some_features(100);
  const std::vector<std::uint8_t> nobody(100, 0);
  EXPECT_THROW(fit(features, nobody), core::Error);
  for (std::size_t row = 0; row < 100; ++row) {
    for (std::size_t feature = 0; feature < 4; ++feature) features.values(row, feature) = 1.0f;
  }
  EXPECT_THROW(fit(features), core::Error);
}

TEST(Preprocessing, RefusesPartsThatDoNotFit) {
  EXPECT_THROW(Preprocessing(2, {{.feature = 2}}, {}, {}), core::Error);
  EXPECT_THROW(Preprocessing(2, {{.feature = 0, .log_factor = 1.0f}, {.feature = 1}}, {}, {}), core::Error);
  EXPECT_THROW(Preprocessing(2, {}, {2}, {}), core::Error);
  EXPECT_THROW(Preprocessing(2, {}, {}, {{0, {0, 1}, {1.0f}}}), core::Error);
  EXPECT_THROW(Preprocessing(2, {}, {}, {{0, {}, {}}}), core::Error);
  EXPECT_THROW(Preprocessing(2, {}, {}, {}), core::Error);
  EXPECT_NO_THROW(Preprocessing(2, {{.feature = 1}}, {1}, {{0, {0, -1}, {1.0f}}}));
}

}  // namespace
}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/outcome_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/nn/network.h"
#include "tests/gradient_check.h"

namespace dfcl::nn {
namespace {

using loss::OutcomeKind;

constexpr std::uint64_t kSeed = 5;
constexpr std::size_t kRows = 9;

std::vector<OutcomeOptions> every_combination() {
  std::vector<OutcomeOptions> all;
  for (std::size_t arms = 2; arms <= 6; ++arms) {
    for (const OutcomeKind kind : {OutcomeKind::real, OutcomeKind::non_negative, OutcomeKind::binary}) {
      for (const ArmShape shape : {ArmShape::plain, ArmShape::monotone, ArmShape::concave}) {
        for (const bool non_negative : {false, true}) {
          for (const bool free : {false, true}) {
            all.push_back({arms, kind, shape, non_negative, free, 0});
            if (shape == ArmShape::plain) all.push_back({arms, kind, shape, non_negative, free, arms - 1});
            if (kind == OutcomeKind::non_negative) all.push_back({arms, kind, shape, non_negative, free, 0, true});
          }
        }
      }
    }
  }
  return all;
}

std::string name_of(const OutcomeOptions& options) {
  return std::to_string(options.num_arms) + " arms, kind " + std::to_string(static_cast<int>(options.kind)) +
         ", shape " + std::to_string(static_cast<int>(options.arm_shape)) +
         (options.non_negative ? ", non-negative" : "") + (options.control_is_free ? ", control is free" : "") +
         ", control " + std::to_string(options.control) + (options.arms_apart ? ", arms apart" : "");
}

// A head with random raw outputs, their predictions, and the loss sum of coefficient x prediction.
struct Case {
  explicit Case(const OutcomeOptions& options, double spread = 1.5)
      : head(options),
        workspace(options.num_arms),
        raw(head.num_outputs() * kRows),
        prediction(kRows, options.num_arms),
        coefficients(kRows, options.num_arms) {
    core::RandomStream random(kSeed, core::stream_purpose("head test"), options.num_arms);
    for (double& value : raw) value = spread * random.normal();
    for (std::size_t i = 0; i < kRows * options.num_arms; ++i) coefficients.data()[i] = random.normal();
    for (std::size_t i = 0; i < head.num_outputs(); ++i) from.push_back(raw.data() + i * kRows);
  }
  double value() {
    head.forward(from, kRows, {}, workspace, prediction.view());
    double sum = 0.0;
    for (std::size_t i = 0; i < prediction.rows() * prediction.cols(); ++i) {
      sum += coefficients.data()[i] * prediction.data()[i];
    }
    return sum;
  }
  std::vector<double> gradient(std::optional<std::size_t> only = {}) {
    std::vector<double> result(raw.size(), 0.0);
    std::vector<double*> to;
    for (std::size_t i = 0; i < head.num_outputs(); ++i) to.push_back(result.data() + i * kRows);
    head.backward(from, kRows, only, prediction.view(), coefficients.view(), workspace, to);
    return result;
  }

  OutcomeHead<double> head;
  HeadWorkspace<double> workspace;
  std::vector<double> raw;
  core::Matrix<double> prediction;
  core::Matrix<double> coefficients;
  std::vector<const double*> from;
};

TEST(OutcomeHeadTest, gradients_equal_symmetric_differences_for_every_combination) {
  for (const OutcomeOptions& options : every_combination()) {
    SCOPED_TRACE(name_of(options));
    Case test(options);
    test.value();
    const std::vector<double> gradient = test.gradient();
    expect_gradient(
        test.raw, gradient, [&] { return test.value(); }, through_corners(2e-6));
  }
}

TEST(OutcomeHeadTest, predictions_keep_what_is_known_about_the_arms) {
  for (const OutcomeOptions& options : every_combination()) {
    SCOPED_TRACE(name_of(options));
    Case test(options, 0.5);  // far from the bound on exponents, where predictions are equal
    test.value();
    const bool positive = options.non_negative || options.kind != OutcomeKind::real;
    for (std::size_t row = 0; row < kRows; ++row) {
      const auto p = test.prediction.row(row);
      if (options.control_is_free) {
        EXPECT_EQ(p[options.control], 0.0);
      }
      for (std::size_t j = 0; j < options.num_arms; ++j) {
        if (options.kind == OutcomeKind::binary) {
          EXPECT_LT(p[j], 1.0);
        }
        if (positive && !(options.control_is_free && j == options.control)) {
          EXPECT_GT(p[j], 0.0);
        }
        if (options.arm_shape != ArmShape::plain && j > 0) {
          EXPECT_GT(p[j], p[j - 1]);
        }
        const auto linear = [&](std::size_t arm) {  // on the scale on which steps fall
          return options.kind == OutcomeKind::binary ? std::log(p[arm] / (1.0 - p[arm])) : p[arm];
        };
        const std::size_t first = options.control_is_free && options.kind == OutcomeKind::binary ? 1 : 0;
        if (options.arm_shape == ArmShape::concave && j >= first + 2) {
          EXPECT_GT(linear(j - 1) - linear(j - 2), linear(j) - linear(j - 1) - 1e-9);
        }
      }
    }
  }
}

TEST(OutcomeHeadTest, one_arm_alone_gives_the_numbers_of_all_arms) {
  for (const OutcomeOptions& options : every_combination()) {
    SCOPED_TRACE(name_of(options));
    for (std::size_t arm = 0; arm < options.num_arms; ++arm) {
      Case all(options);
      for (std::size_t row = 0; row < kRows; ++row) {
        for (std::size_t j = 0; j < options.num_arms; ++j) {
          if (j != arm) all.coefficients(row, j) = 0.0;
        }
      }
      all.value();
      const std::vector<double> expected = all.gradient();
      Case one(options);
      for (std::size_t i = 0; i < kRows * options.num_arms; ++i) {
        one.coefficients.data()[i] = all.coefficients.data()[i];
        one.prediction.data()[i] = 0.0;
      }
      one.head.forward(one.from, kRows, arm, one.workspace, one.prediction.view());
      for (std::size_t row = 0; row < kRows; ++row) EXPECT_EQ(one.prediction(row, arm), all.prediction(row, arm));
      EXPECT_EQ(one.gradient(arm), expected);
      // What is not among the outputs of the arm has no gradient.
      const std::vector<std::size_t> outputs = all.head.outputs_of(arm);
      for (std::size_t i = 0; i < all.head.num_outputs(); ++i) {
        if (std::ranges::find(outputs, i) != outputs.end()) continue;
        for (std::size_t row = 0; row < kRows; ++row) EXPECT_EQ(expected[i * kRows + row], 0.0);
      }
    }
  }
}

TEST(OutcomeHeadTest, a_log_link_is_a_base_and_ratios_or_a_level_for_each_arm) {
  Case test({.num_arms = 3, .kind = OutcomeKind::non_negative});
  test.value();
  EXPECT_DOUBLE_EQ(test.prediction(4, 0), std::exp(test.from[0][4]));
  EXPECT_DOUBLE_EQ(test.prediction(4, 2), std::exp(test.from[0][4] + test.from[2][4]));
  Case apart({.num_arms = 3, .kind = OutcomeKind::non_negative, .control_is_free = true, .arms_apart = true});
  apart.value();
  EXPECT_EQ(apart.head.num_outputs(), 2u);
  EXPECT_EQ(apart.prediction(4, 0), 0.0);
  EXPECT_DOUBLE_EQ(apart.prediction(4, 2), std::exp(apart.from[1][4]));
  Case rising({.num_arms = 3, .kind = OutcomeKind::non_negative, .arm_shape = ArmShape::monotone});
  rising.value();
  const auto step = [&](std::size_t i) { return std::log1p(std::exp(rising.from[i][4])); };
  EXPECT_DOUBLE_EQ(rising.prediction(4, 2), std::exp(rising.from[0][4]) * (1.0 + step(1) + step(2)));
}

TEST(OutcomeHeadTest, predictions_that_ran_away_stay_finite_and_can_come_back) {
  for (const OutcomeOptions& options : every_combination()) {
    SCOPED_TRACE(name_of(options));
    Case test(options, 200.0);
    EXPECT_TRUE(std::isfinite(test.value()));
    for (const double slope : test.gradient()) EXPECT_TRUE(std::isfinite(slope));
  }
  Case test({.num_arms = 2, .kind = OutcomeKind::non_negative}, 0.0);
  std::ranges::fill(test.raw, -100.0);
  test.value();
  EXPECT_NE(test.gradient()[0], 0.0);
}

TEST(OutcomeHeadTest, facts_that_contradict_each_other_are_refused) {
  EXPECT_THROW(
      OutcomeHead<float>({.num_arms = 3, .arm_shape = ArmShape::monotone, .control_is_free = true, .control = 1}),
      core::Error);
  EXPECT_THROW(OutcomeHead<float>({.num_arms = 2, .control = 2}), core::Error);
}

}  // namespace
}  // namespace dfcl::nn

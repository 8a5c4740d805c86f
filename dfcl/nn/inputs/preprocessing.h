// SPDX-License-Identifier: Apache-2.0
//
// From features as they were read to the inputs of a network, fitted on training rows and kept in the model.
//
//   numbers     standardised to mean 0 and standard deviation 1 over the training rows. A column with a value further
//               than kHeavyTail standard deviations from its mean is heavy-tailed and goes through the signed logarithm
//               sign(x) log(1 + |x| / c) first, c the geometric mean of |x| where x is not 0. As an option, the
//               published scaling to [0, 1] by least and largest value, without a logarithm. In the end inputs are kept
//               within -kMostInput and kMostInput, so that no value, however wild, drives the network out of its range.
//   missing     the mean, hence 0 (under the scaling to [0, 1] the scaled mean), and a 0/1 input of its own where
//   training
//               rows miss values. Infinite counts as missing.
//   categories  a 0/1 input for each level that training rows have, the pool and "missing" among them. A level without
//               training rows gets the shares of the levels, which is the mean of the inputs over the training rows.
//   Columns that are constant over the training rows give no input.
//
// Fitting takes two passes over the rows in fixed chunks, sums in float64: the same for any number of threads. Applying
// treats every value alone, so a unit's inputs do not depend on its neighbours; one to two nanoseconds a value, rows in
// any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"

namespace dfcl::nn {

inline constexpr double kHeavyTail = 8.0;
inline constexpr float kMostInput = 8.0f;

enum class Scaling : std::uint8_t { standard = 0, unit_interval = 1 };

// One input made of a column of numbers: clamp((f(x) - center) * factor), f the identity or the signed logarithm.
struct NumberInput {
  std::uint32_t feature = 0;
  float log_factor = 0.0f;  // 1 / c of the signed logarithm; 0: identity
  float center = 0.0f;
  float factor = 1.0f;
  float missing = 0.0f;  // the input of a missing value
  bool operator==(const NumberInput&) const = default;
};

// A column of categories. Code c is input first_input + position[c] where position[c] >= 0, else the shares.
struct CategoryInput {
  std::uint32_t feature = 0;
  std::vector<std::int32_t> position = {};  // one for each level, and last for missing
  std::vector<float> share = {};            // of the training rows, one for each input
  bool operator==(const CategoryInput&) const = default;
};

class Preprocessing {
 public:
  Preprocessing() = default;
  // Throws Error of kind file where the parts do not fit each other: they may come from a file.
  Preprocessing(std::size_t num_features, std::vector<NumberInput> numbers, std::vector<std::uint32_t> indicators,
                std::vector<CategoryInput> categories);

  std::size_t num_features() const { return num_features_; }
  std::size_t num_inputs() const { return num_inputs_; }
  // The order of the inputs: numbers (those without a logarithm first), indicators of missing values, categories.
  const std::vector<NumberInput>& numbers() const { return numbers_; }
  const std::vector<std::uint32_t>& indicators() const { return indicators_; }  // features
  const std::vector<CategoryInput>& categories() const { return categories_; }
  // "price", "price is missing", "city = Ulm".
  std::vector<std::string> names(const std::vector<data::FeatureColumn>& columns) const;

  // rows x features to rows x inputs.
  void apply(core::MatrixView<const float> features, core::MatrixView<float> inputs) const;
  // The same for chosen rows of the features, one for each row of the inputs.
  void apply(core::MatrixView<const float> features, std::span<const std::uint32_t> rows,
             core::MatrixView<float> inputs) const;

  bool operator==(const Preprocessing&) const = default;

 private:
  void apply_row(const float* features, float* inputs) const;

  std::size_t num_features_ = 0;
  std::size_t num_inputs_ = 0;
  std::size_t num_plain_ = 0;  // numbers without a logarithm
  std::vector<NumberInput> numbers_;
  std::vector<std::uint32_t> indicators_;
  std::vector<CategoryInput> categories_;
  // The fields of numbers_ side by side, for loops that the compiler vectorises.
  std::vector<std::uint32_t> feature_;
  std::vector<float> log_factor_, center_, factor_, missing_;
};

// The place of a category in CategoryInput::position: its code, or num_levels where it is missing. Codes that no reader
// makes count as the pool.
std::size_t category_code(float value, std::size_t num_levels);

// values: units x features. is_training: one byte a unit, 0 leaves the unit out; empty takes all. Throws Error of kind
// data where there are no such units or no column varies among them.
Preprocessing fit_preprocessing(const std::vector<data::FeatureColumn>& columns, core::MatrixView<const float> values,
                                std::span<const std::uint8_t> is_training, Scaling scaling, core::RunContext& context);

}  // namespace dfcl::nn

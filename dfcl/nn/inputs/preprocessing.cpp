// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/inputs/preprocessing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/core/for_each_processor.h"
#include "dfcl/nn/inputs/signed_log.h"

namespace dfcl::nn {
namespace {

void require(bool good, const char* what) {
  if (!good)
    throw core::Error(
        {.kind = core::ErrorKind::file, .what = fmt::format("preprocessing that makes no sense: {}", what)});
}

// False for NaN and infinity. Unlike std::isfinite it vectorises.
DFCL_INLINE bool is_finite(float value) { return std::abs(value) <= std::numeric_limits<float>::max(); }

// The input made of a raw value, `value` being it or its logarithm.
DFCL_INLINE float finished(float raw, float value, float center, float factor, float missing) {
  const float scaled = (value - center) * factor;
  const float low = scaled < -kMostInput ? -kMostInput : scaled;
  const float kept = low > kMostInput ? kMostInput : low;
  return is_finite(raw) ? kept : missing;
}

}  // namespace

Preprocessing::Preprocessing(std::size_t num_features, std::vector<NumberInput> numbers,
                             std::vector<std::uint32_t> indicators, std::vector<CategoryInput> categories)
    : num_features_(num_features),
      numbers_(std::move(numbers)),
      indicators_(std::move(indicators)),
      categories_(std::move(categories)) {
  for (const NumberInput& number : numbers_) {
    require(number.feature < num_features, "a number of no feature");
    require(number.log_factor >= 0.0f, "a negative factor of a logarithm");
    if (number.log_factor == 0.0f) require(num_plain_++ == log_factor_.size(), "numbers out of order");
    log_factor_.push_back(number.log_factor);
    feature_.push_back(number.feature);
    center_.push_back(number.center);
    factor_.push_back(number.factor);
    missing_.push_back(number.missing);
  }
  for (const std::uint32_t feature : indicators_) require(feature < num_features, "an indicator of no feature");
  num_inputs_ = numbers_.size() + indicators_.size();
  for (const CategoryInput& category : categories_) {
    require(category.feature < num_features, "a category of no feature");
    require(!category.position.empty() && !category.share.empty(), "a category without levels");
    const auto most = static_cast<std::int32_t>(category.share.size());
    for (const std::int32_t position : category.position)
      require(position >= -1 && position < most, "a level out of place");
    num_inputs_ += category.share.size();
  }
  require(num_inputs_ > 0, "no inputs");
}

std::vector<std::string> Preprocessing::names(const std::vector<data::FeatureColumn>& columns) const {
  std::vector<std::string> names;
  for (const NumberInput& number : numbers_) names.push_back(columns[number.feature].name);
  for (const std::uint32_t feature : indicators_) names.push_back(columns[feature].name + " is missing");
  for (const CategoryInput& category : categories_) {
    const data::FeatureColumn& column = columns[category.feature];
    const std::size_t first = names.size();
    names.resize(first + category.share.size());
    for (std::size_t code = 0; code < category.position.size(); ++code) {
      if (category.position[code] < 0) continue;
      names[first + static_cast<std::size_t>(category.position[code])] =
          code < column.levels.size() ? fmt::format("{} = {}", column.name, column.levels[code])
                                      : column.name + " is missing";
    }
  }
  return names;
}

std::size_t category_code(float value, std::size_t num_levels) {
  if (!is_finite(value)) return num_levels;
  return value >= 0.0f && value < static_cast<float>(num_levels) ? static_cast<std::size_t>(value) : 0;
}

DFCL_FOR_EACH_PROCESSOR void Preprocessing::apply_row(const float* features, float* inputs) const {
  const std::size_t num_numbers = numbers_.size();
  const std::uint32_t* const source = feature_.data();
  for (std::size_t i = 0; i < num_numbers; ++i) inputs[i] = features[source[i]];
  // Side by side and told apart from the inputs, so that the compiler makes vectors of them.
  const float* const __restrict center = center_.data();
  const float* const __restrict factor = factor_.data();
  const float* const __restrict missing = missing_.data();
  float* const __restrict plain = inputs;
  for (std::size_t i = 0; i < num_plain_; ++i)
    plain[i] = finished(plain[i], plain[i], center[i], factor[i], missing[i]);
  for (std::size_t i = num_plain_; i < num_numbers; ++i)
    inputs[i] = finished(inputs[i], signed_log(inputs[i] * log_factor_[i]), center_[i], factor_[i], missing_[i]);

  inputs += num_numbers;
  for (const std::uint32_t feature : indicators_) *inputs++ = is_finite(features[feature]) ? 0.0f : 1.0f;
  for (const CategoryInput& category : categories_) {
    const std::size_t code = category_code(features[category.feature], category.position.size() - 1);
    if (category.position[code] < 0) {
      std::copy(category.share.begin(), category.share.end(), inputs);
    } else {
      std::fill_n(inputs, category.share.size(), 0.0f);
      inputs[category.position[code]] = 1.0f;
    }
    inputs += category.share.size();
  }
}

void Preprocessing::apply(core::MatrixView<const float> features, core::MatrixView<float> inputs) const {
  for (std::size_t row = 0; row < features.rows; ++row) apply_row(features.row(row).data(), inputs.row(row).data());
}

void Preprocessing::apply(core::MatrixView<const float> features, std::span<const std::uint32_t> rows,
                          core::MatrixView<float> inputs) const {
  // Rows lie anywhere: those to come are fetched while this one is worked on.
  constexpr std::size_t kAhead = 4;
  constexpr std::size_t kLine = 64 / sizeof(float);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kAhead < rows.size()) {
      const float* next = features.row(rows[i + kAhead]).data();
      for (std::size_t column = 0; column < features.cols; column += kLine) __builtin_prefetch(next + column);
    }
    apply_row(features.row(rows[i]).data(), inputs.row(i).data());
  }
}

}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/preprocessing_tensors.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "dfcl/core/error.h"

namespace dfcl::model {
namespace {

using Whole = std::vector<std::int64_t>;
using Real = std::vector<float>;

[[noreturn]] void refuse(const std::string& where, const std::string& name) {
  throw core::Error({.kind = core::ErrorKind::file,
                     .what = fmt::format("a model file with a malformed tensor '{}'", name),
                     .where = where});
}

template <class Values>
const Values& values_of(const TensorFile& file, const std::string& name, const std::string& where) {
  const Tensor* tensor = file.find(name);
  const Values* values = tensor == nullptr ? nullptr : std::get_if<Values>(&tensor->values);
  if (values == nullptr) refuse(where, name);
  return *values;
}

void put(TensorFile& file, const char* name, TensorValues values, std::vector<std::uint64_t> shape) {
  file.tensors.push_back({name, std::move(shape), std::move(values)});
}

constexpr const char* kNumberFeatures = "preprocessing.numbers.feature";
constexpr const char* kNumberScales = "preprocessing.numbers.scale";  // log factor, center, factor, missing
constexpr const char* kIndicators = "preprocessing.indicators.feature";
constexpr const char* kCategories = "preprocessing.categories.feature";  // feature, positions, shares
constexpr const char* kPositions = "preprocessing.categories.position";
constexpr const char* kShares = "preprocessing.categories.share";
constexpr const char* kKeys = "trained.keys";

std::uint32_t feature_of(std::int64_t number, const char* name, const std::string& where) {
  if (number < 0 || number > std::numeric_limits<std::uint32_t>::max()) refuse(where, name);
  return static_cast<std::uint32_t>(number);
}

std::vector<NumberInput> numbers_of(const TensorFile& file, const std::string& where) {
  const Whole& features = values_of<Whole>(file, kNumberFeatures, where);
  const Real& scales = values_of<Real>(file, kNumberScales, where);
  if (scales.size() != 4 * features.size()) refuse(where, kNumberScales);
  std::vector<NumberInput> numbers;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const float* scale = scales.data() + 4 * i;
    numbers.push_back({feature_of(features[i], kNumberFeatures, where), scale[0], scale[1], scale[2], scale[3]});
  }
  return numbers;
}

std::vector<CategoryInput> categories_of(const TensorFile& file, const std::string& where) {
  const Whole& sizes = values_of<Whole>(file, kCategories, where);
  const Whole& positions = values_of<Whole>(file, kPositions, where);
  const Real& shares = values_of<Real>(file, kShares, where);
  if (sizes.size() % 3 != 0) refuse(where, kCategories);
  std::vector<CategoryInput> categories;
  std::size_t next_position = 0;
  std::size_t next_share = 0;
  for (std::size_t i = 0; i < sizes.size(); i += 3) {
    const auto num_positions = static_cast<std::size_t>(sizes[i + 1]);
    const auto num_shares = static_cast<std::size_t>(sizes[i + 2]);
    if (num_positions > positions.size() - next_position || num_shares > shares.size() - next_share)
      refuse(where, kCategories);
    CategoryInput category{.feature = feature_of(sizes[i], kCategories, where)};
    for (; category.position.size() < num_positions; ++next_position) {
      const std::int64_t position = positions[next_position];
      if (position < -1 || position > std::numeric_limits<std::int32_t>::max()) refuse(where, kPositions);
      category.position.push_back(static_cast<std::int32_t>(position));
    }
    for (; category.share.size() < num_shares; ++next_share) category.share.push_back(shares[next_share]);
    categories.push_back(std::move(category));
  }
  return categories;
}

}  // namespace

void put_preprocessing(TensorFile& file, const Preprocessing& preprocessing) {
  Whole features, sizes, positions;
  Real scales, shares;
  for (const NumberInput& number : preprocessing.numbers()) {
    features.push_back(number.feature);
    scales.insert(scales.end(), {number.log_factor, number.center, number.factor, number.missing});
  }
  for (const CategoryInput& category : preprocessing.categories()) {
    sizes.insert(sizes.end(),
                 {static_cast<std::int64_t>(category.feature), static_cast<std::int64_t>(category.position.size()),
                  static_cast<std::int64_t>(category.share.size())});
    positions.insert(positions.end(), category.position.begin(), category.position.end());
    shares.insert(shares.end(), category.share.begin(), category.share.end());
  }
  const Whole indicators(preprocessing.indicators().begin(), preprocessing.indicators().end());
  const std::uint64_t num_numbers = features.size();
  put(file, kNumberFeatures, std::move(features), {num_numbers});
  put(file, kNumberScales, std::move(scales), {num_numbers, 4});
  put(file, kIndicators, indicators, {indicators.size()});
  put(file, kCategories, sizes, {sizes.size() / 3, 3});
  put(file, kPositions, positions, {positions.size()});
  put(file, kShares, shares, {shares.size()});
}

Preprocessing preprocessing_of(const TensorFile& file, std::size_t num_features, const std::string& where) {
  std::vector<std::uint32_t> indicators;
  for (const std::int64_t feature : values_of<Whole>(file, kIndicators, where)) {
    indicators.push_back(feature_of(feature, kIndicators, where));
  }
  return Preprocessing(num_features, numbers_of(file, where), std::move(indicators), categories_of(file, where));
}

void put_keys(TensorFile& file, const std::vector<std::uint64_t>& keys) {
  Whole values;
  for (const std::uint64_t key : keys) values.push_back(std::bit_cast<std::int64_t>(key));
  put(file, kKeys, values, {values.size()});
}

std::vector<std::uint64_t> keys_of(const TensorFile& file, const std::string& where) {
  std::vector<std::uint64_t> keys;
  for (const std::int64_t value : values_of<Whole>(file, kKeys, where))
    keys.push_back(std::bit_cast<std::uint64_t>(value));
  return keys;
}

}  // namespace dfcl::model

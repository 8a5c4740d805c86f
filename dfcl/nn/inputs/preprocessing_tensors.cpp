// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/inputs/preprocessing_tensors.h"

#include <limits>

namespace dfcl::nn {
namespace {

using Whole = std::vector<std::int64_t>;
using Real = std::vector<float>;

constexpr const char* kNumberFeatures = "preprocessing.numbers.feature";
constexpr const char* kNumberScales = "preprocessing.numbers.scale";  // log factor, center, factor, missing
constexpr const char* kIndicators = "preprocessing.indicators.feature";
constexpr const char* kCategories = "preprocessing.categories.feature";  // feature, positions, shares
constexpr const char* kPositions = "preprocessing.categories.position";
constexpr const char* kShares = "preprocessing.categories.share";

std::uint32_t feature_of(std::int64_t number, const char* name, const learn::PartReader& part) {
  if (number < 0 || number > std::numeric_limits<std::uint32_t>::max()) part.refuse_tensor(name);
  return static_cast<std::uint32_t>(number);
}

std::vector<NumberInput> numbers_of(const learn::PartReader& part) {
  const Whole& features = part.values<Whole>(kNumberFeatures);
  const Real& scales = part.values<Real>(kNumberScales);
  if (scales.size() != 4 * features.size()) part.refuse_tensor(kNumberScales);
  std::vector<NumberInput> numbers;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const float* scale = scales.data() + 4 * i;
    numbers.push_back({feature_of(features[i], kNumberFeatures, part), scale[0], scale[1], scale[2], scale[3]});
  }
  return numbers;
}

std::vector<CategoryInput> categories_of(const learn::PartReader& part) {
  const Whole& sizes = part.values<Whole>(kCategories);
  const Whole& positions = part.values<Whole>(kPositions);
  const Real& shares = part.values<Real>(kShares);
  if (sizes.size() % 3 != 0) part.refuse_tensor(kCategories);
  std::vector<CategoryInput> categories;
  std::size_t next_position = 0;
  std::size_t next_share = 0;
  for (std::size_t i = 0; i < sizes.size(); i += 3) {
    const auto num_positions = static_cast<std::size_t>(sizes[i + 1]);
    const auto num_shares = static_cast<std::size_t>(sizes[i + 2]);
    if (num_positions > positions.size() - next_position || num_shares > shares.size() - next_share)
      part.refuse_tensor(kCategories);
    CategoryInput category{.feature = feature_of(sizes[i], kCategories, part)};
    for (; category.position.size() < num_positions; ++next_position) {
      const std::int64_t position = positions[next_position];
      if (position < -1 || position > std::numeric_limits<std::int32_t>::max()) part.refuse_tensor(kPositions);
      category.position.push_back(static_cast<std::int32_t>(position));
    }
    for (; category.share.size() < num_shares; ++next_share) category.share.push_back(shares[next_share]);
    categories.push_back(std::move(category));
  }
  return categories;
}

}  // namespace

void put_preprocessing(const learn::PartWriter& part, const Preprocessing& preprocessing) {
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
  part.tensor(kNumberFeatures, {num_numbers}, std::move(features));
  part.tensor(kNumberScales, {num_numbers, 4}, std::move(scales));
  part.tensor(kIndicators, {indicators.size()}, indicators);
  part.tensor(kCategories, {sizes.size() / 3, 3}, sizes);
  part.tensor(kPositions, {positions.size()}, positions);
  part.tensor(kShares, {shares.size()}, shares);
}

Preprocessing preprocessing_of(const learn::PartReader& part, std::size_t num_features) {
  std::vector<std::uint32_t> indicators;
  for (const std::int64_t feature : part.values<Whole>(kIndicators)) {
    indicators.push_back(feature_of(feature, kIndicators, part));
  }
  return Preprocessing(num_features, numbers_of(part), std::move(indicators), categories_of(part));
}

}  // namespace dfcl::nn

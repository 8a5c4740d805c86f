// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/inputs/table_encoding.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/nn/inputs/signed_log.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kMostRows = std::size_t{1} << 24;

void require(bool good, const char* what) {
  if (good) return;
  throw core::Error(
      {.kind = core::ErrorKind::file, .what = std::string("an encoding that contradicts itself: ") + what});
}

}  // namespace

TableEncoding::TableEncoding(Preprocessing preprocessing, std::vector<std::vector<float>> edges)
    : preprocessing_(std::move(preprocessing)), edges_(std::move(edges)) {
  const auto& numbers = preprocessing_.numbers();
  require(edges_.size() == numbers.size(), "edges");
  const auto add = [&](TableColumn column, std::size_t num_values, std::size_t num_weights) {
    column.first_value = num_values_;
    column.num_values = num_values;
    column.first_weight = num_weights_;
    column.num_weights = num_weights;
    num_values_ += num_values;
    num_weights_ += num_weights;
    require(num_values_ <= kMostRows, "too many rows");
    columns_.push_back(std::move(column));
  };
  std::vector<char> is_number(preprocessing_.num_features(), 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::vector<float>& own = edges_[i];
    require(own.size() >= 2 && own.size() <= kMostBins + 1, "number of edges");
    require(own.front() >= -kMostStandard && own.back() <= kMostStandard, "range of edges");
    for (std::size_t j = 0; j + 1 < own.size(); ++j) require(own[j] < own[j + 1], "order of edges");
    TableColumn column{.kind = TableColumnKind::number, .feature = numbers[i].feature, .part = i, .knots = own};
    column.low = own.front() > -kMostStandard ? 1 : 0;
    if (column.low == 1) column.knots.insert(column.knots.begin(), -kMostStandard);
    if (own.back() < kMostStandard) column.knots.push_back(kMostStandard);
    const std::size_t num_knots = column.knots.size();
    is_number[numbers[i].feature] = 1;
    add(std::move(column), num_knots + 1, own.size() + 1);
  }
  for (const std::uint32_t feature : preprocessing_.indicators()) {
    if (is_number[feature] == 0) add({.kind = TableColumnKind::flag, .feature = feature}, 2, 1);
  }
  for (std::size_t i = 0; i < preprocessing_.categories().size(); ++i) {
    const CategoryInput& category = preprocessing_.categories()[i];
    add({.kind = TableColumnKind::category, .feature = category.feature, .part = i}, category.share.size() + 1,
        category.share.size());
  }
  inverse_.assign(num_values_, 0.0f);
  for (const TableColumn& column : columns_) {
    for (std::size_t k = 0; k + 1 < column.knots.size(); ++k)
      inverse_[column.first_value + k] = 1.0f / (column.knots[k + 1] - column.knots[k]);
  }
}

std::span<const float> TableEncoding::shares(const TableColumn& column) const {
  return preprocessing_.categories()[column.part].share;
}

Lookup TableEncoding::place(const TableColumn& column, float value) const {
  const auto row = [&](std::size_t place) { return static_cast<std::uint32_t>(column.first_value + place); };
  if (column.kind == TableColumnKind::category) {
    const CategoryInput& category = preprocessing_.categories()[column.part];
    const std::int32_t position = category.position[category_code(value, category.position.size() - 1)];
    return {row(position < 0 ? category.share.size() : static_cast<std::size_t>(position)), 0.0f};
  }
  const bool missing = !std::isfinite(value);
  if (column.kind == TableColumnKind::flag) return {row(missing ? 1 : 0), 0.0f};
  if (missing) return {row(column.num_values - 1), 0.0f};
  const NumberInput& number = preprocessing_.numbers()[column.part];
  const float scale = number.log_factor == 0.0f ? value : signed_log(value * number.log_factor);
  const float z = std::clamp((scale - number.center) * number.factor, -kMostStandard, kMostStandard);
  const float* knots = column.knots.data();
  const std::size_t last = column.knots.size() - 1;
  std::size_t knot = 0;
  for (std::size_t k = 1; k < last; ++k) knot += z >= knots[k] ? 1 : 0;
  const float share = (z - knots[knot]) * inverse_[column.first_value + knot];
  return {row(knot), std::clamp(share, 0.0f, 1.0f)};
}

void TableEncoding::apply(const float* features, Lookup* lookups) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) lookups[i] = place(columns_[i], features[columns_[i].feature]);
}

namespace {

// Quantiles that were observed, each once; every value where there are no more than edges.
std::vector<float> edges_of(std::vector<float>& sample, std::size_t bins) {
  std::sort(sample.begin(), sample.end());
  std::vector<float> distinct;
  for (const float value : sample) {
    if (distinct.empty() || value > distinct.back()) distinct.push_back(value);
    if (distinct.size() > bins + 1) break;
  }
  if (distinct.size() >= 2 && distinct.size() <= bins + 1) return distinct;
  std::vector<float> edges;
  for (std::size_t i = 0; i <= bins && !sample.empty(); ++i) {
    const float value = sample[i * (sample.size() - 1) / bins];
    if (edges.empty() || value > edges.back()) edges.push_back(value);
  }
  if (edges.size() < 2) return {-1.0f, 1.0f};  // constant on the sample
  return edges;
}

}  // namespace

TableEncoding fit_table_encoding(const std::vector<data::FeatureColumn>& columns, core::MatrixView<const float> values,
                                 std::span<const std::uint8_t> is_training, std::size_t bins,
                                 core::RunContext& context) {
  Preprocessing preprocessing = fit_preprocessing(columns, values, is_training, Scaling::standard, context);
  std::vector<std::uint32_t> rows;
  for (std::size_t row = 0; row < values.rows; ++row) {
    if (is_training.empty() || is_training[row] != 0) rows.push_back(static_cast<std::uint32_t>(row));
  }
  const std::size_t count = std::min(rows.size(), kEdgeUnits);
  const std::vector<NumberInput>& numbers = preprocessing.numbers();
  std::vector<std::vector<float>> edges(numbers.size());
  context.pool.run(numbers.size(), [&](std::size_t i) {
    const NumberInput& number = numbers[i];
    std::vector<float> sample;
    for (std::size_t j = 0; j < count; ++j) {
      const float value = values(rows[j * rows.size() / count], number.feature);
      if (!std::isfinite(value)) continue;
      const float scale = number.log_factor == 0.0f ? value : signed_log(value * number.log_factor);
      sample.push_back(std::clamp((scale - number.center) * number.factor, -kMostStandard, kMostStandard));
    }
    edges[i] = edges_of(sample, bins);
  });
  return TableEncoding(std::move(preprocessing), std::move(edges));
}

}  // namespace dfcl::nn

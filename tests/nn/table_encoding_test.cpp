// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/inputs/table_encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/nn/table/lookup_layer.h"
#include "tests/nn/table_sample.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kWidth = 16;

// The inputs that a column's rows of weights stand for, as section 8.1 defines them, with no lookup.
std::vector<double> plain_inputs(const TableEncoding& encoding, const TableColumn& column, float value) {
  std::vector<double> inputs(column.num_weights, 0.0);
  const Preprocessing& preprocessing = encoding.preprocessing();
  if (column.kind == TableColumnKind::category) {
    const CategoryInput& category = preprocessing.categories()[column.part];
    const std::int32_t position = category.position[category_code(value, category.position.size() - 1)];
    for (std::size_t level = 0; level < inputs.size(); ++level)
      inputs[level] = position < 0 ? static_cast<double>(category.share[level])
                                   : (static_cast<std::size_t>(position) == level ? 1.0 : 0.0);
    return inputs;
  }
  if (!std::isfinite(value)) {
    inputs.back() = 1.0;
    return inputs;
  }
  if (column.kind == TableColumnKind::flag) return inputs;
  const NumberInput& number = preprocessing.numbers()[column.part];
  double scaled = static_cast<double>(value);
  if (number.log_factor != 0.0f)
    scaled = std::copysign(std::log1p(std::abs(scaled * static_cast<double>(number.log_factor))), scaled);
  const double z =
      std::clamp((scaled - static_cast<double>(number.center)) * static_cast<double>(number.factor), -6.0, 6.0);
  const std::vector<float>& edges = encoding.edges()[column.part];
  for (std::size_t bin = 0; bin + 1 < edges.size(); ++bin) {
    const double low = static_cast<double>(edges[bin]);
    const double high = static_cast<double>(edges[bin + 1]);
    inputs[bin] = std::clamp((z - low) / (high - low), 0.0, 1.0);
  }
  inputs[edges.size() - 1] = z;
  return inputs;
}

std::vector<double> random_weights(const TableEncoding& encoding) {
  core::RandomStream random(3, core::stream_purpose("encoding test"), 0);
  std::vector<double> weights(encoding.num_weights() * kWidth);
  for (double& weight : weights) weight = random.normal();
  return weights;
}

TEST(TableEncoding, LookupsGiveWhatTheEncodedInputsWould) {
  const TableSample sample(300);
  const TableEncoding& encoding = sample.encoding;
  const std::vector<double> weights = random_weights(encoding);
  std::vector<double> values((encoding.num_values() + 1) * kWidth);
  for (const TableColumn& column : encoding.columns())
    fill_values(encoding, column, kWidth, weights.data(), values.data());
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  std::vector<std::vector<float>> units = {{1e30f, -1e30f, 1e30f, 0.0f, 3.0f},
                                           {-1e30f, 2.5f, -1e30f, kNone, 99.0f},
                                           {kNone, kNone, kEndless, kEndless, kNone},
                                           {0.0f, 1.0f, 0.0f, 1.0f, -1.0f}};
  for (std::size_t row = 0; row < 300; ++row) {
    const auto unit = sample.features.values.row(row);
    units.emplace_back(unit.begin(), unit.end());
  }
  std::vector<Lookup> lookups(encoding.num_columns());
  for (const std::vector<float>& unit : units) {
    encoding.apply(unit.data(), lookups.data());
    std::vector<double> sums(kWidth, 0.0);
    add_lookups({lookups.data(), 1, encoding.num_columns()}, 0, encoding.num_columns(), kWidth, values.data(),
                sums.data());
    std::vector<double> expected(kWidth, 0.0);
    for (const TableColumn& column : encoding.columns()) {
      const std::vector<double> inputs = plain_inputs(encoding, column, unit[column.feature]);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        for (std::size_t j = 0; j < kWidth; ++j)
          expected[j] += inputs[i] * weights[(column.first_weight + i) * kWidth + j];
      }
    }
    for (std::size_t j = 0; j < kWidth; ++j) EXPECT_NEAR(sums[j], expected[j], 2e-5);  // shares are float32
  }
}

TEST(TableEncoding, TheGradientOfWeightsIsTheTransposeOfTheLookup) {
  const TableSample sample(40);
  const TableEncoding& encoding = sample.encoding;
  std::vector<Lookup> lookups(encoding.num_columns());
  const std::vector<float> odd = {-7.0f, 9.0f, std::nanf(""), 1.0f, 3.0f};
  for (const float* unit : {sample.features.values.row(0).data(), sample.features.values.row(7).data(), odd.data()}) {
    encoding.apply(unit, lookups.data());
    std::vector<double> slope(kWidth);
    std::iota(slope.begin(), slope.end(), 1.0);
    std::vector<double> gradient(encoding.num_weights() * kWidth, -1.0);
    for (std::size_t i = 0; i < encoding.num_columns(); ++i) {
      const TableColumn& column = encoding.columns()[i];
      std::vector<double> rows((column.num_values + 1) * kWidth, 0.0);
      add_value_gradient({lookups.data(), 1, encoding.num_columns()}, i, column.first_value, kWidth, slope.data(),
                         rows.data());
      fill_weight_gradient(encoding, column, kWidth, rows.data(), gradient.data());
      const std::vector<double> inputs = plain_inputs(encoding, column, unit[column.feature]);
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        for (std::size_t j = 0; j < kWidth; ++j)
          EXPECT_NEAR(gradient[(column.first_weight + k) * kWidth + j], inputs[k] * slope[j], 1e-4) << i << " " << k;
      }
    }
  }
}

TEST(TableEncoding, EdgesAreObservedQuantilesAndFewValuesAreAllEdges) {
  const TableSample sample(2000);
  const auto& numbers = sample.encoding.preprocessing().numbers();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t count = sample.encoding.edges()[i].size();
    EXPECT_EQ(count, numbers[i].feature == 1 ? 4u : 7u);
  }
}

TEST(TableEncoding, PartsThatContradictEachOtherAreRefused) {
  const TableSample sample(50);
  const auto refused = [&](std::vector<std::vector<float>> edges) {
    EXPECT_THROW(TableEncoding(sample.encoding.preprocessing(), std::move(edges)), core::Error);
  };
  auto edges = sample.encoding.edges();
  edges.pop_back();
  refused(edges);
  edges = sample.encoding.edges();
  edges[0] = {1.0f};
  refused(edges);
  edges[0] = {1.0f, 0.0f};
  refused(edges);
  edges[0] = {-7.0f, 0.0f};
  refused(edges);
  edges[0] = {0.0f, std::nanf("")};
  refused(edges);
}

}  // namespace
}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/feature_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfcl::io {
namespace {

constexpr std::int64_t kBlockRows = 512;

// A declared code means missing; so does an infinity in a feature.
void clean_numbers(float* out, std::int64_t rows, std::int64_t stride, std::span<const float> missing_codes) {
  constexpr float kMost = std::numeric_limits<float>::max();
  for (std::int64_t row = 0; row < rows; ++row) {
    float& value = out[row * stride];
    if (std::abs(value) > kMost) value = std::nanf("");
    for (const float code : missing_codes) {
      if (value == code) value = std::nanf("");
    }
  }
}

}  // namespace

LabelColumn category_labels(const arrow::Array& array, std::span<const float> missing_codes, const std::string& name) {
  LabelColumn labels = labels_of(array, name);
  if (missing_codes.empty()) return labels;
  std::vector<char> is_missing(labels.labels.size(), 0);
  for (std::size_t label = 0; label < labels.labels.size(); ++label) {
    const auto number = number_of_word(labels.labels[label]);
    is_missing[label] =
        number && std::count(missing_codes.begin(), missing_codes.end(), static_cast<float>(*number)) > 0;
  }
  for (std::uint32_t& code : labels.codes) {
    if (code != LabelColumn::kMissing && is_missing[code]) code = LabelColumn::kMissing;
  }
  return labels;
}

core::Matrix<float> feature_values(const arrow::RecordBatch& batch, std::span<const int> columns,
                                   const std::vector<LabelColumn>& categories, std::span<const float> missing_codes) {
  core::Matrix<float> values(static_cast<std::size_t>(batch.num_rows()), columns.size());
  fill_feature_values(batch, columns, categories, missing_codes, values.view());
  return values;
}

void fill_feature_values(const arrow::RecordBatch& batch, std::span<const int> columns,
                         const std::vector<LabelColumn>& categories, std::span<const float> missing_codes,
                         core::MatrixView<float> values) {
  const std::int64_t rows = batch.num_rows();
  const auto stride = static_cast<std::int64_t>(columns.size());
  for (std::int64_t begin = 0; begin < rows; begin += kBlockRows) {
    const std::int64_t end = std::min(rows, begin + kBlockRows);
    for (std::size_t feature = 0; feature < columns.size(); ++feature) {
      float* out = &values(static_cast<std::size_t>(begin), feature);
      if (const auto& codes = categories[feature].codes; !codes.empty()) {
        for (std::int64_t row = begin; row < end; ++row) {
          const std::uint32_t code = codes[static_cast<std::size_t>(row)];
          out[(row - begin) * stride] = code == LabelColumn::kMissing ? std::nanf("") : static_cast<float>(code);
        }
        continue;
      }
      fill_numbers(*batch.column(columns[feature]), begin, end, out, stride);
      clean_numbers(out, end - begin, stride, missing_codes);
    }
  }
}

}  // namespace dfcl::io

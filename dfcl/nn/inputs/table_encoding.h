// SPDX-License-Identifier: Apache-2.0
//
// How a table enters its network (section 8.1 of docs/method.md): every column of a unit is one place in a table of
// rows, so that the first layer is a sum of rows instead of a product with hundreds of inputs that are mostly 0 or 1.
//
//   numbers     standardised as in preprocessing.h, kept within -kMostStandard and kMostStandard, *and* encoded
//               piecewise-linearly at the edges of bins, quantiles of the training units: the input of bin b is
//               clip((z - e_b) / (e_(b+1) - e_b), 0, 1). Both are linear in z between two knots (the edges, and the
//               ends of the range), so the layer is known everywhere from its values at the knots:
//               (1 - share) value_k + share value_(k+1).
//   missing     a row of its own instead.
//   categories  a row for each level; a level without training units has the mean row.
//
// Weights are what is learned: for a number one row a bin, one for z and one for missing; for a category one a level.
// The value at knot k is z_k times the row for z plus the rows of all bins below. Memory: the rows; applying costs a
// few nanoseconds a column and depends on nothing but the unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/learn/part.h"
#include "dfcl/nn/inputs/preprocessing.h"

namespace dfcl::nn {

inline constexpr float kMostStandard = 6.0f;
inline constexpr std::size_t kMostBins = 256;

// A place in the table of values: this row, and a share of the way to the next.
struct Lookup {
  std::uint32_t row = 0;
  float share = 0.0f;
};

enum class TableColumnKind : std::uint8_t { number, flag, category };

// The rows of one column. Rows of values: a number has its knots, then missing; a flag "present" and "missing"; a
// category its levels, then "unseen". Rows of weights: a number has its bins, z, missing; a flag "missing"; a category
// its levels.
struct TableColumn {
  TableColumnKind kind = TableColumnKind::number;
  std::uint32_t feature = 0;
  std::size_t part = 0;          // which of the preprocessing's numbers or categories
  std::size_t first_value = 0;   // row of values
  std::size_t num_values = 0;    // rows of values
  std::size_t first_weight = 0;  // row of weights
  std::size_t num_weights = 0;   // rows of weights
  std::size_t low = 0;           // 1: the first knot lies below the first edge
  std::vector<float> knots = {};
  bool operator==(const TableColumn&) const = default;

  std::size_t num_bins() const { return num_weights - 2; }  // of a number
  // How many bins lie wholly below a knot.
  std::size_t bins_below(std::size_t knot) const {
    return knot < low ? 0 : (knot - low < num_bins() ? knot - low : num_bins());
  }
};

class TableEncoding {
 public:
  TableEncoding() = default;
  // edges: for each number of the preprocessing, rising, two at least, within kMostStandard. Throws Error of kind file
  // where the parts do not fit each other: they may come from a file.
  TableEncoding(Preprocessing preprocessing, std::vector<std::vector<float>> edges);

  const Preprocessing& preprocessing() const { return preprocessing_; }
  const std::vector<std::vector<float>>& edges() const { return edges_; }
  const std::vector<TableColumn>& columns() const { return columns_; }
  std::span<const float> shares(const TableColumn& column) const;  // of the levels of a category
  std::size_t num_columns() const { return columns_.size(); }      // lookups a unit
  std::size_t num_values() const { return num_values_; }           // rows of values
  std::size_t num_weights() const { return num_weights_; }         // rows of weights

  // features: of one unit, as they were read. lookups: num_columns().
  void apply(const float* features, Lookup* lookups) const;

  bool operator==(const TableEncoding& other) const {
    return preprocessing_ == other.preprocessing_ && edges_ == other.edges_;
  }

 private:
  Lookup place(const TableColumn& column, float value) const;

  Preprocessing preprocessing_;
  std::vector<std::vector<float>> edges_;
  std::vector<TableColumn> columns_;
  std::vector<float> inverse_;  // 1 / distance to the next knot, one a row of values
  std::size_t num_values_ = 0;
  std::size_t num_weights_ = 0;
};

// Fits edges to a sample of at most kEdgeUnits training units; arguments as in fit_preprocessing. bins: at most so many
// a number, fewer where it takes few values. Time: a sort of the sample a column.
inline constexpr std::size_t kEdgeUnits = 65'536;
TableEncoding fit_table_encoding(const std::vector<data::FeatureColumn>& columns, core::MatrixView<const float> values,
                                 std::span<const std::uint8_t> is_training, std::size_t bins,
                                 core::RunContext& context);

// As tensors of a model file; reading throws Error of kind file.
void put_encoding(const learn::PartWriter& part, const TableEncoding& encoding);
TableEncoding encoding_of(const learn::PartReader& part, std::size_t num_features);

}  // namespace dfcl::nn

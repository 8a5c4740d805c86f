// SPDX-License-Identifier: Apache-2.0
//
// Features as plain numeric columns whose means can be compared: numbers cut at pooled quantiles (0.5 and 99.5 %
// unless an arm is small) and standardised, one column a frequent level of a category, one for "missing". Fitted on a
// fixed sample of rows, never on who got which arm. Time: one selection per feature over the sample. Memory: the sample
// of one feature a thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dfcl/check/check.h"
#include "dfcl/check/draws.h"
#include "dfcl/core/bytes.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"

namespace dfcl::check {

class Expansion {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  // How a feature becomes columns.
  struct Plan {
    bool categorical = false;
    float low = 0.0f;  // numbers are cut to [low, high]
    float high = 0.0f;
    bool flag = false;  // nearly all values are equal to low: the column is 1 where the value is another
    float center = 0.0f;
    float inverse_scale = 1.0f;
    std::size_t value_column = kNone;
    std::size_t missing_column = kNone;
    std::vector<std::size_t> level_columns;  // by code; kNone for the most frequent level and for rare ones
    std::size_t first_column = 0;            // the feature's columns are [first_column, end_column)
    std::size_t end_column = 0;
  };

  // smallest_arm: draws in the smallest arm. An aspect of a feature becomes a column only where at least 20 sampled
  // units have it and 20 have not, and 5 of each are expected in the smallest arm; the tails cut off are as large, so
  // that no mean hangs on a handful of units and the approximations hold.
  // order: of the rows, of which the sample is taken.
  Expansion(const data::Features& features, const RowGroups& order, std::size_t smallest_arm,
            const CheckOptions& options, core::RunContext& context);

  void save(core::ByteWriter& bytes) const;
  // Throws Error of kind data.
  static Expansion load(core::ByteReader& bytes);

  std::size_t num_columns() const { return num_columns_; }
  const std::vector<Plan>& plans() const { return plans_; }

  // Adds the columns of one row, each times `weight`, to sums (num_columns long). A missing number adds nothing to its
  // value column, which is to put its standardised mean in its place.
  void add(std::span<const float> row, float weight, std::span<float> sums) const;

  // Keeps these columns, in rising order, and forgets the others.
  void keep(std::span<const std::size_t> columns);

  // "value", "missing" or "= level" for a column of the feature.
  std::string what(const data::FeatureColumn& feature, const Plan& plan, std::size_t column) const;

 private:
  Expansion() = default;

  std::vector<Plan> plans_;
  std::size_t num_columns_ = 0;
};

}  // namespace dfcl::check

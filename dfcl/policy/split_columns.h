// SPDX-License-Identifier: Apache-2.0
//
// The features of units as a search for splits sees them: a few groups of values for each, and the orders in which
// these may be parted, a prefix of an order against the rest. Numbers are grouped at quantiles; missing values are a
// group of their own that may stand at either end. Levels of a category are ordered by a target (for two arms no other
// order can part them better), and the neighbours among many share a group; each level may also stand against all
// others. Features that tell nothing apart are left out; of many only those whose groups differ most in the target are
// kept. Memory: a byte a unit and feature kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"
#include "dfcl/policy/question.h"

namespace dfcl::policy {

inline constexpr std::size_t kMostGroups = 32;    // of a feature, without the missing values
inline constexpr std::size_t kMostFeatures = 24;  // that are searched

// Groups in an order; a split takes 1 to most_taken of the first.
struct GroupOrder {
  std::vector<std::uint8_t> groups;
  std::size_t most_taken = 0;
};

struct SplitColumn {
  std::uint32_t feature = 0;
  bool categorical = false;
  std::vector<std::uint8_t> group;  // per unit
  std::size_t num_groups = 0;       // the missing values' among them, which is the last
  bool has_missing = false;
  std::vector<GroupOrder> orders;
  std::vector<float> cuts = {};                   // numbers: between neighbouring groups
  std::vector<std::uint8_t> group_of_level = {};  // categories: per code

  // Of the first `length` groups of an order.
  Question question(std::size_t order, std::size_t length) const;
};

struct SplitColumns {
  std::vector<SplitColumn> columns;
  std::vector<FeatureTraits> traits;  // per feature
  std::size_t num_units = 0;
};

// values: units x features. target: per unit, what a split should tell apart.
SplitColumns split_columns(const std::vector<data::FeatureColumn>& features, core::MatrixView<const float> values,
                           std::span<const double> target, core::RunContext& context);

}  // namespace dfcl::policy

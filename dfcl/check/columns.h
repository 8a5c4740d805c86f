// SPDX-License-Identifier: Apache-2.0
//
// What each feature column holds, arm by arm: how much is missing, whether it varies. One pass over the features;
// memory: 64 partial tables of arms x features.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dfcl/check/check.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

struct ColumnInArm {
  std::size_t observed = 0;  // units with a finite value
  float low = 0.0f;          // of the observed; low > high where there are none
  float high = 0.0f;
  bool constant() const { return observed > 0 && low == high; }
};

struct ColumnTable {
  std::size_t num_features = 0;
  std::vector<ColumnInArm> cells;  // arms x features
  std::vector<std::size_t> units_per_arm;

  ColumnTable() = default;
  ColumnTable(std::size_t num_arms, std::size_t features);
  // One row.
  void add(std::size_t arm, std::span<const float> values);
  void merge(const ColumnTable& other);
  const ColumnInArm& cell(std::size_t arm, std::size_t feature) const { return cells[arm * num_features + feature]; }
};

ColumnTable column_table(const data::Trial& trial, core::RunContext& context);
std::vector<ColumnSummary> column_summaries(const data::Trial& trial, const ColumnTable& table);

}  // namespace dfcl::check

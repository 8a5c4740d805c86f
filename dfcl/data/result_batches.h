// SPDX-License-Identifier: Apache-2.0
//
// Predictions, plans and batches that are in memory as a BatchSource, in the columns of their files. Pieces of 65,536
// units are made when they are asked for.
#pragma once

#include <memory>
#include <vector>

#include "dfcl/data/batch.h"
#include "dfcl/data/plan.h"
#include "dfcl/data/prediction.h"

namespace dfcl::data {

// id, revenue_<arm> for every arm, cost_<arm> for every arm.
std::unique_ptr<BatchSource> batches_of(std::shared_ptr<const Prediction> prediction);

// id, arm, revenue, cost; with roles also role, propensity, control_revenue, control_cost.
std::unique_ptr<BatchSource> batches_of(std::shared_ptr<const Plan> plan);

struct Table {
  std::vector<ColumnInfo> columns;
  std::vector<Batch> batches;
};
std::unique_ptr<BatchSource> batches_of(std::shared_ptr<const Table> table);

}  // namespace dfcl::data

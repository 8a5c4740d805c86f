// SPDX-License-Identifier: Apache-2.0
//
// Prediction files: `id` (or the row number), then revenue_<arm> and cost_<arm> for every arm, from any source; beside
// them, tables that belong to the same units. Read in parallel, joined in file order. Memory: the prediction.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/prediction.h"

namespace dfcl::io {

struct PredictionTable {
  data::Prediction prediction;
  core::Matrix<std::uint8_t> eligible;  // units x arms; empty unless the file has columns eligible_<arm>
  std::vector<std::uint32_t> segment;   // per unit, index into segments; empty unless a column was asked for
  std::vector<std::string> segments;    // in order of first appearance
};

// segment_column: "" for none. What the predictions are is what the file says. Throws Error
// of kind data where columns are missing or values are no finite numbers, with the id of the unit.
PredictionTable read_prediction(const std::string& path, const std::string& segment_column, core::RunContext& context);

// What the predictions of a file are, without reading them.
data::PredictionFacts read_prediction_facts(const std::string& path);

// The arms of a prediction file, from the names of its columns. Throws Error of kind data where there is none or one
// of the two columns of an arm is missing.
std::vector<std::string> arms_of_columns(const std::vector<std::string>& names, const std::string& path);

// units x arms: 0 where the column eligible_<arm> says 0, no or false; arms without a column are open to all. Joined by
// id.
core::Matrix<std::uint8_t> read_eligibility(const std::string& path, const std::vector<std::string>& arms,
                                            const data::Ids& ids, core::RunContext& context);

// units x arms from the columns cost_<arm>, joined by id.
core::Matrix<float> read_second_cost(const std::string& path, const std::vector<std::string>& arms,
                                     const data::Ids& ids, core::RunContext& context);

// Columns `segment` and `budget`.
std::map<std::string, double> read_segment_budgets(const std::string& path, core::RunContext& context);

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
//
// Predictions and labels of units brought into the order of a trial's rows and arms, by id. Tables in the order of the
// trial are joined by one comparison a row, so trials in which an id stands at several times can be joined too.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/data/prediction.h"
#include "dfcl/evaluate/estimators/estimators.h"
#include "dfcl/evaluate/estimators/trial_rows.h"
#include "dfcl/evaluate/evaluate.h"

namespace dfcl::evaluate {

struct JoinedPrediction {
  core::Matrix<float> revenue;  // rows x arms, as in the trial
  core::Matrix<float> cost;
  std::vector<double> price = {};  // per arm, where the predictions know it

  Outcomes outcomes() const { return {revenue.view(), cost.view()}; }
};

// trial_ids: of the whole trial. `where` names the predictions in errors of kind data: arms or units that are missing,
// and how many of which.
JoinedPrediction join_prediction(const data::Prediction& prediction, const TrialRows& rows, const data::Ids& trial_ids,
                                 const std::string& where);

// For each row its place in `given`. Row numbers are joined with row numbers only: where the trial has ids, they are an
// Error of kind data.
std::vector<std::size_t> join_ids(const TrialRows& rows, const data::Ids& trial_ids, const data::Ids& given,
                                  const std::string& where);

// A column by which to look at plans. label_of_row: index into labels. More than 20 values are grouped: numbers into
// quarters, others into the 19 most frequent and the rest.
SegmentColumn segment_column(std::string name, std::vector<std::uint32_t> label_of_row,
                             std::vector<std::string> labels);

}  // namespace dfcl::evaluate

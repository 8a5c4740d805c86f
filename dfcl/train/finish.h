// SPDX-License-Identifier: Apache-2.0
//
// From fitted predictors to a model: what it is for and was made with, its calibration, how it did and what its plans
// were worth on units that it has not seen, and the price of money at each budget. Memory: predictions of the units
// looked at.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/data/prediction.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/training_set.h"
#include "dfcl/model/model.h"
#include "dfcl/train/folds.h"
#include "dfcl/train/preparation.h"
#include "dfcl/train/settings.h"

namespace dfcl::train {

// Whether the model is to be calibrated. Throws Error of kind usage where it is asked for and cannot be.
bool is_calibrated(const data::Study& study, const Method& method, bool starts_from_model);

// Whether validation units are to calibrate a model that nothing else does: levels and slopes are few numbers, and all
// that these units did before was to stop the fit.
bool is_calibrated_by_validation(const data::Study& study, const Method& method, bool starts_from_model);
// Fewer validation units do not.
inline constexpr std::size_t kLeastCalibrationUnits = 1'000;

struct Finishing {
  const data::Trial& trial;
  const data::Study& study;
  const Preparation& prepared;
  std::function<void(const data::Prediction&)> on_out_of_bag = {};  // see TrainOptions
  const model::TrainedUnits* earlier = nullptr;  // what the model that training started from had seen
};

// A model without predictors, options and record.
model::Model model_frame(const Finishing& finishing, const std::string& method, std::uint64_t seed,
                         const std::string& study_text, const model::Model* start, core::RunContext& context);

// With predictions of the held units by parts that did not see them, as learned: calibrates where asked, measures,
// prices the budgets, hands out the training units' predictions.
// num_fitted: others that the predictions were fitted on; 0: the units stand for them.
void finish_with_unseen(const Finishing& finishing, const HeldUnits& units, learn::Predicted unseen, bool calibrated,
                        model::Model& result, core::RunContext& context, std::size_t num_fitted = 0);

// Without: calibrates by validation units where asked and there are enough, measures on them, prices the budgets by a
// sample of the training units.
void finish_without_unseen(const Finishing& finishing, bool calibrated, model::Model& result,
                           core::RunContext& context);

}  // namespace dfcl::train

// SPDX-License-Identifier: Apache-2.0
//
// From a trial and a study to a model: one method, or a stack of several (stack.h), through the seam for learners
// (dfcl/learn): nothing here knows which one. Same trial, study and seed give the same model, byte for byte, for any
// number of threads and whether or not the run was stopped and resumed. Time and memory: the learner's, beside the
// trial and about 17 bytes a unit.
#pragma once

#include <functional>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/data/prediction.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/epoch_record.h"
#include "dfcl/model/model.h"

namespace dfcl::train {

struct TrainOptions {
  std::string study_text;               // kept in the model
  std::string checkpoint_folder;        // "": none
  const model::Model* start = nullptr;  // train on from here (see start_model.h); must outlive the call
  // 0: no bound. Of several fits that are averaged or stacked, those that are not finished by then are left out; the
  // first always is.
  double time_budget_seconds = 0.0;
  std::function<void(const learn::EpochRecord&)> on_epoch;  // for a log; may be empty
  // Predictions of the training units by the parts of the model that did not see them, where the method has such;
  // may be empty.
  std::function<void(const data::Prediction&)> on_out_of_bag;
};

// Throws Error; an interrupted run leaves its checkpoint.
model::Model train(const data::Trial& trial, const data::Study& study, const TrainOptions& options,
                   core::RunContext& context);

}  // namespace dfcl::train

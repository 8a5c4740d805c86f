// SPDX-License-Identifier: Apache-2.0
//
// From a study and its trial to a model: reads the trial, refuses one that is unfit to learn from, trains. For callers
// that have no more to say than the command line has.
#pragma once

#include <functional>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/model/model.h"
#include "dfcl/train/train.h"

namespace dfcl::verbs {

struct TrainRequest {
  data::Study study;
  std::string trial;  // path; "": the study's
  std::string checkpoint_folder;
  std::string cache_folder;  // the trial is mapped into memory from there (io/trial_reader.h); "": it is in memory
  double time_budget_seconds = 0.0;
  bool force = false;                   // go on even if the trial is unfit
  const model::Model* start = nullptr;  // must outlive the call
  // As train::TrainOptions; may be empty.
  std::function<void(const learn::EpochRecord&)> on_epoch;
  std::function<void(const data::Prediction&)> on_out_of_bag;
};

// The study with the trial's own path, or with `trial` where it is not empty.
data::Study with_trial(data::Study study, const std::string& trial);

// Throws Error of kind unfit where the trial is; with `force`, only warns.
void require_fit(const data::Trial& trial, const data::Study& study, bool force, core::RunContext& context);

// Throws Error; of kind unfit where the trial is.
model::Model train(const TrainRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs

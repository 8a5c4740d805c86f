// SPDX-License-Identifier: Apache-2.0
//
// From a study and its trial to a model: what `dfcl train` does, for every caller. Reads the trial, refuses one that is
// unfit to learn from, trains. Time and memory: those of dfcl/train, and the trial.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"
#include "dfcl/model/model.h"
#include "dfcl/verbs/study_input.h"

namespace dfcl::verbs {

struct TrainRequest {
  StudyInput study;                                 // [method] says how
  std::optional<std::string> output;                // path of the model; none: it is only returned
  std::optional<std::string> start_from;            // path of a model to train on from
  std::shared_ptr<const model::Model> start_model;  // instead of that path
  std::optional<std::string> checkpoint;            // folder that keeps the state of the run
  std::optional<std::string> cache;                 // folder from which the trial is mapped into memory (io/trial)
  std::optional<std::string> memory;      // at most, "2GB": keeps the trial in files, or refuses (memory_limit.h)
  std::optional<std::string> out_of_bag;  // path: predictions of the training units by parts that did not see them
  std::optional<std::string> log;         // path to which a JSON line is added for each epoch
  std::optional<double> time_budget;      // seconds; fits of a stack or mean beyond it are left out
  std::string device = "cpu";             // networks are trained on: auto, cpu or cuda (train/device.h)
  std::string precision = "tf32";         // of products on a graphics card: tf32, fp32 or bf16
  bool force = false;                     // continue even if the trial is unfit
  // Whose levels categories are coded by, where fits on other parts of the trial must mean the same by a code
  // (train_shards.h). Empty: the trial's own.
  std::vector<data::FeatureColumn> features = {};
  // Asked after epochs and every few trees: true ends the fit at hand, whose model is the result. Of one method; a
  // stack and a forest do not ask. May be empty.
  std::function<bool()> is_enough = {};
};

// Throws Error; of kind unfit where the trial is.
model::Model train(const TrainRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs

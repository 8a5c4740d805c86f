// SPDX-License-Identifier: Apache-2.0
//
// Methods compared on one trial: trains every entry of [compare] and [sweep] with every seed, evaluates all on the same
// test rows, and writes results.json, report.html and training.json into a folder. Models stay in the folder: what is
// finished is not done again, and what was stopped goes on from its checkpoint, so that a run that was stopped and
// started again ends with the same results. Time: that of the trainings; memory: the trial, and the models of one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/report/comparison/comparison_report.h"
#include "dfcl/verbs/evaluate.h"

namespace dfcl::verbs {

struct CompareRequest {
  StudyInput study;                 // [compare] and [sweep] say what is compared
  std::string output;               // folder, made where it is absent; one comparison each
  std::int64_t resamples = 1000;    // over test units
  std::optional<ModelInput> truth;  // of a simulated trial
  std::vector<std::string> segments;
  std::optional<evaluate::Estimator> estimator;  // none: the one that the study declares
  std::optional<std::string> split_out;          // table to write: each row's split
  std::string device = "cpu";                    // networks are trained on: auto, cpu or cuda (train/device.h)
  std::string precision = "tf32";                // of products on a graphics card: tf32, fp32 or bf16
  bool force = false;                            // go on even if the trial is unfit
  // Told before each training: "dfcl-mer, seed 2 (4 of 6)". May be empty.
  std::function<void(const std::string&)> on_training = {};
  // Told in one line what took its time or cannot be checked. May be empty.
  std::function<void(const std::string&)> on_note = {};
};

struct CompareResult {
  report::ComparisonReport report;
  std::vector<compare::TrainingTime> times;
  std::string json;  // as in results.json
  bool fit = true;   // whether the trial is fit to learn from
};

// A method that fails is kept as a failure while the reference and at least one other entry are there. Throws Error
// otherwise, of the kind of the failure, at once where the reference or a write fails; of kind usage where the folder
// holds another comparison (comparison_folder.h) or a method does not fit the trial, before any training.
CompareResult compare(const CompareRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs

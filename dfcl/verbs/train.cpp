// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/train.h"

#include <fmt/format.h>

#include "dfcl/check/check.h"
#include "dfcl/core/error.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/train/methods.h"

namespace dfcl::verbs {
void require_fit(const data::Trial& trial, const data::Study& study, bool force, core::RunContext& context) {
  const check::CheckResult result = check::check_trial(trial, study, context);
  if (result.warnings.size() == 1) context.warn(result.warnings.front().text);
  if (result.warnings.size() > 1) {
    context.warn(fmt::format("{} `dfcl check` has {} more such remarks.", result.warnings.front().text,
                             result.warnings.size() - 1));
  }
  if (result.fit) return;
  std::string problems;
  for (const check::Finding& problem : result.problems) problems += (problems.empty() ? "" : " ") + problem.text;
  if (force) {
    context.warn(fmt::format("the trial is unfit to learn from: {}", problems));
    return;
  }
  throw core::Error({.kind = core::ErrorKind::unfit,
                     .what = fmt::format("the trial is unfit to learn from: {}", problems),
                     .hint = "`dfcl check` has the details; --force goes on regardless"});
}

data::Study with_trial(data::Study study, const std::string& trial) {
  if (trial.empty()) return study;
  study.folder.clear();
  study.data.trial = trial;
  return study;
}

model::Model train(const TrainRequest& request, core::RunContext& context) {
  const data::Study& study = request.study;
  if (study.method.name != "auto") (void)train::find_method(study.method.name);
  context.scratch_folder = request.cache_folder;
  const data::Trial trial = io::read_trial(with_trial(study, request.trial), context, request.cache_folder);
  require_fit(trial, study, request.force, context);
  train::TrainOptions options;
  options.study_text = io::study_text(study);
  options.checkpoint_folder = request.checkpoint_folder;
  options.time_budget_seconds = request.time_budget_seconds;
  options.start = request.start;
  options.on_epoch = request.on_epoch;
  options.on_out_of_bag = request.on_out_of_bag;
  return train::train(trial, study, options, context);
}

}  // namespace dfcl::verbs

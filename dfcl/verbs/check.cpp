// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/check.h"

#include <fmt/format.h>

#include "dfcl/check/propensities.h"
#include "dfcl/core/error.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/verbs/outputs.h"
#include "dfcl/verbs/split_file.h"

namespace dfcl::verbs {

check::CheckResult check(const CheckRequest& request, core::RunContext& context) {
  if (request.split_out) require_table_ending("split_out", *request.split_out);
  const data::Study study = read_study_input(request.study);
  const data::Study with_path = with_trial(study, request.study);
  if (request.split_out)
    require_output("split_out", *request.split_out, {request.study.file, trial_path(with_path)}, context);
  const data::Trial trial = io::read_trial(with_path, context);
  if (request.split_out) write_splits(*request.split_out, "check", trial);
  return check::check_trial(trial, study, context);
}

CheckedTrial check_and_adjust(data::Trial trial, const data::Study& study, core::RunContext& context) {
  CheckedTrial result;
  result.checked = check::check_trial(trial, study, context);
  if (result.checked.grade == check::Grade::adjustable) {
    check::PropensityEstimate estimate = check::estimate_propensities(trial, context);
    trial.propensity = std::move(estimate.propensity);
    trial.propensity_scores = std::move(estimate.scores);
  }
  result.trial = std::make_shared<const data::Trial>(std::move(trial));
  return result;
}

void require_fit(const check::CheckResult& result, bool force, core::RunContext& context) {
  if (result.warnings.size() == 1) context.warn(result.warnings.front().text);
  if (result.warnings.size() > 1) {
    const std::size_t more = result.warnings.size() - 1;
    context.warn(
        fmt::format("{} `check` has {} more such remark{}.", result.warnings.front().text, more, more == 1 ? "" : "s"));
  }
  if (result.fit) return;
  std::string problems;
  for (const check::Finding& problem : result.problems) problems += (problems.empty() ? "" : " ") + problem.text;
  if (force) {
    context.warn(fmt::format("the trial is unfit to learn from: {}", problems));
    return;
  }
  throw core::Error(
      {.kind = core::ErrorKind::unfit,
       .what = fmt::format("the trial is unfit to learn from: {}", problems),
       .hint = fmt::format("`dfcl check` has the details; {} goes on regardless", core::field_name("force"))});
}

}  // namespace dfcl::verbs

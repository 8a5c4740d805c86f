// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/check_elsewhere.h"

#include <fmt/format.h>

#include <utility>

#include "dfcl/check/check_sums.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/train/shards.h"
#include "dfcl/verbs/parts_of_trial.h"

namespace dfcl::verbs {
namespace {

void require_single_units(const data::Study& study) {
  const auto refuse = [](bool is_named, const char* key) {
    if (is_named)
      throw core::usage_error("study", fmt::format("{} needs all rows on one machine", key), "", "",
                              "check on the driver");
  };
  refuse(!study.columns.id, "a trial without [columns] id");
  refuse(study.columns.time.has_value(), "[columns] time");
  refuse(study.columns.cluster.has_value(), "[columns] cluster");
  refuse(!study.columns.winsorize.empty(), "[columns] winsorize");
  refuse(study.split.by == "time", "[split] by time");
}

}  // namespace

check::CheckResult check_elsewhere(const CheckRequest& request, const CheckedElsewhere& rows,
                                   core::RunContext& context) {
  if (request.split_out) throw core::field_error("split_out", "needs all rows on one machine");
  const data::Study study = read_study_input(request.study);
  require_single_units(study);
  const data::Trial sample = io::read_trial(with_trial(study, request.study), context);
  const check::CheckElsewhere checking(sample, study, rows.num_units, {}, context);
  const CheckAsked asked{arms_json(sample.arms), features_json(sample.features.columns), checking.task()};
  const check::CheckTask task = check::CheckTask::from_bytes(asked.task);
  check::CheckSums sums(task);
  sums.merge_bytes(rows.run(asked));
  return checking.conclude(sums, rows.duplicates, context);
}

std::string check_part(const CheckRequest& request, const CheckAsked& asked, core::RunContext& context) {
  const data::Study study = with_trial(study_of_parts(read_study_input(request.study), asked.arms), request.study);
  data::Trial part = io::read_trial_part(study, context);
  train::recode_levels(parse_features(asked.features), part);
  const check::CheckTask task = check::CheckTask::from_bytes(asked.task);
  if (part.arms.size() != task.num_arms || part.guardrails.size() != task.num_guardrails ||
      part.features.num_features() != task.expansion.plans().size())
    throw core::data_error("task", "a check of other arms, features or guardrails");
  check::CheckSums sums(task);
  sums.add(part);
  return sums.to_bytes();
}

std::string merge_check_parts(const std::string& task_bytes, const std::vector<std::string>& parts) {
  const check::CheckTask task = check::CheckTask::from_bytes(task_bytes);
  check::CheckSums merged(task);
  for (const std::string& part : parts) merged.merge_bytes(part);
  return merged.to_bytes();
}

}  // namespace dfcl::verbs

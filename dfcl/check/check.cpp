// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/check.h"

#include "dfcl/check/arm_means.h"
#include "dfcl/check/balance.h"
#include "dfcl/check/columns.h"
#include "dfcl/check/draws.h"
#include "dfcl/check/duplicates.h"
#include "dfcl/check/outcome_leaks.h"
#include "dfcl/check/sample_ratio.h"
#include "dfcl/check/suspects.h"
#include "dfcl/check/verdict.h"
#include "dfcl/core/error.h"
#include "dfcl/data/row_weight.h"

namespace dfcl::check {
namespace {

constexpr const char* kTask = "checking";
constexpr std::uint64_t kSteps = 5;

void set_designed_shares(const data::Study& study, std::vector<ArmSummary>& arms) {
  for (ArmSummary& arm : arms) {
    const auto found = study.arms.share.find(arm.label);
    if (found != study.arms.share.end()) arm.designed_share = found->second;
  }
}

std::vector<GuardrailSummary> guardrail_means(const data::Trial& trial, const RowGroups& order) {
  std::vector<GuardrailSummary> summaries;
  for (const data::Guardrail& guardrail : trial.guardrails) {
    std::vector<double> sums(trial.arms.size()), weights(trial.arms.size());
    for (std::size_t i = 0; i < trial.num_units(); ++i) {
      const std::size_t row = order.place(i);
      const double weight = data::row_weight(trial, row);
      sums[trial.arm[row]] += weight * static_cast<double>(guardrail.value[row]);
      weights[trial.arm[row]] += weight;
    }
    for (std::size_t arm = 0; arm < sums.size(); ++arm) sums[arm] /= weights[arm];
    summaries.push_back({guardrail.name, std::move(sums)});
  }
  return summaries;
}

}  // namespace

CheckResult check_trial(const data::Trial& trial, const data::Study& study, core::RunContext& context,
                        const CheckOptions& options) {
  if (trial.num_units() < 2 || trial.arms.size() < 2) {
    throw core::Error({.kind = core::ErrorKind::data, .what = "a trial needs at least two units and two arms"});
  }
  CheckResult result;
  result.num_units = trial.num_units();
  result.num_features = trial.features.num_features();
  result.num_clusters = trial.num_clusters;
  result.num_times = trial.times.size();
  result.control = trial.arms.labels[trial.arms.control];
  result.weighted = !trial.propensity.empty();
  result.has_sample_weights = !trial.weight.empty();
  result.notes = trial.notes;
  result.words = data::report_words(study);

  const RowGroups groups = groups_of(trial, context);
  const Draws draws = draws_of(trial, groups, context);
  result.drawn = draws.drawn;
  result.num_draws = draws.arm.size();
  result.num_mixed_groups = draws.num_mixed_groups;
  context.progress(kTask, 1, kSteps, "steps");

  result.arms = arm_means(trial, groups, context);
  result.guardrails = guardrail_means(trial, groups);
  set_designed_shares(study, result.arms);
  const DrawCounts counts = count_draws(trial, draws, context);
  result.sample_ratio = sample_ratio(counts, trial, study, draws.drawn);
  context.progress(kTask, 2, kSteps, "steps");

  if (study.columns.id) result.duplicates = find_duplicates(trial, context);
  context.progress(kTask, 3, kSteps, "steps");

  const ColumnTable table = column_table(trial, context);
  result.columns = column_summaries(trial, table);
  context.progress(kTask, 4, kSteps, "steps");

  const BalanceTest balance(trial, draws, options, context);
  std::vector<bool> left_out(trial.features.num_features());
  result.suspects = find_suspects(trial, table, balance.features(), draws.arm.size(), options, left_out, context);
  find_outcome_leaks(trial, draws.groups, options, left_out, result.suspects, context);
  result.balance = balance.result(left_out);

  const bool draws_at_one_time = draws.drawn == Drawn::unit || draws.drawn == Drawn::cluster_and_time;
  const TimeFindings times{.share_drift_p = draws_at_one_time && !result.weighted ? share_drift_p(counts) : 1.0};
  judge(trial, study, options, times, result);
  context.progress(kTask, kSteps, kSteps, "steps");
  context.finished(kTask);
  return result;
}

}  // namespace dfcl::check

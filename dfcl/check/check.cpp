// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/check.h"

#include <algorithm>
#include <utility>

#include "dfcl/check/arm_means.h"
#include "dfcl/check/balance.h"
#include "dfcl/check/check_sums.h"
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

RowFacts row_facts(const data::Trial& trial) {
  RowFacts facts;
  for (std::size_t row = 0; row < trial.num_units(); ++row) facts.add(trial, row);
  return facts;
}

// What the trial itself says, or a sample of it.
CheckResult described(const data::Trial& trial, const data::Study& study) {
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
  return result;
}

void require_two(const data::Trial& trial) {
  if (trial.num_units() < 2 || trial.arms.size() < 2) {
    throw core::Error({.kind = core::ErrorKind::data, .what = "a trial needs at least two units and two arms"});
  }
}

}  // namespace

CheckResult check_trial(const data::Trial& trial, const data::Study& study, core::RunContext& context,
                        const CheckOptions& options) {
  require_two(trial);
  CheckResult result = described(trial, study);
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
  judge(trial, study, options, times, row_facts(trial), result);
  context.progress(kTask, kSteps, kSteps, "steps");
  context.finished(kTask);
  return result;
}

CheckElsewhere::CheckElsewhere(const data::Trial& sample, const data::Study& study, std::size_t num_units,
                               const CheckOptions& options, core::RunContext& context)
    : sample_(sample), study_(study), options_(options) {
  require_two(sample);
  draws_ = draws_of(sample, groups_of(sample, context), context);
  const double share =
      static_cast<double>(sample.num_units()) / static_cast<double>(std::max(num_units, sample.num_units()));
  const auto smallest = static_cast<std::size_t>(static_cast<double>(smallest_arm_of(sample, draws_)) / share);
  expansion_ = std::make_unique<Expansion>(sample.features, draws_.groups, smallest, options, context);
}

CheckElsewhere::~CheckElsewhere() = default;

std::string CheckElsewhere::task() const {
  CheckTask task{sample_.arms.size(), sample_.guardrails.size(), has_varying_weights(sample_), *expansion_, {}};
  const auto units = static_cast<double>(sample_.num_units());
  for (std::size_t row = 0; row < sample_.num_units(); ++row) {
    task.pivot[0] += static_cast<double>(sample_.revenue[row]) / units;
    task.pivot[1] += estimated_cost(sample_, row) / units;
  }
  return task.to_bytes();
}

CheckResult CheckElsewhere::conclude(const CheckSums& sums, Duplicates duplicates, core::RunContext& context) const {
  CheckResult result = described(sample_, study_);
  result.drawn = draws_.drawn;
  result.num_units = result.num_draws = sums.num_units();
  result.arms = sums.arms(sample_);
  result.guardrails = sums.guardrails(sample_);
  set_designed_shares(study_, result.arms);
  const DrawCounts counts{sums.table().units_per_arm, {}};
  result.sample_ratio = sample_ratio(counts, sample_, study_, draws_.drawn);
  result.duplicates = std::move(duplicates);
  result.columns = column_summaries(sample_, sums.table());
  const BalanceTest balance(sample_, draws_, *expansion_, sums.moments(), options_, context);
  std::vector<bool> left_out(sample_.features.num_features());
  result.suspects =
      find_suspects(sample_, sums.table(), balance.features(), result.num_draws, options_, left_out, context);
  find_outcome_leaks(sample_, draws_.groups, options_, left_out, result.suspects, context);
  result.balance = balance.result(left_out);
  judge(sample_, study_, options_, {}, sums.facts(), result);
  context.finished(kTask);
  return result;
}

}  // namespace dfcl::check

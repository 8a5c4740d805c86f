// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/compare_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "dfcl/core/error.h"
#include "dfcl/data/budgets.h"
#include "dfcl/evaluate/estimators/join.h"
#include "dfcl/evaluate/estimators/trial_rows.h"
#include "dfcl/io/trial/unit_labels.h"
#include "dfcl/train/preparation.h"
#include "dfcl/train/settings.h"

namespace dfcl::verbs {
namespace {

using compare::ComparisonEntry;

// The means of an outcome among the units that got an arm.
struct ArmMean {
  double count = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  double mean() const { return sum / count; }
  double standard_error() const { return std::sqrt(std::max(0.0, squares / count - mean() * mean()) / count); }
};

// Settings that prepare() looks at.
bool concerns_trial(const ComparisonEntry& entry) {
  return std::any_of(entry.settings.begin(), entry.settings.end(), [](const std::string& setting) {
    return setting.starts_with("network.") || setting.starts_with("method.monotone") ||
           setting.starts_with("method.concave");
  });
}

// In how far a truth is that of another trial: in each arm, its mean against the mean that was seen. Chance moves the
// mean by its standard error; heavy tails by more, so a fifth of the mean is always let pass.
void warn_of_other_means(const std::string& where, const char* outcome, const evaluate::TrialRows& rows,
                         const std::vector<float>& seen, const core::Matrix<float>& truth, core::RunContext& context) {
  std::vector<ArmMean> observed(rows.num_arms());
  std::vector<double> expected(rows.num_arms());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t arm = rows.arm[row];
    const auto value = static_cast<double>(seen[row]);
    observed[arm].count += 1.0;
    observed[arm].sum += value;
    observed[arm].squares += value * value;
    expected[arm] += static_cast<double>(truth(row, arm));
  }
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    const double mean = observed[arm].mean();
    const double said = expected[arm] / observed[arm].count;
    const double gap = std::abs(said - mean);
    if (!(gap > 8.0 * observed[arm].standard_error() && gap > 0.2 * std::abs(mean))) continue;
    context.warn(fmt::format(
        "{} {}: its mean {} in arm '{}' is {:.4g}, and the trial's is {:.4g}: is it the truth of another trial?",
        core::field_name("truth"), where, outcome, rows.arms.labels[arm], said, mean));
    return;
  }
}

// truth: in memory.
void require_truth(const data::Trial& trial, const evaluate::TrialRows& rows, const ModelInput& truth,
                   core::RunContext& context) {
  if (truth.prediction == nullptr) return;
  const evaluate::JoinedPrediction joined = evaluate::join_prediction(*truth.prediction, rows, trial.ids, truth.path);
  warn_of_other_means(truth.path, "revenue", rows, rows.revenue, joined.revenue, context);
  warn_of_other_means(truth.path, "cost", rows, rows.cost, joined.cost, context);
}

}  // namespace

void require_trainable(const data::Trial& trial, const data::Study& study, const std::vector<ComparisonEntry>& entries,
                       core::RunContext& context) {
  std::set<std::string> prepared;
  for (const ComparisonEntry& entry : entries) {
    // `auto` leaves out what does not fit, but for the simplest.
    const train::Method& method = train::find_method(entry.method == "auto" ? "tsm" : entry.method);
    const bool particular = method.two_arms_only || method.ordered_arms_only;
    const bool with_trial = concerns_trial(entry) || (particular && prepared.insert(entry.method).second);
    try {
      train::require_trainable(trial, compare::study_for_entry(study, entry), method, with_trial, context);
    } catch (const core::Error& error) {
      core::ErrorDetails details = error.details();
      if (error.kind() == core::ErrorKind::interrupted) throw;
      const bool is_named = details.field == "method.name" && entry.name == entry.method;  // the text begins with it
      if (!is_named)
        details.where = details.where.empty() ? entry.name : fmt::format("{}, {}", entry.name, details.where);
      if (details.field == "method.name") details.field.clear();
      const core::Error told(std::move(details));
      // A method that does not suit the trial takes the others down only where it is what they are compared with.
      if (&entry == &entries.front() || !entry.settings.empty()) throw told;
      context.warn(fmt::format("{}; the others go on", told.what()));
    }
  }
}

void require_inputs(const JudgedTrial& judged, const EvaluateRequest& evaluation, core::RunContext& context) {
  if (evaluation.truth) require_truth(*judged.trial, judged.rows, *evaluation.truth, context);
  for (const std::string& column : evaluation.segments)
    (void)io::read_unit_labels(judged.path, judged.study.columns.id.value_or(""), column, context);
}

void warn_of_budgets(const data::Trial& trial, const data::Study& study, core::RunContext& context) {
  const double control = data::arm_costs(trial).of_control();
  std::vector<std::string> below;
  for (const data::Budget& budget : data::resolve_budgets(study, trial)) {
    if (budget.above_control(control) < 0.0)
      below.push_back(fmt::format("{} ({:.4g} a unit)", budget.label, budget.per_unit));
  }
  if (below.empty()) return;
  context.warn(
      fmt::format("[budgets] {}: less than everyone in control costs, {:.4g} a unit; plans that give anything "
                  "away cannot meet them",
                  fmt::join(below, ", "), control));
}

}  // namespace dfcl::verbs

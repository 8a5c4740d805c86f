// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/evaluate_unseen.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/data/unit_key.h"
#include "dfcl/evaluate/curves/plans_by_spend.h"
#include "dfcl/evaluate/estimators/join.h"
#include "dfcl/model/trained_units.h"
#include "dfcl/train/shrunk.h"

namespace dfcl::train {
namespace {

constexpr std::size_t kNumPlans = 20;

// All of them, or a share that is drawn by cluster or id.
std::vector<std::size_t> chosen_units(const data::Trial& trial, std::span<const std::uint32_t> rows) {
  if (rows.size() <= kMostValuedUnits) return {rows.begin(), rows.end()};
  const double share = static_cast<double>(kMostValuedUnits) / static_cast<double>(rows.size());
  const double limit = share * static_cast<double>(std::numeric_limits<std::uint64_t>::max());
  std::vector<std::size_t> chosen;
  for (const std::uint32_t row : rows) {
    const std::uint64_t hash = core::combine_hashes(core::hash_text("valued"), data::group_key(trial, row));
    if (static_cast<double>(hash) < limit) chosen.push_back(row);
  }
  return chosen;
}

bool are_enough(const data::Trial& trial, const std::vector<std::size_t>& units) {
  std::vector<std::size_t> per_arm(trial.arms.size());
  for (const std::size_t unit : units) ++per_arm[trial.arm[unit]];
  return *std::min_element(per_arm.begin(), per_arm.end()) >= kLeastValuedPerArm;
}

bool are_unseen(const data::Trial& trial, const model::TrainedUnits* earlier, const std::vector<std::size_t>& units) {
  if (earlier == nullptr) return true;
  std::vector<std::uint8_t> is_chosen(trial.num_units());
  for (const std::size_t unit : units) is_chosen[unit] = 1;
  return model::overlap_with(*earlier, trial, is_chosen).num_trained == 0;
}

// Units that no evaluation would take are no reason not to train.
std::optional<evaluate::TrialRows> rows_or_none(const data::Trial& trial, std::vector<std::size_t> units) {
  try {
    evaluate::TrialRows rows = evaluate::rows_of(trial, std::move(units), "the units not seen");
    rows.guardrails.clear();  // a promise is about money
    return rows;
  } catch (const core::Error& error) {
    if (error.kind() != core::ErrorKind::data) throw;
    return std::nullopt;
  }
}

// In the order of the rows that are evaluated.
evaluate::JoinedPrediction joined(const evaluate::TrialRows& rows, std::span<const std::uint32_t> of_trial,
                                  const learn::Predicted& predicted) {
  const std::size_t num_arms = predicted.revenue.cols();
  evaluate::JoinedPrediction result{
      core::Matrix<float>(rows.size(), num_arms), core::Matrix<float>(rows.size(), num_arms), {}};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto found = std::lower_bound(of_trial.begin(), of_trial.end(), rows.trial_row[row]);
    const auto place = static_cast<std::size_t>(found - of_trial.begin());
    std::ranges::copy(predicted.revenue.row(place), result.revenue.row(row).begin());
    std::ranges::copy(predicted.cost.row(place), result.cost.row(row).begin());
  }
  return result;
}

}  // namespace

std::optional<data::EvaluatedPlans> evaluate_unseen(const data::Trial& trial, const data::Study& study,
                                                    const model::Model& model, std::span<const std::uint32_t> rows,
                                                    const learn::Predicted& predicted, data::UnseenUnits kind,
                                                    const model::TrainedUnits* earlier, core::RunContext& context) {
  std::vector<std::size_t> units = chosen_units(trial, rows);
  if (!are_enough(trial, units) || !are_unseen(trial, earlier, units)) return std::nullopt;
  const std::optional<evaluate::TrialRows> found = rows_or_none(trial, std::move(units));
  if (!found || found->num_groups() < kLeastValuedPerArm) return std::nullopt;
  const evaluate::TrialRows& evaluated = *found;
  const evaluate::JoinedPrediction prediction = joined(evaluated, rows, predicted);
  evaluate::JudgedModel judged{.name = model.method, .is_index = model.is_index()};
  judged.prediction = prediction.outcomes();
  if (model.cost_facts.kind == data::CostKind::price) judged.price = model.cost_facts.per_arm;
  const evaluate::Outcomes nuisance = model.is_index() ? evaluate::Outcomes{} : prediction.outcomes();
  data::EvaluatedPlans result;
  result.units = kind;
  result.num_units = evaluated.size();
  result.chose_members = model.stack.has_value();
  result.plans = evaluate::plans_by_spend(
      evaluated, judged, nuisance, {study.cost.control_is_free, study.cost.non_negative, study.cost.rises_with_arm},
      kNumPlans, context);
  return data::is_sound(result) ? std::optional(std::move(result)) : std::nullopt;
}

double plan_cost_factor(const data::EvaluatedPlans& evaluated) {
  // The plans share most of their units, so that their errors are taken to go together; each counts by what it says.
  double spend = 0.0, cost = 0.0, error = 0.0;
  for (const data::EvaluatedPlan& plan : evaluated.plans) {
    if (!(plan.spend > 0.0) || !(plan.cost_error > 0.0)) continue;
    const double weight = plan.spend / (plan.cost_error * plan.cost_error);
    spend += weight * plan.spend;
    cost += weight * plan.cost;
    error += weight * plan.cost_error;
  }
  if (!(spend > 0.0)) return 1.0;
  const double variance = (error / spend) * (error / spend);
  return std::clamp(1.0 + shrunk(cost / spend - 1.0, variance), 1.0 / learn::kMostPlanFactor, learn::kMostPlanFactor);
}

}  // namespace dfcl::train

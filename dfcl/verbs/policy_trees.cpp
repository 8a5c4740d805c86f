// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/policy_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/data/unit_key.h"
#include "dfcl/policy/policy_tree.h"
#include "dfcl/verbs/evaluate_on.h"

namespace dfcl::verbs {
namespace {

constexpr std::size_t kLeastRows = 200;  // that trees are fitted to

// A sample of the rows that are not evaluated, whatever their order.
std::vector<std::size_t> other_units(const EvaluateRequest& request, const JudgedTrial& judged) {
  const data::Trial& trial = *judged.own;
  const std::optional<data::Split> evaluated = split_of_rows(request.split);
  std::vector<std::pair<std::uint64_t, std::size_t>> drawn;
  if (judged.own == judged.trial && !evaluated) return {};
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.split[unit] == evaluated) continue;
    const std::uint64_t key = trial.ids.are_row_numbers() ? unit : data::unit_key(trial, unit);
    drawn.emplace_back(core::combine_hashes(core::hash_text("policy tree"), key), unit);
  }
  const std::size_t count = std::min(drawn.size(), policy::kMostSampled);
  std::partial_sort(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(count), drawn.end());
  std::vector<std::size_t> units;
  for (std::size_t i = 0; i < count; ++i) units.push_back(drawn[i].second);
  return units;
}

// The rows that trees are fitted to, with their features.
struct OtherRows {
  JudgedTrial judged;
  data::Features features;
};

std::optional<OtherRows> other_rows(const EvaluateRequest& request, const JudgedTrial& judged, std::string& why_not,
                                    core::RunContext& context) {
  std::vector<std::size_t> units = other_units(request, judged);
  if (units.size() < kLeastRows) {
    why_not =
        fmt::format("there are {} rows that are not evaluated, and {} or more are needed", units.size(), kLeastRows);
  } else if (judged.own->features.columns.empty()) {
    why_not = "the trial has no features";
  } else if (judged.own->features.columns != judged.trial->features.columns) {
    why_not = "the test file has other features or levels than the trial";
  }
  if (!why_not.empty()) return std::nullopt;
  try {
    OtherRows others;
    others.judged.study = judged.study;
    others.judged.own = others.judged.trial = judged.own;
    others.judged.path = trial_path(with_trial(judged.study, request.study));
    others.judged.rows = evaluate::rows_of(*judged.own, std::move(units), "the rows that are not evaluated");
    others.features = features_of_rows(judged.own->features, others.judged.rows.trial_row, context);
    return others;
  } catch (const core::Error& error) {
    if (error.kind() != core::ErrorKind::data) throw;
    why_not = error.details().what;
    return std::nullopt;
  }
}

// What the plan of each budget is on these rows.
std::vector<policy::PolicyTarget> targets_of(const evaluate::TrialRows& rows, const TrialPrediction& predicted,
                                             const evaluate::EvaluationOptions& options, const allocate::Rules& rules,
                                             core::RunContext& context) {
  allocate::Problem problem;
  problem.revenue = predicted.prediction.revenue.view();
  problem.cost = predicted.prediction.cost.view();
  problem.keys = rows.key;
  problem.rules = rules;
  allocate::PlanPath path(problem);
  const auto num_units = static_cast<double>(rows.size());
  double control = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row)
    control += static_cast<double>(problem.cost(row, rules.control)) / num_units;
  if (!rules.price.empty()) control = rules.price[rules.control];
  std::vector<policy::PolicyTarget> targets;
  for (const double budget : options.budgets_per_unit) {
    const double above = options.budget_basis == data::BudgetBasis::total ? budget - control : budget;
    const allocate::PathPlan plan = path.at_budget((above + control) * num_units, context);
    targets.push_back({plan.summary.has_plan() ? plan.summary.multiplier : 0.0, above});
  }
  return targets;
}

std::vector<std::uint8_t> leaves_of(const policy::SplitTree& tree, const JudgedTrial& judged) {
  std::vector<std::uint8_t> leaves;
  leaves.reserve(judged.rows.size());
  for (const std::size_t row : judged.rows.trial_row)
    leaves.push_back(static_cast<std::uint8_t>(tree.leaf_of(judged.trial->features.values.row(row))));
  return leaves;
}

// The mean predicted revenue of the models, which no order of them changes but by rounding.
class MeanRevenue {
 public:
  void add(const core::Matrix<float>& revenue) {
    if (sum_.rows() == 0) {
      sum_ = core::Matrix<float>(revenue.rows(), revenue.cols());
      std::fill_n(sum_.data(), sum_.view().size(), 0.0f);
    }
    for (std::size_t i = 0; i < sum_.view().size(); ++i) sum_.data()[i] += revenue.data()[i];
    ++count_;
  }
  bool is_empty() const { return count_ == 0; }
  core::Matrix<float> mean() {
    for (std::size_t i = 0; i < sum_.view().size(); ++i) sum_.data()[i] /= static_cast<float>(count_);
    return std::move(sum_);
  }

 private:
  core::Matrix<float> sum_;
  std::size_t count_ = 0;
};

std::optional<TrialPrediction> predict_others(const ModelInput& model, bool is_index, const OtherRows& others,
                                              std::string& why_not, core::RunContext& context) {
  try {
    TrialPrediction predicted = predict_trial(model, others.judged, {TrainingRows::allow}, context);
    predicted.is_index = is_index;  // as it is judged: the request may say what the file does not
    set_known_prices(others.judged.rows, predicted);
    return predicted;
  } catch (const core::Error& error) {
    if (error.kind() != core::ErrorKind::data) throw;
    why_not = "predictions hold only rows that are evaluated";
    return std::nullopt;
  }
}

}  // namespace

void set_known_prices(const evaluate::TrialRows& rows, TrialPrediction& predicted) {
  if (rows.prices().empty() || predicted.is_index) return;
  evaluate::JoinedPrediction& prediction = predicted.prediction;
  prediction.price.assign(rows.prices().begin(), rows.prices().end());
  for (std::size_t row = 0; row < prediction.cost.rows(); ++row) {
    for (std::size_t arm = 0; arm < prediction.price.size(); ++arm)
      prediction.cost(row, arm) = static_cast<float>(prediction.price[arm]);
  }
}

void add_trees(const EvaluateRequest& request, const std::vector<ModelInput>& models, const JudgedTrial& judged,
               const evaluate::EvaluationOptions& options, evaluate::EvaluationInput& input,
               core::RunContext& context) {
  if (request.eligible) {
    input.no_trees_because = "units may not get every arm";
    return;
  }
  std::string& why_not = input.no_trees_because;
  const std::optional<OtherRows> others = other_rows(request, judged, why_not, context);
  if (!others) return;
  const std::size_t control = judged.rows.arms.control;
  MeanRevenue revenue;
  for (std::size_t i = 0; i < input.models.size(); ++i) {
    if (models[i].is_alternative) continue;
    const std::optional<TrialPrediction> predicted =
        predict_others(models[i], input.models[i].is_index, *others, why_not, context);
    if (!predicted) continue;
    if (!predicted->is_index) revenue.add(predicted->prediction.revenue);
    allocate::Rules rules = input.rules;
    rules.control = control;
    rules.price = predicted->prediction.price;
    const policy::PolicyUnits units{others->features.columns, others->features.values.view(),
                                    predicted->prediction.revenue.view(), predicted->prediction.cost.view(),
                                    others->judged.rows.sample};
    const std::vector<policy::PolicyTarget> targets =
        targets_of(others->judged.rows, *predicted, options, rules, context);
    for (policy::PolicyTree& tree : policy::fit_policy_trees(units, rules, targets, context)) {
      evaluate::LeafRows rows{tree.words, leaves_of(tree.tree, judged)};
      input.models[i].trees.push_back({std::move(rows), tree.arm, tree.multiplier});
    }
  }
  if (revenue.is_empty()) return;
  const core::Matrix<float> mean = revenue.mean();
  const policy::PolicyUnits units{
      others->features.columns, others->features.values.view(), mean.view(), {}, others->judged.rows.sample};
  const policy::SegmentTree tree = policy::fit_segment_tree(units, control, context);
  input.segment_tree = evaluate::LeafRows{tree.words, leaves_of(tree.tree, judged)};
}

}  // namespace dfcl::verbs

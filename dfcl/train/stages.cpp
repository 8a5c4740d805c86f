// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/stages.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dfcl/evaluate/estimators/net_value.h"
#include "dfcl/learn/known_costs.h"
#include "dfcl/loss/known_cost_loss.h"
#include "dfcl/loss/prediction_loss.h"

namespace dfcl::train {
namespace {

constexpr std::size_t kMarginUnits = 20'000;

bool learns_cost(const Preparation& prepared) {
  return !prepared.cost_facts.is_known() || prepared.cost_facts.kind == data::CostKind::price_if;
}

// The typical distance between the best and the second score, over units and multipliers: what temperatures and windows
// are measured in, so that nothing depends on the currency.
double typical_margin(const learn::Predicted& predicted, const std::vector<double>& multipliers) {
  const auto& [revenue, cost] = predicted;
  std::vector<float> margins;
  for (const double multiplier : multipliers) {
    for (std::size_t row = 0; row < revenue.rows(); ++row) {
      double best = -std::numeric_limits<double>::infinity();
      double second = best;
      for (std::size_t arm = 0; arm < revenue.cols(); ++arm) {
        const double score = static_cast<double>(revenue(row, arm)) - multiplier * static_cast<double>(cost(row, arm));
        if (score > best) {
          second = std::exchange(best, score);
        } else {
          second = std::max(second, score);
        }
      }
      margins.push_back(static_cast<float>(best - second));
    }
  }
  if (margins.empty()) return 1.0;
  const auto middle = margins.begin() + static_cast<std::ptrdiff_t>(margins.size() / 2);
  std::nth_element(margins.begin(), middle, margins.end());
  return std::max(1e-6, static_cast<double>(*middle));
}

core::Matrix<float> copy_of(const core::Matrix<float>& from) {
  core::Matrix<float> copy(from.rows(), from.cols());
  std::copy_n(from.data(), from.rows() * from.cols(), copy.data());
  return copy;
}

// The second fit against the warm start, by net value at its prices with it as nuisance (eq. 20): it never saw the
// validation units. The best of many epochs by this figure would mostly be the luckiest, so only a clear loss counts,
// and not before the last epoch: the rate starts high again, and the first epochs look worse than what becomes of them.
class Judge {
 public:
  Judge(const learn::TrainingSet& set, const learn::Predictor& warm, std::vector<double> multipliers,
        core::RunContext& context)
      : seen_(learn::seen_units(set, set.validation_rows, context)),
        warm_(learn::predict_scaled(warm, set, set.validation_rows, context)),
        multipliers_(std::move(multipliers)),
        rule_(set.cost_rule),
        scale_(set.scales.revenue.scale),
        context_(context) {}

  void operator()(const learn::Predicted& predicted, bool is_last, learn::EpochRecord& record) const {
    learn::Predicted known;
    const bool has_rule = rule_.is_known();
    if (has_rule) {
      known = {copy_of(predicted.revenue), copy_of(predicted.cost)};
      learn::apply_rule(rule_, known);
    }
    const learn::Predicted& judged = has_rule ? known : predicted;
    const evaluate::RewardUnits units{seen_.arm,         seen_.revenue, seen_.cost,  seen_.weight, warm_.revenue.view(),
                                      warm_.cost.view(), seen_.cluster, seen_.sample};
    const evaluate::Scores scores{judged.revenue.view(), judged.cost.view()};
    const evaluate::Scores warm{warm_.revenue.view(), warm_.cost.view()};
    const evaluate::Estimate value = evaluate::net_value(units, scores, multipliers_, context_).mean();
    const evaluate::Estimate gain = evaluate::net_value_difference(units, scores, warm, multipliers_, context_).mean();
    record.validation_value = value.value * scale_;
    record.went_back = is_last && gain.value < -2.0 * gain.standard_error;
  }

 private:
  learn::SeenUnits seen_;
  learn::Predicted warm_;
  std::vector<double> multipliers_;
  loss::CostRule rule_;
  double scale_;
  core::RunContext& context_;
};

}  // namespace

std::vector<std::uint32_t> thinned(std::span<const std::uint32_t> rows, std::size_t most) {
  if (rows.size() <= most) return {rows.begin(), rows.end()};
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(rows[i * rows.size() / most]);
  return chosen;
}

learn::Objective prediction_objective(const Preparation& prepared, const Method& method) {
  learn::Objective objective;
  const bool scores = method.learns_efficiencies();
  objective.add(std::make_unique<loss::PredictionLoss<float>>(loss::PredictionOptions{
                    prepared.facts.revenue.kind, prepared.facts.cost.kind, !scores, scores || learns_cost(prepared)}),
                1.0, 1.0);
  if (scores) objective.add(method.scores(prepared.facts.cost.num_arms, prepared.efficiency_cost_scale), 1.0, 1.0);
  objective.received_arm_only = !scores;
  objective.revenue_form = method.revenue_form;
  objective.efficiency_cost_scale = prepared.efficiency_cost_scale;
  return objective;
}

namespace {

std::vector<float> chosen_weights(std::span<const float> sample, std::span<const std::uint32_t> rows) {
  std::vector<float> chosen;
  for (std::size_t i = 0; !sample.empty() && i < rows.size(); ++i) chosen.push_back(sample[rows[i]]);
  return chosen;
}

}  // namespace

DecisionPrices decision_prices(const learn::Predictor& warm, const learn::TrainingSet& set, const Preparation& prepared,
                               const Settings& settings, core::RunContext& context) {
  DecisionPrices prices;
  const std::vector<std::uint32_t> rows = thinned(set.rows, kPriceUnits);
  if (settings.multipliers.empty()) {
    const learn::Predicted predicted = learn::predict_scaled(warm, set, rows, context);
    prices.multipliers = budget_multipliers(predicted.revenue.view(), predicted.cost.view(), set.arms->control,
                                            prepared.scaled_budgets, context, chosen_weights(set.sample, rows));
  } else {
    for (const double multiplier : settings.multipliers)
      prices.multipliers.push_back(multiplier * prepared.scales.multiplier_factor());
  }
  prices.temperature = settings.temperature;
  if (settings.relative_temperature) {
    const learn::Predicted predicted = learn::predict_scaled(warm, set, thinned(rows, kMarginUnits), context);
    prices.temperature *= typical_margin(predicted, prices.multipliers);
  }
  return prices;
}

learn::Objective decision_objective(const Preparation& prepared, const Settings& settings,
                                    const DecisionPrices& prices) {
  const Method& method = settings.method;
  learn::Objective objective;
  objective.add(std::make_unique<loss::PredictionLoss<float>>(loss::PredictionOptions{
                    prepared.facts.revenue.kind, prepared.facts.cost.kind, true, learns_cost(prepared)}),
                settings.alpha, 1.0);
  const data::CostKind known = prepared.cost_facts.kind;
  LossPointer decision =
      method.decision({.multipliers = prices.multipliers,
                       .baseline = settings.baseline,
                       .temperature = prices.temperature,
                       .window = method.fixed_window > 0.0 ? method.fixed_window : prices.temperature,
                       // A rate makes cost of revenue, and the gradient goes there.
                       .gradient_to_cost = known == data::CostKind::rate ||
                                           (known == data::CostKind::observed && settings.gradient_to_cost),
                       .as_published = settings.as_published});
  if (prepared.cost_facts.is_known()) {
    decision = std::make_unique<loss::KnownCostLoss<float>>(std::move(decision),
                                                            learn::scaled_rule(prepared.cost_facts, prepared.scales));
  }
  objective.add(std::move(decision), 1.0, 0.0);
  objective.decides = true;
  for (const double multiplier : prices.multipliers)
    objective.multipliers.push_back(multiplier / prepared.scales.multiplier_factor());
  return objective;
}

FineTuned fine_tune(const learn::Learner& learner, const learn::TrainingSet& set, const Preparation& prepared,
                    const Settings& settings, const learn::Predictor& warm, learn::Stage stage,
                    core::RunContext& context) {
  const DecisionPrices prices = decision_prices(warm, set, prepared, settings, context);
  stage.first_epoch = settings.warm_epochs;
  stage.epochs = settings.epochs - settings.warm_epochs;
  stage.rate_share = settings.decision_rate_share;
  stage.start = &warm;
  if (!set.validation_rows.empty())
    stage.judge = [judge = std::make_shared<Judge>(set, warm, prices.multipliers, context)](
                      const learn::Predicted& predicted, bool is_last, learn::EpochRecord& record) {
      (*judge)(predicted, is_last, record);
    };
  FineTuned result{learner.fit(set, decision_objective(prepared, settings, prices), stage, context), false};
  result.went_back = !result.fit.record.empty() && result.fit.record.back().went_back;
  return result;
}

learn::Fit fit_stages(const learn::Learner& learner, const learn::TrainingSet& set, const Preparation& prepared,
                      const Settings& settings, std::size_t member, const learn::Predictor* start,
                      const std::string& name, const FillStage& fill, core::RunContext& context) {
  const auto stage_of = [&](const std::string& stage_name) {
    learn::Stage stage{.member = member};
    if (fill) fill(stage, stage_name);
    return stage;
  };
  learn::Stage first = stage_of(name);
  first.epochs = settings.warm_epochs;
  first.start = start;
  learn::Fit warm = learner.fit(set, prediction_objective(prepared, settings.method), first, context);
  if (!settings.method.decides()) return warm;
  FineTuned tuned = fine_tune(learner, set, prepared, settings, *warm.predictor, stage_of(name + "-decision"), context);
  if (!tuned.went_back) warm.predictor = std::move(tuned.fit.predictor);
  warm.record.insert(warm.record.end(), tuned.fit.record.begin(), tuned.fit.record.end());
  return warm;
}

learn::Fit fit_on_base(const learn::Learner* base, const learn::Learner& learner, learn::TrainingSet set,
                       const Preparation& prepared, const Settings& settings, const FillStage& fill,
                       core::RunContext& context) {
  const learn::Objective objective = prediction_objective(prepared, settings.method);
  BaseFit fitted;
  // What is predicted of validation units must not come from trees that stopped by them.
  if (settings.method.uses("out-of-sample")) set.validation_rows = {};
  if (base != nullptr) fitted = fit_base(*base, set, objective, settings.warm_epochs, fill, context);
  if (base != nullptr) set.base = &fitted.base;
  learn::Stage stage{.epochs = settings.warm_epochs};
  if (fill) fill(stage, "whole");
  learn::Fit fit = learner.fit(set, objective, stage, context);
  fit.record.insert(fit.record.begin(), fitted.record.begin(), fitted.record.end());
  return fit;
}

}  // namespace dfcl::train

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/version.h"
#include "dfcl/learn/known_costs.h"
#include "dfcl/model/predict.h"
#include "dfcl/train/calibrate.h"
#include "dfcl/train/evaluate_unseen.h"
#include "dfcl/train/held_out.h"
#include "dfcl/train/stages.h"

namespace dfcl::train {
namespace {

learn::Outcomes outcomes_of(learn::Predicted& predicted) { return {predicted.revenue.view(), predicted.cost.view()}; }

// Chosen rows of both tables.
learn::Predicted chosen(const learn::Predicted& all, std::span<const std::uint32_t> places,
                        const core::RunContext& context) {
  learn::Predicted some{core::Matrix<float>(context.scratch(), places.size(), all.revenue.cols()),
                        core::Matrix<float>(context.scratch(), places.size(), all.revenue.cols())};
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::ranges::copy(all.revenue.row(places[i]), some.revenue.row(i).begin());
    std::ranges::copy(all.cost.row(places[i]), some.cost.row(i).begin());
  }
  return some;
}

void set_multipliers(const Finishing& finishing, const learn::Predicted& predicted, model::Model& result,
                     core::RunContext& context) {
  const Preparation& prepared = finishing.prepared;
  const std::vector<double> multipliers = budget_multipliers(predicted.revenue.view(), predicted.cost.view(),
                                                             finishing.trial.arms.control, prepared.budgets, context);
  for (std::size_t i = 0; i < multipliers.size(); ++i) {
    result.multipliers.push_back({prepared.budgets[i].label, prepared.budgets[i].per_unit, multipliers[i],
                                  multipliers[i] * prepared.scales.multiplier_factor(), prepared.budgets[i].basis});
  }
}

// By the model, of rows of the trial; as_learned leaves known costs out.
learn::Predicted predict_rows(const Finishing& finishing, const model::Model& model,
                              std::span<const std::uint32_t> rows, bool as_learned, core::RunContext& context) {
  learn::Predicted predicted{core::Matrix<float>(context.scratch(), rows.size(), model.arms.size()),
                             core::Matrix<float>(context.scratch(), rows.size(), model.arms.size())};
  if (rows.empty()) return predicted;  // no rows would mean all
  model::predict_learned(model, {finishing.trial.features.values.view(), rows}, outcomes_of(predicted), context);
  if (!as_learned) learn::set_known_costs(model.cost_facts, outcomes_of(predicted));
  return predicted;
}

void calibrate(const Finishing& finishing, const CalibrationUnits& units, learn::Predicted& predicted,
               model::Model& result, core::RunContext& context) {
  const learn::TrainingSet set = finishing.prepared.training_set(finishing.trial);
  result.calibration = fit_calibration(units, predicted, set.facts, result.arms.control, set.learns_cost, context);
  learn::calibrate(*result.calibration, result.arms.control, outcomes_of(predicted));
}

// Makes the predicted cost of plans what plans cost on units that were not seen. The plans stay the same: all arms'
// costs over control are multiplied alike. Costs that are known, in part or whole, stay.
void set_plan_factor(const Finishing& finishing, learn::Predicted& predicted, model::Model& result) {
  const bool is_learned = finishing.prepared.training_set(finishing.trial).learns_cost;
  if (!result.calibration || !result.evaluated || !is_learned || finishing.prepared.cost_facts.is_known()) return;
  const double factor = plan_cost_factor(*result.evaluated);
  result.calibration->cost.plan_factor = factor;
  if (factor == 1.0) return;
  for (data::EvaluatedPlan& plan : result.evaluated->plans) plan.spend *= factor;
  const std::size_t control = result.arms.control;
  for (std::size_t row = 0; row < predicted.cost.rows(); ++row) {
    const float base = predicted.cost(row, control);
    for (std::size_t arm = 0; arm < predicted.cost.cols(); ++arm) {
      const double effect = static_cast<double>(predicted.cost(row, arm)) - static_cast<double>(base);
      predicted.cost(row, arm) =
          static_cast<float>(result.calibration->cost.form.bounded(static_cast<double>(base) + factor * effect));
    }
  }
}

}  // namespace

bool is_calibrated_by_validation(const data::Study& study, const Method& method, bool starts_from_model) {
  return method.uses("validated") && !starts_from_model && !study.method.calibrate && !study.method.as_published;
}

bool is_calibrated(const data::Study& study, const Method& method, bool starts_from_model) {
  const bool asked = study.method.calibrate.value_or(false);
  if (method.learns_efficiencies()) {
    if (asked)
      throw core::field_error("method.calibrate",
                              fmt::format("{} learns an index, whose levels mean nothing", method.name), "true",
                              "false");
    return false;
  }
  if (starts_from_model && asked)
    throw core::field_error("method.calibrate", "the model that training starts from may have seen every unit", "true",
                            "false");
  if (starts_from_model) return false;
  return study.method.calibrate.value_or(method.uses("out-of-sample") && !study.method.as_published);
}

model::Model model_frame(const Finishing& finishing, const std::string& method, std::uint64_t seed,
                         const std::string& study_text, const model::Model* start, core::RunContext& context) {
  const data::Trial& trial = finishing.trial;
  model::Model result;
  result.version = core::version();
  result.method = method;
  result.seed = seed;
  result.study = study_text;
  result.arms = trial.arms;
  result.features = trial.features.columns;
  result.id_column = finishing.study.columns.id.value_or("");
  result.missing = finishing.study.columns.missing;
  result.cost_facts = finishing.prepared.cost_facts;
  // Validation units stop fits, weigh members and calibrate: the model has seen them too.
  std::vector<std::uint8_t> is_seen(trial.num_units());
  for (std::size_t unit = 0; unit < is_seen.size(); ++unit)
    is_seen[unit] = trial.split[unit] == data::Split::test ? 0 : 1;
  result.trained = model::trained_units(trial, finishing.study.split, is_seen);
  result.trained.num_units = finishing.prepared.train_rows.size();
  if (start != nullptr) model::add_earlier(result.trained, start->trained);
  result.summaries = model::summarise_features(trial.features, trial.ids, finishing.prepared.train_rows, context);
  return result;
}

void finish_with_unseen(const Finishing& finishing, const HeldUnits& units, learn::Predicted unseen, bool calibrated,
                        model::Model& result, core::RunContext& context, std::size_t num_fitted) {
  const data::Trial& trial = finishing.trial;
  const learn::TrainingSet set = finishing.prepared.training_set(trial);
  const HeldOutcomes outcomes = held_outcomes(trial, finishing.prepared, units.rows, context);
  if (calibrated) {
    CalibrationUnits fitting = outcomes.as_units();
    fitting.num_fitted = num_fitted;
    calibrate(finishing, fitting, unseen, result, context);
  }
  result.held_out = out_of_fold_loss(set, units, outcomes, unseen, context);
  learn::set_known_costs(finishing.prepared.cost_facts, outcomes_of(unseen));
  result.evaluated = evaluate_unseen(trial, finishing.study, result, units.rows, unseen, data::UnseenUnits::out_of_fold,
                                     finishing.earlier, context);
  set_plan_factor(finishing, unseen, result);
  std::vector<std::uint32_t> training;
  for (std::uint32_t place = 0; place < units.size(); ++place) {
    if (units.is_training[place] != 0) training.push_back(place);
  }
  set_multipliers(finishing, chosen(unseen, thinned(training, kPriceUnits), context), result, context);
  if (!finishing.on_out_of_bag) return;
  learn::Predicted own = chosen(unseen, training, context);
  finishing.on_out_of_bag({{.arms = trial.arms},
                           trial.ids.chosen(finishing.prepared.train_rows),
                           std::move(own.revenue),
                           std::move(own.cost)});
}

void finish_without_unseen(const Finishing& finishing, bool calibrated, model::Model& result,
                           core::RunContext& context) {
  const Preparation& prepared = finishing.prepared;
  if (!prepared.validation_rows.empty()) {
    learn::Predicted predicted = predict_rows(finishing, result, prepared.validation_rows, true, context);
    if (calibrated && prepared.validation_rows.size() >= kLeastCalibrationUnits) {
      const HeldOutcomes outcomes = held_outcomes(finishing.trial, prepared, prepared.validation_rows, context);
      CalibrationUnits units = outcomes.as_units();
      units.num_fitted = prepared.train_rows.size();
      calibrate(finishing, units, predicted, result, context);
    }
    if (!result.is_index())
      result.held_out = validation_loss(prepared.training_set(finishing.trial), predicted, context);
    learn::set_known_costs(prepared.cost_facts, outcomes_of(predicted));
    result.evaluated = evaluate_unseen(finishing.trial, finishing.study, result, prepared.validation_rows, predicted,
                                       data::UnseenUnits::validation, finishing.earlier, context);
    set_plan_factor(finishing, predicted, result);
  }
  const std::vector<std::uint32_t> rows = thinned(prepared.train_rows, kPriceUnits);
  set_multipliers(finishing, predict_rows(finishing, result, rows, false, context), result, context);
}

}  // namespace dfcl::train

// SPDX-License-Identifier: Apache-2.0
//
// What an evaluation says of one model.
#include "dfcl/report/evaluation/evaluation_description.h"

namespace dfcl::report {

using evaluate::AuccFigures;
using evaluate::CalibrationGroup;
using evaluate::CurvePointFigures;
using evaluate::FeatureImportance;
using evaluate::FitFigures;
using evaluate::GuardrailFigures;
using evaluate::JudgedPlan;
using evaluate::OutcomeFit;
using evaluate::QiniFigures;
using evaluate::SegmentFigures;
using evaluate::SegmentValue;

namespace {

// A text that may be empty, and is then absent.
auto said(std::string JudgedPlan::*text) {
  return [text](const JudgedPlan& plan) { return (plan.*text).empty() ? std::nullopt : std::optional(plan.*text); };
}

// An interval that some plans do not have.
auto at_once(core::Interval JudgedPlan::*interval) {
  return [interval](const JudgedPlan& plan) {
    return plan.pays_back.empty() ? std::nullopt : std::optional(plan.*interval);
  };
}

}  // namespace

static const Described<GuardrailFigures>& description(Of<GuardrailFigures>) {
  using G = GuardrailFigures;
  static const auto guardrail =
      Described<G>("Guardrail", "What a plan does to a further outcome, of which more is worse.")
          .field("name", &G::name, "the column of the outcome")
          .field("control", &G::control, {"its mean, were everyone in control", kPerUnit})
          .field("increment", &G::increment, {"over that", kPerUnit})
          .field("relative", &G::relative, {"share of it; null where control has next to none", kShare})
          .field(
              "simultaneous_low", &G::simultaneous_low,
              {"of the increment: ends that hold for all guardrails, models, budgets and baselines at once", kPerUnit})
          .field("simultaneous_high", &G::simultaneous_high, {"likewise", kPerUnit})
          .field("harmed", &G::harmed, "`yes`: it rises; `no`: it does not; `not_shown`, by these ends")
          .field("sentence", &G::sentence, "the same in words");
  return guardrail;
}

const Described<JudgedPlan>& description(Of<JudgedPlan>) {
  static const auto plan =
      Described<JudgedPlan>("PlanValue", "A plan at a budget, and what it is worth.")
          .field("budget_per_unit", &JudgedPlan::budget_per_unit, {"the budget", kPerUnit})
          .field("multiplier", &JudgedPlan::multiplier, "what one more unit of budget would earn, as predicted")
          .field("feasible", &JudgedPlan::feasible, "false: even the cheapest plan spends more than the budget")
          .field("revenue", &JudgedPlan::revenue, {"estimated revenue", kPerUnit})
          .field("incremental_revenue", &JudgedPlan::incremental_revenue,
                 {"revenue over that of everyone in control", kPerUnit})
          .field("cost", &JudgedPlan::cost, {"estimated cost, what control costs included", kPerUnit})
          .field("incremental_cost", &JudgedPlan::incremental_cost, {"cost over that of everyone in control", kPerUnit})
          .field("return_per_cost", &JudgedPlan::return_per_cost,
                 "incremental revenue per incremental cost, with Fieller's interval; null where it is not defined")
          .maybe("incremental_profit", &JudgedPlan::incremental_profit,
                 {"worth of the incremental revenue minus incremental cost; where [value] says what revenue is worth",
                  kPerUnit})
          .maybe("roi", &JudgedPlan::roi, "incremental profit per incremental cost; likewise")
          .maybe("hajek_incremental_revenue", &JudgedPlan::hajek_incremental_revenue,
                 {"revenue over that of everyone in control by Hajek, beside a doubly robust figure; of deployed plans",
                  kPerUnit})
          .maybe("hajek_incremental_cost", &JudgedPlan::hajek_incremental_cost, {"likewise, of cost", kPerUnit})
          .maybe(
              "simultaneous_incremental_revenue", at_once(&JudgedPlan::simultaneous_increment),
              {"the same figure, with ends that hold for all models, budgets and baselines at once; of deployed plans",
               kPerUnit})
          .maybe("simultaneous_incremental_profit", &JudgedPlan::simultaneous_profit,
                 {"likewise, of incremental profit", kPerUnit})
          .maybe("pays_back", said(&JudgedPlan::pays_back),
                 "`yes`, `no`, `not_shown`, or `depends`: a gain is shown, what revenue is worth is not known")
          .maybe("note", said(&JudgedPlan::note), "why a return is not defined, where a fact cut an interval")
          .field("spend_over_budget", &JudgedPlan::spend_over_budget, {"what it spends beyond the budget", kPerUnit})
          .field("predicted_revenue", &JudgedPlan::predicted_revenue, {"revenue as the model predicts it", kPerUnit})
          .field("predicted_cost", &JudgedPlan::predicted_cost, {"cost as the model predicts it", kPerUnit})
          .field("share_per_arm", &JudgedPlan::share_per_arm, {"of the units, by arm of the trial", kShare})
          .maybe(
              "guardrails",
              [](const JudgedPlan& one) {
                return one.guardrails.empty() ? std::nullopt : std::optional(one.guardrails);
              },
              "further outcomes that a plan must not raise, where the study names any; of deployed plans and baselines")
          .maybe("true_revenue", &JudgedPlan::true_revenue, {"expected revenue; with a truth only", kPerUnit})
          .maybe("true_cost", &JudgedPlan::true_cost, {"expected cost; with a truth only", kPerUnit})
          .maybe("share_of_oracle", &JudgedPlan::share_of_oracle,
                 {"of the best possible increment at the plan's own true spend; with a truth only", kShare});
  return plan;
}

const Described<CurvePointFigures>& description(Of<CurvePointFigures>) {
  using P = CurvePointFigures;
  static const auto point =
      Described<P>("CurvePoint", "A plan on the cost curve.")
          .field("budget_per_unit", &P::budget_per_unit, {"the budget", kPerUnit})
          .field("multiplier", &P::multiplier, "what one more unit of budget would earn, as predicted")
          .field("cost", &P::cost, {"estimated cost", kPerUnit})
          .field("revenue", &P::revenue, {"estimated revenue", kPerUnit})
          .field("incremental_revenue", &P::incremental_revenue, {"over everyone in control", kPerUnit})
          .maybe("incremental_profit", &P::incremental_profit,
                 {"likewise; where [value] says what revenue is worth", kPerUnit})
          .field("share_per_arm", &P::share_per_arm, {"of the units, by arm of the trial", kShare});
  return point;
}

static const Described<AuccFigures>& description(Of<AuccFigures>) {
  static const auto aucc =
      Described<AuccFigures>("ArmArea", "Area under the cost curve (AUCC) of one arm against control; 0.5 is random.")
          .field("arm", &AuccFigures::arm, "label")
          .field("published", &AuccFigures::published, "by levels of cost, as published")
          .field("levels", &AuccFigures::levels, "how many levels")
          .field("area", &AuccFigures::area, "exact area of the same curve")
          .field("unnormalised_area", &AuccFigures::unnormalised_area, "in revenue x cost per unit")
          .field("note", &AuccFigures::note, "why there is no interval, levels that were skipped");
  return aucc;
}

static const Described<QiniFigures>& description(Of<QiniFigures>) {
  static const auto qini =
      Described<QiniFigures>("ArmUplift", "Uplift measures of one arm against control.")
          .field("arm", &QiniFigures::arm, "label")
          .field("qini", &QiniFigures::qini,
                 "Qini coefficient as scikit-uplift's qini_auc_score has it: 0 is random, 1 the "
                 "best ranking; null where even the best gains nothing")
          .field("qini_area", &QiniFigures::qini_area, {"area between the Qini curve and the straight line", kPerUnit})
          .field("auuc", &QiniFigures::auuc, {"area under the uplift curve", kPerUnit});
  return qini;
}

static const Described<OutcomeFit>& description(Of<OutcomeFit>) {
  static const auto fit = Described<OutcomeFit>("FitError", "How far predictions are from one outcome.")
                              .field("mse", &OutcomeFit::mse, "mean squared error")
                              .field("log_loss", &OutcomeFit::log_loss, "where every outcome is 0 or 1");
  return fit;
}

static const Described<CalibrationGroup>& description(Of<CalibrationGroup>) {
  using G = CalibrationGroup;
  static const auto group = Described<G>("CalibrationPoint", "A tenth of the units, by their prediction.")
                                .field("predicted", &G::predicted, {"mean prediction", kPerUnit})
                                .field("observed", &G::observed, {"mean outcome", kPerUnit})
                                .field("units", &G::num_units, {"how many", kUnits});
  return group;
}

static const Described<SegmentValue>& description(Of<SegmentValue>) {
  using V = SegmentValue;
  static const auto value =
      Described<V>("SegmentValue", "The units with one value of a segment column, under the deployed plans.")
          .field("value", &V::value, "the value")
          .field("units", &V::num_units, {"how many", kUnits})
          .field("share_per_arm", &V::share_per_arm, {"of these units, by budget and arm", kShare})
          .field("cost_per_unit", &V::cost_per_unit, {"estimated, by budget", kPerUnit})
          .field("revenue_per_unit", &V::revenue_per_unit, {"estimated, by budget", kPerUnit});
  return value;
}

static const Described<SegmentFigures>& description(Of<SegmentFigures>) {
  static const auto segment = Described<SegmentFigures>("Segment", "A segment column.")
                                  .field("column", &SegmentFigures::column, "its name")
                                  .field("values", &SegmentFigures::values, "its values")
                                  .for_page("values_left_out", number_schema(), "values that the page has no room for");
  return segment;
}

static const Described<FeatureImportance>& description(Of<FeatureImportance>) {
  static const auto one = Described<FeatureImportance>("Importance", "How much a feature decides.")
                              .field("feature", &FeatureImportance::feature, "its name")
                              .field("share", &FeatureImportance::share, {"of all, as the model says itself", kShare});
  return one;
}

static const Described<FitFigures>& fit_errors() {
  static const auto errors = Described<FitFigures>("Fit", "How far predictions are from the outcomes.")
                                 .field("revenue", &FitFigures::revenue, "of revenue")
                                 .field("cost", &FitFigures::cost, "of cost");
  return errors;
}

static const Described<FitFigures>& calibration() {
  static const auto tenths =
      Described<FitFigures>("Calibration", "Predicted and observed means, by tenths of the prediction.")
          .field("revenue", &FitFigures::revenue_calibration, "of revenue")
          .field("cost", &FitFigures::cost_calibration, "of cost");
  return tenths;
}

const Described<ReportedModel>& description(Of<ReportedModel>) {
  using M = ReportedModel;
  static const auto model =
      Described<M>("Model", "A model, or predictions from elsewhere.")
          .field("name", &M::name, "its name")
          .field("method", &M::method, "how it was trained; empty where that is not known")
          .field("reference", &M::is_reference,
                 "true for the one that all others are compared with: the best by its estimates; of a comparison the "
                 "first")
          .field("index", &M::is_index, "true where it predicts efficiencies, not outcomes")
          .field("deployed", &M::deployed, "by budget: plans made from predictions alone, as in a launch")
          .field("matched", &M::matched,
                 "by budget: plans cut where the evaluated cost meets the budget, as published; no coverage is claimed")
          .field("curve", &M::curve, "from the cheapest plan to where money earns nothing more")
          .field("aucc", &M::aucc, "for each treated arm")
          .field("qini", &M::qini, "for each treated arm")
          .object("fit", &M::fit, fit_errors(), "null where it predicts no outcomes")
          .object("calibration", &M::fit, calibration(), "null where it predicts no outcomes")
          .field("segments", &M::segments, "for each segment column asked for")
          .field("uplift", &M::uplift,
                 "by tenths of predicted uplift: for each treated arm, then for the plan's own ranking at each budget")
          .field("policy_trees", &M::policy_trees,
                 "by budget: the plan as a short rule; empty where none could be fitted")
          .maybe(
              "importance",
              [](const M& one) { return one.importance.empty() ? std::nullopt : std::optional(one.importance); },
              "features by falling importance: what replacing them by typical values changes; of models");
  return model;
}

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "dfcl/report/evaluation/evaluation_report.h"

namespace dfcl::report {
namespace {

using Json = nlohmann::ordered_json;
using evaluate::Interval;

// Numbers that are none become null when they are written.
Json interval_json(const Interval& interval) {
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

Json plan_json(const evaluate::JudgedPlan& plan) {
  Json json = {{"budget_per_unit", plan.budget_per_unit},
               {"multiplier", plan.multiplier},
               {"feasible", plan.feasible},
               {"revenue", interval_json(plan.revenue)},
               {"incremental_revenue", interval_json(plan.incremental_revenue)},
               {"cost", interval_json(plan.cost)},
               {"return_per_cost", interval_json(plan.return_per_cost)},
               {"spend_over_budget", interval_json(plan.spend_over_budget)},
               {"predicted_revenue", plan.predicted_revenue},
               {"predicted_cost", plan.predicted_cost},
               {"share_per_arm", plan.share_per_arm}};
  if (plan.true_revenue) json["true_revenue"] = *plan.true_revenue;
  if (plan.true_cost) json["true_cost"] = *plan.true_cost;
  if (plan.share_of_oracle) json["share_of_oracle"] = *plan.share_of_oracle;
  return json;
}

template <class Items, class ToJson>
Json list_json(const Items& items, ToJson&& to_json) {
  Json json = Json::array();
  for (const auto& item : items) json.push_back(to_json(item));
  return json;
}

Json curve_json(const evaluate::CurvePointFigures& point) {
  return {{"budget_per_unit", point.budget_per_unit},
          {"multiplier", point.multiplier},
          {"cost", interval_json(point.cost)},
          {"revenue", interval_json(point.revenue)},
          {"incremental_revenue", interval_json(point.incremental_revenue)},
          {"share_per_arm", point.share_per_arm}};
}

Json aucc_json(const evaluate::AuccFigures& aucc) {
  return {{"arm", aucc.arm},
          {"published", interval_json(aucc.published)},
          {"levels", aucc.levels},
          {"area", interval_json(aucc.area)},
          {"unnormalised_area", interval_json(aucc.unnormalised_area)},
          {"note", aucc.note}};
}

Json fit_json(const evaluate::OutcomeFit& fit) {
  return {{"mse", fit.mse}, {"log_loss", fit.log_loss ? Json(*fit.log_loss) : Json(nullptr)}};
}

Json group_json(const evaluate::CalibrationGroup& group) {
  return {{"predicted", group.predicted}, {"observed", interval_json(group.observed)}, {"units", group.num_units}};
}

Json segment_json(const evaluate::SegmentFigures& segment) {
  return {{"column", segment.column}, {"values", list_json(segment.values, [](const evaluate::SegmentValue& value) {
                                         return Json{{"value", value.value},
                                                     {"units", value.num_units},
                                                     {"share_per_arm", value.share_per_arm},
                                                     {"cost_per_unit", value.cost_per_unit},
                                                     {"revenue_per_unit", value.revenue_per_unit}};
                                       })}};
}

Json model_json(const evaluate::ModelFigures& model, bool is_reference) {
  Json json = {
      {"name", model.name},
      {"method", model.method},
      {"reference", is_reference},
      {"index", model.is_index},
      {"deployed", list_json(model.deployed, plan_json)},
      {"matched", list_json(model.matched, plan_json)},
      {"curve", list_json(model.curve, curve_json)},
      {"aucc", list_json(model.aucc, aucc_json)},
      {"qini", list_json(model.qini, [](const evaluate::QiniFigures& qini) {
         return Json{{"arm", qini.arm}, {"qini", interval_json(qini.qini)}, {"auuc", interval_json(qini.auuc)}};
       })}};
  json["fit"] = nullptr;
  json["calibration"] = nullptr;
  if (model.fit) {
    json["fit"] = {{"revenue", fit_json(model.fit->revenue)}, {"cost", fit_json(model.fit->cost)}};
    json["calibration"] = {{"revenue", list_json(model.fit->revenue_calibration, group_json)},
                           {"cost", list_json(model.fit->cost_calibration, group_json)}};
  }
  json["segments"] = list_json(model.segments, segment_json);
  if (!model.importance.empty()) {
    json["importance"] = list_json(model.importance, [](const evaluate::FeatureImportance& one) {
      return Json{{"feature", one.feature}, {"share", one.share}};
    });
  }
  return json;
}

Json difference_json(const evaluate::DifferenceFigures& difference) {
  return {{"model", difference.model},
          {"reference", difference.reference},
          {"budget_per_unit", difference.budget_per_unit},
          {"revenue", interval_json(difference.revenue)},
          {"simultaneous", {{"low", difference.simultaneous_low}, {"high", difference.simultaneous_high}}},
          {"relative", interval_json(difference.relative)},
          {"cost", interval_json(difference.cost)},
          {"p_value", difference.p_value},
          {"sentence", difference.sentence}};
}

Json aucc_difference_json(const evaluate::AuccDifferenceFigures& difference) {
  return {{"model", difference.model},
          {"reference", difference.reference},
          {"arm", difference.arm},
          {"published", interval_json(difference.published)},
          {"area", interval_json(difference.area)},
          {"p_value", difference.p_value},
          {"sentence", difference.sentence}};
}

Json oracle_json(const std::optional<evaluate::OracleFigures>& oracle) {
  if (!oracle) return nullptr;
  const auto point_json = [](const evaluate::OraclePoint& point) {
    return Json{{"budget_per_unit", point.budget_per_unit},
                {"cost", point.cost},
                {"revenue", point.revenue},
                {"incremental_revenue", point.incremental_revenue}};
  };
  return {{"curve", list_json(oracle->curve, point_json)}, {"at_budgets", list_json(oracle->at_budgets, point_json)}};
}

Json trial_json(const EvaluationReport& report) {
  const evaluate::Evaluation& evaluation = report.evaluation;
  const auto num_units = static_cast<double>(evaluation.num_units);
  return {{"split", report.split},
          {"units", evaluation.num_units},
          {"clusters", evaluation.num_clusters > 0 ? Json(evaluation.num_clusters) : Json(nullptr)},
          {"arms", list_json(evaluation.arms, [&](const evaluate::TrialArm& arm) {
             return Json{{"label", arm.label},
                         {"control", arm.is_control},
                         {"units", arm.num_units},
                         {"share", static_cast<double>(arm.num_units) / num_units}};
           })}};
}

Json head_json(const EvaluationReport& report) {
  const evaluate::Evaluation& evaluation = report.evaluation;
  Json options = Json::array();
  for (const auto& [name, value] : report.provenance.options) options.push_back({name, value});
  return {{"format", "dfcl-results"},
          {"format_version", 1},
          {"kind", "evaluation"},
          {"made_by", {{"version", report.provenance.version}, {"verb", report.provenance.verb}, {"options", options}}},
          {"report",
           {{"title", report.words.title},
            {"currency", report.words.currency},
            {"revenue_name", report.words.revenue_name},
            {"cost_name", report.words.cost_name},
            {"decimal", report.words.decimal},
            {"thousands", report.words.thousands}}},
          {"verdict",
           {{"status", evaluation.verdict.status},
            {"sentence", evaluation.verdict.sentence},
            {"details", evaluation.verdict.details}}},
          {"trial", trial_json(report)}};
}

}  // namespace

std::string evaluation_json(const EvaluationReport& report) {
  const evaluate::Evaluation& evaluation = report.evaluation;
  Json json = head_json(report);
  json["estimator"] = evaluation.estimator;
  json["nuisance"] = evaluation.nuisance;
  json["intervals"] = evaluation.intervals;
  json["resamples"] = evaluation.num_resamples;
  json["level"] = evaluation.level;
  json["control"] = {{"revenue", interval_json(evaluation.control_revenue)},
                     {"cost", interval_json(evaluation.control_cost)}};
  json["budgets"] = list_json(evaluation.budgets_per_unit, [&](double per_unit) {
    return Json{{"per_unit", per_unit}, {"total", per_unit * static_cast<double>(evaluation.num_units)}};
  });
  json["models"] = Json::array();
  for (const evaluate::ModelFigures& model : evaluation.models) {
    json["models"].push_back(model_json(model, json["models"].empty()));
  }
  json["differences"] = list_json(evaluation.differences, difference_json);
  json["aucc_differences"] = list_json(evaluation.aucc_differences, aucc_difference_json);
  json["oracle"] = oracle_json(evaluation.oracle);
  json["check"] = report.check.empty() ? Json(nullptr) : Json::parse(report.check);
  json["how"] = evaluation.how;
  // Labels from a file may hold bytes that are no UTF-8; JSON must.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/evaluation/results_shape.h"

namespace dfcl::report {
namespace {

using Part = std::shared_ptr<const Shape>;
using Keys = std::vector<std::pair<std::string, Part>>;

Part leaf(ShapeKind kind) { return std::make_shared<const Shape>(Shape{.kind = kind}); }
Part object(Keys keys) { return std::make_shared<const Shape>(Shape{.keys = std::move(keys)}); }
Part list(Part element) {
  return std::make_shared<const Shape>(Shape{.kind = ShapeKind::list, .element = std::move(element)});
}

// One of each, shared by all who use it.
struct Leaves {
  Part number = leaf(ShapeKind::number);
  Part text = leaf(ShapeKind::text);
  Part either = leaf(ShapeKind::number_or_text);
  Part flag = leaf(ShapeKind::flag);
  Part texts = list(text);
  Part numbers = list(number);
  Part interval = object({{"value", number}, {"low", number}, {"high", number}});
};

Part plan_value(const Leaves& l) {
  return object({{"budget_per_unit", l.number},
                 {"multiplier", l.number},
                 {"feasible", l.flag},
                 {"revenue", l.interval},
                 {"incremental_revenue", l.interval},
                 {"cost", l.interval},
                 {"return_per_cost", l.interval},
                 {"spend_over_budget", l.interval},
                 {"predicted_revenue", l.number},
                 {"predicted_cost", l.number},
                 {"share_per_arm", l.numbers},
                 {"true_revenue", l.number},
                 {"true_cost", l.number},
                 {"share_of_oracle", l.number}});
}

Part model(const Leaves& l) {
  const Part plans = list(plan_value(l));
  const Part error = object({{"mse", l.number}, {"log_loss", l.number}});
  const Part tenths = list(object({{"predicted", l.number}, {"observed", l.interval}, {"units", l.number}}));
  const Part value = object({{"value", l.text},
                             {"units", l.number},
                             {"share_per_arm", list(l.numbers)},
                             {"cost_per_unit", l.numbers},
                             {"revenue_per_unit", l.numbers}});
  const Part area = object({{"arm", l.text},
                            {"published", l.interval},
                            {"levels", l.number},
                            {"area", l.interval},
                            {"unnormalised_area", l.interval},
                            {"note", l.text}});
  return object({{"name", l.text},
                 {"method", l.text},
                 {"reference", l.flag},
                 {"index", l.flag},
                 {"deployed", plans},
                 {"matched", plans},
                 {"curve", plans},
                 {"aucc", list(area)},
                 {"qini", list(object({{"arm", l.text}, {"qini", l.interval}, {"auuc", l.interval}}))},
                 {"fit", object({{"revenue", error}, {"cost", error}})},
                 {"calibration", object({{"revenue", tenths}, {"cost", tenths}})},
                 {"segments", list(object({{"column", l.text}, {"values", list(value)}}))},
                 {"importance", list(object({{"feature", l.text}, {"share", l.number}}))}});
}

Part difference(const Leaves& l) {
  return object({{"model", l.text},
                 {"reference", l.text},
                 {"budget_per_unit", l.number},
                 {"revenue", l.interval},
                 {"simultaneous", l.interval},
                 {"relative", l.interval},
                 {"cost", l.interval},
                 {"p_value", l.number},
                 {"sentence", l.text}});
}

Part area_difference(const Leaves& l) {
  return object({{"model", l.text},
                 {"reference", l.text},
                 {"arm", l.text},
                 {"published", l.interval},
                 {"area", l.interval},
                 {"p_value", l.number},
                 {"sentence", l.text}});
}

// The part of what dfcl check --json prints that reports show.
Part check(const Leaves& l) {
  const Part findings = list(object({{"kind", l.text}, {"text", l.text}, {"hint", l.text}}));
  const Part against = object({{"value", l.number}, {"low", l.number}, {"high", l.number}, {"p", l.number}});
  const Part arm = object({{"arm", l.text},
                           {"control", l.flag},
                           {"units", l.number},
                           {"share", l.number},
                           {"designed_share", l.number},
                           {"revenue", l.interval},
                           {"cost", l.interval},
                           {"revenue_difference", against},
                           {"cost_difference", against}});
  const Part ratio =
      object({{"run", l.flag}, {"why_not", l.text}, {"chi_square", l.number}, {"degrees", l.number}, {"p", l.number}});
  const Part feature = object({{"name", l.text}, {"difference", l.number}, {"arm", l.text}, {"p", l.number}});
  const Part balance = object(
      {{"run", l.flag}, {"why_not", l.text}, {"p", l.number}, {"columns", l.number}, {"features", list(feature)}});
  return object({{"verdict", l.text},
                 {"problems", findings},
                 {"warnings", findings},
                 {"arms", list(arm)},
                 {"sample_ratio", ratio},
                 {"balance", balance},
                 {"notes", l.texts}});
}

Part figure(const Leaves& l) {
  const Part point = object({{"x", l.either}, {"y", l.number}, {"low", l.number}, {"high", l.number}});
  return object({{"id", l.text},
                 {"title", l.text},
                 {"note", l.text},
                 {"x_label", l.text},
                 {"y_label", l.text},
                 {"x_scale", l.text},
                 {"kind", l.text},
                 {"panels", l.flag},
                 {"series", list(object({{"name", l.text}, {"points", list(point)}}))}});
}

Part table(const Leaves& l) {
  return object(
      {{"id", l.text}, {"title", l.text}, {"note", l.text}, {"columns", l.texts}, {"rows", list(list(l.either))}});
}

Part results() {
  const Leaves l;
  const Part arm = object({{"label", l.text}, {"control", l.flag}, {"units", l.number}, {"share", l.number}});
  const Part best = list(object(
      {{"budget_per_unit", l.number}, {"cost", l.number}, {"revenue", l.number}, {"incremental_revenue", l.number}}));
  const Part report = object({{"title", l.text},
                              {"currency", l.text},
                              {"revenue_name", l.text},
                              {"cost_name", l.text},
                              {"decimal", l.text},
                              {"thousands", l.text}});
  return object(
      {{"format", l.text},
       {"format_version", l.number},
       {"kind", l.text},
       {"made_by", object({{"version", l.text}, {"verb", l.text}, {"options", list(l.texts)}})},
       {"report", report},
       {"verdict", object({{"status", l.text}, {"sentence", l.text}, {"details", l.texts}})},
       {"trial", object({{"split", l.text}, {"units", l.number}, {"clusters", l.number}, {"arms", list(arm)}})},
       {"estimator", l.text},
       {"nuisance", l.text},
       {"intervals", l.text},
       {"resamples", l.number},
       {"level", l.number},
       {"control", object({{"revenue", l.interval}, {"cost", l.interval}})},
       {"budgets", list(object({{"per_unit", l.number}, {"total", l.number}}))},
       {"models", list(model(l))},
       {"differences", list(difference(l))},
       {"aucc_differences", list(area_difference(l))},
       {"oracle", object({{"curve", best}, {"at_budgets", best}})},
       {"check", check(l)},
       {"entries", list(object({{"name", l.text}, {"swept", l.text}}))},
       {"figures", list(figure(l))},
       {"tables", list(table(l))},
       {"how", l.texts}});
}

}  // namespace

const Shape& results_shape() {
  static const Part shape = results();
  return *shape;
}

}  // namespace dfcl::report

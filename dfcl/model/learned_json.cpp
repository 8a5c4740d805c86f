// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/learned_json.h"

#include "dfcl/learn/facts_json.h"

namespace dfcl::model {
namespace {

using learn::size_of;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kKinds[] = {"real", "non_negative", "binary"};  // loss::OutcomeKind

ordered_json form_json(const learn::OutcomeForm& form) {
  return {{"kind", learn::kind_word(form.kind)}, {"non_negative", form.non_negative}};
}
learn::OutcomeForm form_of(const json& value) {
  return {learn::enum_of<loss::OutcomeKind>(value.at("kind"), kKinds), value.at("non_negative").get<bool>()};
}

std::vector<double> numbers_of(const json& value) { return value.get<std::vector<double>>(); }

ordered_json effect_json(const learn::MeanEffect::Outcome& outcome) {
  ordered_json entry = form_json(outcome.form);
  entry["effect"] = outcome.effect;
  return entry;
}
learn::MeanEffect::Outcome effect_of(const json& value) { return {form_of(value), numbers_of(value.at("effect"))}; }

ordered_json calibrated_json(const learn::Calibration::Outcome& outcome) {
  ordered_json entry = form_json(outcome.form);
  entry["shift"] = outcome.shift;
  entry["center"] = outcome.center;
  entry["slope"] = outcome.slope;
  entry["found_slope"] = outcome.found_slope;
  entry["slope_error"] = outcome.slope_error;
  if (outcome.base_slope != 0.0) {
    entry["size"] = outcome.size;
    entry["base_slope"] = outcome.base_slope;
  }
  if (outcome.plan_factor != 1.0) entry["plan_factor"] = outcome.plan_factor;
  return entry;
}
learn::Calibration::Outcome calibrated_of(const json& value) {
  learn::Calibration::Outcome outcome{form_of(value),
                                      numbers_of(value.at("shift")),
                                      numbers_of(value.at("center")),
                                      value.at("slope").get<double>(),
                                      value.at("found_slope").get<double>(),
                                      value.at("slope_error").get<double>()};
  if (value.contains("base_slope")) {
    outcome.size = numbers_of(value.at("size"));
    outcome.base_slope = value.at("base_slope").get<double>();
  }
  if (value.contains("plan_factor")) outcome.plan_factor = value.at("plan_factor").get<double>();
  return outcome;
}

ordered_json loss_json(const HeldOut::Outcome& outcome) {
  return {{"loss", outcome.loss}, {"loss_of_means", outcome.loss_of_means}};
}
HeldOut::Outcome loss_of(const json& value) {
  return {value.at("loss").get<double>(), value.at("loss_of_means").get<double>()};
}

struct EvaluatedFigure {
  const char* name;
  double data::EvaluatedPlan::*member;
};
constexpr EvaluatedFigure kEvaluatedFigures[] = {
    {"spend", &data::EvaluatedPlan::spend},
    {"predicted_revenue", &data::EvaluatedPlan::predicted},
    {"revenue", &data::EvaluatedPlan::revenue},
    {"revenue_error", &data::EvaluatedPlan::revenue_error},
    {"cost", &data::EvaluatedPlan::cost},
    {"cost_error", &data::EvaluatedPlan::cost_error},
    {"covariance", &data::EvaluatedPlan::covariance},
};

}  // namespace

ordered_json mean_effect_json(const Model& model) {
  const learn::MeanEffect& mean = *model.mean_effect;
  return {{"weight", mean.weight}, {"revenue", effect_json(mean.revenue)}, {"cost", effect_json(mean.cost)}};
}
void set_mean_effect(Model& model, const json& value) {
  model.mean_effect = {value.at("weight").get<double>(), effect_of(value.at("revenue")), effect_of(value.at("cost"))};
}

ordered_json calibration_json(const Model& model) {
  const learn::Calibration& found = *model.calibration;
  return {{"units", found.num_units},
          {"revenue", calibrated_json(found.revenue)},
          {"cost", calibrated_json(found.cost)},
          {"base_mean", found.base_mean},
          {"base_spread", found.base_spread}};
}
void set_calibration(Model& model, const json& value) {
  model.calibration = {size_of(value.at("units")), calibrated_of(value.at("revenue")), calibrated_of(value.at("cost")),
                       value.value("base_mean", 0.0), value.value("base_spread", 0.0)};
}

ordered_json stack_json(const Model& model) {
  const Stack& stack = *model.stack;
  ordered_json members = ordered_json::array(), left_out = ordered_json::array();
  for (const StackMember& member : stack.members)
    members.push_back({{"method", member.method},
                       {"weight", member.weight},
                       {"net_value", member.net_value},
                       {"standard_error", member.standard_error}});
  for (const Stack::LeftOut& entry : stack.left_out) left_out.push_back({{"method", entry.method}, {"why", entry.why}});
  return {{"units", stack.num_units},      {"folds", stack.num_folds},
          {"net_value", stack.net_value},  {"standard_error", stack.standard_error},
          {"members", std::move(members)}, {"left_out", std::move(left_out)}};
}
void set_stack(Model& model, const json& value) {
  Stack stack;
  stack.num_units = size_of(value.at("units"));
  stack.num_folds = size_of(value.at("folds"));
  stack.net_value = value.at("net_value").get<double>();
  stack.standard_error = value.at("standard_error").get<double>();
  for (const json& entry : value.at("members"))
    stack.members.push_back({entry.at("method").get<std::string>(), entry.at("weight").get<double>(),
                             entry.at("net_value").get<double>(), entry.at("standard_error").get<double>()});
  for (const json& entry : value.at("left_out"))
    stack.left_out.push_back({entry.at("method").get<std::string>(), entry.at("why").get<std::string>()});
  model.stack = std::move(stack);
}

ordered_json held_out_json(const Model& model) {
  const HeldOut& held = *model.held_out;
  ordered_json entry = {
      {"units", held.num_units}, {"out_of_fold", held.out_of_fold}, {"revenue", loss_json(held.revenue)}};
  if (held.cost) entry["cost"] = loss_json(*held.cost);
  return entry;
}
void set_held_out(Model& model, const json& value) {
  HeldOut held;
  held.num_units = size_of(value.at("units"));
  held.out_of_fold = value.at("out_of_fold").get<bool>();
  held.revenue = loss_of(value.at("revenue"));
  if (value.contains("cost")) held.cost = loss_of(value.at("cost"));
  model.held_out = held;
}

// A list per figure, one entry for each plan.
ordered_json evaluated_json(const Model& model) {
  const data::EvaluatedPlans& evaluated = *model.evaluated;
  ordered_json entry = {{"units", evaluated.num_units},
                        {"unseen", data::to_text(evaluated.units)},
                        {"chose_members", evaluated.chose_members}};
  for (const EvaluatedFigure& figure : kEvaluatedFigures) {
    entry[figure.name] = ordered_json::array();
    for (const data::EvaluatedPlan& plan : evaluated.plans) entry[figure.name].push_back(plan.*figure.member);
  }
  return entry;
}
void set_evaluated(Model& model, const json& value) {
  data::EvaluatedPlans evaluated;
  evaluated.num_units = size_of(value.at("units"));
  constexpr const char* kUnits[] = {"out_of_fold", "validation"};
  evaluated.units = learn::enum_of<data::UnseenUnits>(value.at("unseen"), kUnits);
  evaluated.chose_members = value.at("chose_members").get<bool>();
  const std::size_t num_plans = value.at(kEvaluatedFigures[0].name).size();
  if (num_plans > data::kMostEvaluatedPlans) throw json::other_error::create(501, "too many plans", nullptr);
  evaluated.plans.resize(num_plans);
  for (const EvaluatedFigure& figure : kEvaluatedFigures) {
    const std::vector<double> numbers = numbers_of(value.at(figure.name));
    if (numbers.size() != num_plans) throw json::other_error::create(501, "lists of different lengths", nullptr);
    for (std::size_t i = 0; i < num_plans; ++i) evaluated.plans[i].*figure.member = numbers[i];
  }
  model.evaluated = std::move(evaluated);
}

}  // namespace dfcl::model

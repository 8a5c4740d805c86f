// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "dfcl/allocate/allocate.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/version.h"
#include "dfcl/data/budgets.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/train/budget_prices.h"
#include "dfcl/verbs/outputs.h"
#include "dfcl/verbs/trial_predictions.h"

namespace dfcl::verbs {
namespace {

constexpr double kDiffer = 0.3;
constexpr double kRelativeGains[] = {0.01, 0.02, 0.05};

void require_positive(const char* field, double number) {
  if (!(number > 0.0 && std::isfinite(number)))
    throw core::field_error(field, "out of range", fmt::format("{}", number), "a number above 0");
}

void check_sources(const PowerRequest& request) {
  if (request.study && request.sd)
    throw core::field_error("sd", "a standard deviation stands for a trial", "", "",
                            fmt::format("leave out {} or {}", core::field_name("study"), core::field_name("sd")));
  if (!request.study && !request.sd)
    throw core::field_error("study", "from a trial, or from a standard deviation?", "", "",
                            fmt::format("give {}, or {} and {}", core::field_name("study"), core::field_name("sd", "3"),
                                        core::field_name("gain", "0.1")));
  if (!request.sd) return;
  if (!request.models.empty()) throw core::field_error("models", "need the study of a trial");
  for (const auto& [field, given] :
       {std::pair{"split", request.split.has_value()}, std::pair{"per_unit", request.per_unit.has_value()},
        std::pair{"share_of_max", request.share_of_max.has_value()}, std::pair{"differ", request.differ.has_value()},
        std::pair{"relative_gain", !request.relative_gains.empty()},
        std::pair{"launch_units", request.launch_units.has_value()}}) {
    if (given)
      throw core::field_error(field, fmt::format("needs a trial, and {} stands for none", core::field_name("sd")));
  }
  if (request.gains.empty())
    throw core::field_error("gain", fmt::format("with {}, which gain is to be found?", core::field_name("sd")));
}

void check_request(const PowerRequest& request) {
  check_sources(request);
  if (request.sd) require_positive("sd", *request.sd);
  for (const double gain : request.gains) require_positive("gain", gain);
  for (const double gain : request.relative_gains) require_positive("relative_gain", gain);
  if (request.launch_units) require_positive("launch_units", static_cast<double>(*request.launch_units));
  if (request.per_unit) require_positive("per_unit", *request.per_unit);
  if (request.share_of_max) require_positive("share_of_max", *request.share_of_max);
  if (request.per_unit && request.share_of_max)
    throw core::field_error(
        "share_of_max", "more than one way to say how much may be spent", "", "",
        fmt::format("give {} or {}", core::field_name("per_unit"), core::field_name("share_of_max")));
  if (request.models.size() > 2)
    throw core::field_error("models", "too many", fmt::format("{} models or predictions", request.models.size()),
                            "two, one or none");
  for (const ModelInput& model : request.models) require_text("models", model.path);
  if (request.differ && request.models.size() == 2)
    throw core::field_error("differ", "is for plans that nobody has made, and there are two models");
  if (request.output) require_ending("output", *request.output, ".json");
  launch::validate(launch::PowerLevels{request.power, request.level});
}

// Of a unit's revenue.
struct PlanVariances {
  double control = 0.0;
  double plan = 0.0;
};

JudgedTrial read_trial(const PowerRequest& request, Rows split, core::RunContext& context) {
  JudgedTrial judged;
  judged.study = read_study_input(*request.study);
  if (request.per_unit) judged.study.budgets = {{*request.per_unit}, {}, {}, judged.study.budgets.include_control};
  if (request.share_of_max)
    judged.study.budgets = {{}, {}, {*request.share_of_max}, judged.study.budgets.include_control};
  const data::Study read = with_trial(judged.study, *request.study);
  judged.path = trial_path(read);
  if (request.output) require_output("output", *request.output, {request.study->file, judged.path}, context);
  judged.trial = std::make_shared<const data::Trial>(io::read_trial(read, context));
  judged.own = judged.trial;
  judged.rows = evaluate::rows_of(*judged.trial, split_of_rows(split));
  return judged;
}

std::vector<std::uint8_t> plan_arms(const TrialPrediction& predicted, std::size_t control,
                                    const data::Budget& unit_budget, const std::string& path,
                                    core::RunContext& context) {
  const core::MatrixView<const float> cost = predicted.prediction.cost.view();
  const double budget =
      unit_budget.total_per_unit(train::control_cost_per_unit(cost, control)) * static_cast<double>(cost.rows);
  allocate::Problem problem{.revenue = predicted.prediction.revenue.view(), .cost = predicted.prediction.cost.view()};
  problem.rules.control = control;
  allocate::Solution solution = allocate::allocate(problem, budget, context);
  if (!solution.has_plan()) {
    throw core::Error({.kind = core::ErrorKind::infeasible,
                       .what = "the budget cannot be met",
                       .where = path,
                       .found = fmt::format("{}", budget),
                       .expected = fmt::format("at least {}", solution.least_spend)});
  }
  return std::move(solution.arm);
}

// What the rows say of single arms, and of how revenue varies.
void judge_arms(const PowerRequest& request, const JudgedTrial& judged, report::PowerFigures& figures,
                PlanVariances& variances) {
  const std::size_t control = judged.trial->arms.control;
  figures.arms = launch::arms_against_control(judged.rows, {request.power, request.level});
  figures.launch_units =
      static_cast<double>(request.launch_units.value_or(static_cast<std::int64_t>(judged.trial->num_units())));
  double weight = 0.0;
  for (std::size_t row = 0; row < judged.rows.size(); ++row) {
    if (judged.rows.arm[row] != control) continue;
    weight += judged.rows.weight[row];
    figures.control_revenue += judged.rows.weight[row] * static_cast<double>(judged.rows.revenue[row]);
  }
  figures.control_revenue /= weight;
  const std::vector<double> by_arm = launch::arm_variances(judged.rows);
  variances.control = by_arm[control];
  variances.plan = *std::max_element(by_arm.begin(), by_arm.end());
}

void judge_plans(const PowerRequest& request, report::PowerFigures& figures, PlanVariances& variances,
                 core::RunContext& context) {
  const Rows split = request.split.value_or(request.models.empty() ? Rows::all : Rows::test);
  figures.split = std::string(core::to_word(split));
  const JudgedTrial judged = read_trial(request, split, context);
  judge_arms(request, judged, figures, variances);
  const data::Study& study = judged.study;
  const std::size_t num_rows = judged.rows.size();
  figures.split_share = static_cast<double>(num_rows) / static_cast<double>(judged.trial->num_units());
  figures.value_per_revenue = study.value.of_revenue();
  figures.title = study.report.title.value_or("");
  figures.currency = study.report.currency.value_or("");
  figures.unit = study.report.unit;
  figures.revenue_is_money = !study.value.per_revenue;
  figures.revenue_name = study.report.revenue_name.value_or(study.columns.revenue);
  std::vector<TrialPrediction> predicted;
  for (const ModelInput& model : request.models)
    predicted.push_back(predict_trial(model, judged, {TrainingRows::warn}, context));
  evaluate::Outcomes nuisance;
  if (!predicted.empty() && !predicted[0].is_index) nuisance = predicted[0].prediction.outcomes();
  if (predicted.size() < 2) {
    figures.pair = launch::assume_plans(judged.rows, nuisance, request.differ.value_or(kDiffer));
    return;
  }
  const data::Budget budget = data::resolve_budgets(study, *judged.trial).front();
  figures.budget_per_unit = budget.per_unit;
  const std::size_t control = judged.trial->arms.control;
  const auto plan_a = plan_arms(predicted[0], control, budget, request.models[0].path, context);
  const auto plan_b = plan_arms(predicted[1], control, budget, request.models[1].path, context);
  figures.pair = launch::compare_plans(judged.rows, nuisance, plan_a, plan_b, request.level);
  variances.plan = figures.pair.variance_a;
  figures.name_a = std::filesystem::path(request.models[0].path).stem().string();
  figures.name_b = std::filesystem::path(request.models[1].path).stem().string();
  if (figures.pair.sd == 0.0)
    throw core::usage_error(request.models[1].path, "makes the same plan as the first: nothing to tell apart", "", "",
                            "", "models");
}

}  // namespace

PowerResult power(const PowerRequest& request, core::RunContext& context) {
  check_request(request);
  PowerResult result;
  report::PowerFigures& figures = result.figures;
  figures.levels = {request.power, request.level};
  PlanVariances variances;
  if (request.sd) {
    figures.has_trial = false;
    figures.pair.sd = *request.sd;
    if (request.output) require_output("output", *request.output, {}, context);
  } else {
    judge_plans(request, figures, variances, context);
  }
  figures.gains = request.gains;
  if (figures.has_trial && request.gains.empty() && !(figures.pair.revenue_a > 0.0))
    throw core::field_error("gain", "a share of the mean revenue says nothing here",
                            fmt::format("mean revenue {:.4g}", figures.pair.revenue_a), "a gain per unit",
                            core::field_name("gain", "0.5"));
  for (const double share : request.relative_gains) figures.gains.push_back(share * figures.pair.revenue_a);
  if (figures.gains.empty()) {
    for (const double share : kRelativeGains) figures.gains.push_back(share * figures.pair.revenue_a);
  }
  for (const double gain : figures.gains) {
    if (figures.has_trial)
      figures.holdouts.push_back(
          launch::holdout_need(variances.control, variances.plan, figures.launch_units, gain, figures.levels));
  }
  const bool is_assumed = !figures.pair.plans_are_known;
  result.provenance = {"power",
                       core::version(),
                       "power",
                       {{"power", fmt::format("{}", request.power)},
                        {"level", fmt::format("{}", request.level)},
                        {"split", figures.has_trial ? figures.split : ""},
                        {"launch_units", request.launch_units ? fmt::format("{}", *request.launch_units) : ""},
                        {"differ", is_assumed ? fmt::format("{}", request.differ.value_or(kDiffer)) : ""}}};
  if (figures.value_per_revenue)
    result.provenance.options.emplace_back("value_per_revenue", fmt::format("{}", *figures.value_per_revenue));
  if (request.output) io::write_text_file(*request.output, report::power_json(figures, result.provenance));
  return result;
}

}  // namespace dfcl::verbs

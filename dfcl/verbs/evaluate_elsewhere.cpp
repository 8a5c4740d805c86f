// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/evaluate_elsewhere.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/version.h"
#include "dfcl/data/budgets.h"
#include "dfcl/data/report_words.h"
#include "dfcl/data/unit_key.h"
#include "dfcl/evaluate/sums/evaluate_sums.h"
#include "dfcl/evaluate/sums/judged_block.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/verbs/evaluate_on.h"
#include "dfcl/verbs/parts_of_trial.h"
#include "dfcl/verbs/study_nuisance.h"

namespace dfcl::verbs {
namespace {

// What is asked for that needs all rows in one place.
void require_of_request(const EvaluateRequest& request) {
  const auto refuse = [](bool is_asked, const char* field) {
    if (is_asked) throw core::field_error(field, "needs all rows on one machine", "", "", "evaluate on the driver");
  };
  refuse(request.split != Rows::test, "split");
  refuse(request.truth.has_value(), "truth");
  refuse(request.index, "index");
  refuse(!request.segments.empty(), "segment");
  refuse(request.eligible.has_value(), "eligible");
  refuse(request.fitted_on.has_value(), "fitted_on");
  refuse(request.study.test.has_value(), "test");
  refuse(request.split_out.has_value(), "split_out");
  refuse(request.intervals == Intervals::analytic, "intervals");
  refuse(request.weights != evaluate::Weights::poisson, "weights");
}

void require_of_study(const data::Study& study) {
  const auto refuse = [](bool is_named, const char* key) {
    if (is_named)
      throw core::usage_error("study", fmt::format("{} needs all rows on one machine", key), "", "",
                              "evaluate on the driver");
  };
  refuse(!study.columns.id, "a trial without [columns] id");
  refuse(study.columns.time.has_value(), "[columns] time");
  refuse(study.columns.cluster.has_value(), "[columns] cluster");
  refuse(study.columns.weight.has_value(), "[columns] weight");
  refuse(study.columns.rule.has_value(), "[columns] rule");
  refuse(!study.columns.guardrails.empty(), "[columns] guardrails");
  refuse(!study.columns.winsorize.empty(), "[columns] winsorize");
  refuse(study.split.by == "time", "[split] by time");
  refuse(study.data.test.has_value(), "[data] test");
}

std::shared_ptr<const model::Model> model_of(const ModelInput& input, const char* field, core::RunContext& context) {
  const ModelInput read = read_model_input(input, context);
  if (read.model == nullptr)
    throw core::field_error(field, "predictions, and the rows are elsewhere", read.path, "a model",
                            "evaluate predictions on the driver");
  return read.model;
}

// Judged rows of a part, in its order.
evaluate::TrialRows judged_rows(const data::Trial& trial) {
  evaluate::TrialRows rows;
  rows.arms = trial.arms;
  rows.cost_facts = trial.cost_facts;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.split[unit] != data::Split::test) continue;
    rows.trial_row.push_back(unit);
    rows.arm.push_back(trial.arm[unit]);
  }
  rows.ids = trial.ids.chosen(rows.trial_row);
  return rows;
}

void add_prediction(const model::Model& model, const std::string& path, const data::Trial& trial,
                    const evaluate::TrialRows& rows, bool is_nuisance, evaluate::JudgedBlock& block,
                    core::RunContext& context) {
  const evaluate::JoinedPrediction joined =
      evaluate::join_prediction(model::predict_file(model, path, context), rows, trial.ids, "the model");
  const auto values = [](core::MatrixView<const float> matrix) {
    return std::vector<float>(matrix.data, matrix.data + matrix.rows * matrix.cols);
  };
  block.predicted_revenue.push_back(values(joined.revenue.view()));
  block.predicted_cost.push_back(values(joined.cost.view()));
  if (is_nuisance || model.is_index() || rows.prices().empty()) return;
  std::vector<float>& cost = block.predicted_cost.back();
  for (std::size_t i = 0; i < cost.size(); ++i) cost[i] = static_cast<float>(rows.prices()[i % block.num_arms]);
}

data::Provenance provenance_of(const EvaluateRequest& request, const evaluate::EvaluationOptions& options,
                               const std::vector<std::string>& names,
                               const std::vector<std::shared_ptr<const model::Model>>& models, std::uint64_t seed) {
  data::Provenance provenance{"results", core::version(), "evaluate", {}};
  provenance.options = {{"seed", std::to_string(seed)},
                        {"split", std::string(core::to_word(request.split))},
                        {"estimator", std::string(evaluate::to_text(options.estimator))},
                        {"intervals", "bootstrap"},
                        {"resamples", std::to_string(options.num_resamples)},
                        {"weights", "poisson"},
                        {"rows", "elsewhere"}};
  for (std::size_t i = 0; i < models.size(); ++i)
    provenance.options.emplace_back("model " + names[i], model::fingerprint_of(*models[i]));
  if (request.objective != allocate::Objective::revenue)
    provenance.options.emplace_back("objective", std::string(core::to_word(request.objective)));
  if (request.min_roi) provenance.options.emplace_back("min_roi", fmt::format("{}", *request.min_roi));
  if (request.allow_training_rows) provenance.options.emplace_back("allow_training_rows", "true");
  return provenance;
}

evaluate::EvaluationOptions summed_options(const EvaluateRequest& request, const JudgedTrial& judged,
                                           const EstimatorChoice& choice, const evaluate::TrialFacts& facts) {
  evaluate::EvaluationOptions options;
  const data::Trial& sample = *judged.trial;
  options.estimator = choice.estimator;
  options.not_pre_declared = choice.not_pre_declared;
  for (const data::Budget& budget :
       data::resolve_budgets(judged.study, facts.costs(sample.cost_facts, sample.arms.control), facts.num_units()))
    options.budgets_per_unit.push_back(budget.per_unit);
  options.budget_basis = data::budget_basis(judged.study);
  options.num_resamples = static_cast<std::size_t>(request.resamples);
  options.areas = false;
  options.heterogeneity = false;
  options.value_per_revenue = judged.study.value.of_revenue();
  options.cost_limits = {judged.study.cost.control_is_free, judged.study.cost.non_negative,
                         judged.study.cost.rises_with_arm};
  options.words = evaluate::words_of(data::report_words(judged.study));
  options.unfit_because = join_problems(judged.checked);
  return options;
}

}  // namespace

EvaluateResult evaluate_elsewhere(const EvaluateRequest& request, const RowsElsewhere& elsewhere,
                                  core::RunContext& context) {
  check_evaluate_request(request);
  require_of_request(request);
  require_of_study(read_study_input(request.study));
  const JudgedTrial judged = read_judged_trial(request, nullptr, context);
  if (judged.checked.grade == check::Grade::adjustable)
    throw core::data_error("trial", "its arms are a little imbalanced, and propensities are estimated on one machine",
                           "", "", "evaluate on the driver, which weights by estimated propensities");
  const EstimatorChoice choice = choose_estimator(request, judged.study);
  const std::vector<std::string> names = distinct_names(request.models);
  const TrainingRows training_rows = request.allow_training_rows ? TrainingRows::warn : TrainingRows::refuse;
  std::vector<std::shared_ptr<const model::Model>> models;
  for (const ModelInput& input : request.models) {
    models.push_back(model_of(input, "models", context));
    look_for_training_rows(models.back()->trained, "the model", input.path, judged, training_rows, context);
  }
  std::shared_ptr<const model::Model> nuisance;
  std::string nuisance_name;
  if (choice.estimator == evaluate::Estimator::doubly_robust) {
    nuisance = request.nuisance ? model_of(*request.nuisance, "nuisance", context)
                                : study_nuisance_model(judged, request.on_note, context);
    if (nuisance == nullptr || nuisance->is_index())
      throw core::field_error("nuisance", "there is no prediction of outcomes for the doubly robust estimator", "",
                              "a model of revenue and cost", core::field_name("estimator", "hajek") + " needs none");
    if (request.nuisance)
      look_for_training_rows(nuisance->trained, "the model", request.nuisance->path, judged, training_rows, context);
    nuisance_name = request.nuisance ? fmt::format("the predictions of {}", distinct_names({*request.nuisance}).front())
                                     : kNuisanceName;
  }

  const data::Trial& sample = *judged.trial;
  evaluate::TrialFacts facts(sample.arms.size());
  for (const std::string& part : elsewhere.judge(arms_json(sample.arms), nuisance))
    facts.merge(evaluate::TrialFacts::from_bytes(part));
  evaluate::SummedInput input{sample.arms, sample.cost_facts, facts, {}, nuisance_name, {}, request.reference};
  for (std::size_t i = 0; i < models.size(); ++i) {
    evaluate::JudgedModel& model = input.models.emplace_back();
    model.name = names[i];
    model.method = models[i]->method;
    model.is_index = models[i]->is_index();
    model.is_alternative = request.models[i].is_alternative;
    if (!model.is_index && sample.cost_facts.kind == data::CostKind::price) model.price = sample.cost_facts.per_arm;
  }
  input.rules.objective = request.objective;
  input.rules.margin = judged.study.value.of_revenue().value_or(1.0);
  input.rules.min_roi = request.min_roi.value_or(0.0);
  const evaluate::EvaluationOptions options = summed_options(request, judged, choice, facts);
  return {{evaluate::evaluate_sums(input, options, elsewhere.run, context),
           provenance_of(request, options, names, models, context.seed), data::report_words(judged.study),
           std::string(core::to_word(request.split)), judged.checked},
          judged.checked.fit};
}

JudgedPart judge_part(const EvaluateRequest& request, const std::string& arms, core::RunContext& context) {
  const data::Study study = with_trial(study_of_parts(read_study_input(request.study), arms), request.study);
  const std::string path = trial_path(study);
  const data::Trial trial = io::read_trial_part(study, context);
  const evaluate::TrialRows rows = judged_rows(trial);
  evaluate::JudgedBlock block;
  block.num_arms = trial.arms.size();
  for (const std::size_t unit : rows.trial_row) {
    block.key.push_back(data::unit_key(trial, unit));
    block.arm.push_back(trial.arm[unit]);
    block.revenue.push_back(trial.revenue[unit]);
    block.cost.push_back(trial.cost[unit]);
    if (!trial.propensity.empty()) block.propensity.push_back(trial.propensity[unit]);
  }
  evaluate::Outcomes nuisance;
  if (block.size() > 0) {
    for (const ModelInput& model : request.models)
      add_prediction(*model_of(model, "models", context), path, trial, rows, false, block, context);
    if (request.nuisance) {
      add_prediction(*model_of(*request.nuisance, "nuisance", context), path, trial, rows, true, block, context);
      nuisance = block.outcomes(block.num_predictions() - 1);
    }
  }
  evaluate::TrialFacts facts(block.num_arms);
  facts.add(trial, data::Split::test, nuisance);
  return {block.size() > 0 ? block.to_bytes() : "", facts.to_bytes()};
}

}  // namespace dfcl::verbs

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "dfcl/check/check.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/printable.h"
#include "dfcl/core/version.h"
#include "dfcl/data/budgets.h"
#include "dfcl/data/report_words.h"
#include "dfcl/evaluate/estimators/join.h"
#include "dfcl/evaluate/evaluate.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/io/trial/unit_labels.h"
#include "dfcl/report/check/check_report.h"
#include "dfcl/verbs/evaluate_on.h"
#include "dfcl/verbs/memory_limit.h"
#include "dfcl/verbs/memory_needs.h"
#include "dfcl/verbs/outputs.h"
#include "dfcl/verbs/policy_trees.h"
#include "dfcl/verbs/split_file.h"
#include "dfcl/verbs/test_trial.h"

namespace dfcl::verbs {
namespace {

// The study with the budgets asked for.
data::Study study_for_evaluation(const EvaluateRequest& request) {
  data::Study study = read_study_input(request.study);
  const int kinds =
      (request.totals.empty() ? 0 : 1) + (request.per_unit.empty() ? 0 : 1) + (request.share_of_max.empty() ? 0 : 1);
  if (kinds > 1) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .field = request.per_unit.empty() ? "share_of_max" : "per_unit",
                       .what = "more than one way to say how much may be spent",
                       .hint = fmt::format("give one of {}, {} and {}", core::field_name("budget"),
                                           core::field_name("per_unit"), core::field_name("share_of_max"))});
  }
  if (kinds == 1)
    study.budgets = {request.per_unit, request.totals, request.share_of_max, study.budgets.include_control};
  return study;
}

std::vector<evaluate::SegmentColumn> read_segments(const std::vector<std::string>& columns, const JudgedTrial& judged,
                                                   core::RunContext& context) {
  std::vector<evaluate::SegmentColumn> segments;
  for (const std::string& column : columns) {
    const io::UnitLabels labels =
        io::read_unit_labels(judged.path, judged.study.columns.id.value_or(""), column, context);
    std::vector<std::uint32_t> label_of_row;
    for (const std::size_t place : evaluate::join_ids(judged.rows, judged.trial->ids, labels.ids, judged.path)) {
      label_of_row.push_back(labels.label[place]);
    }
    segments.push_back(evaluate::segment_column(column, std::move(label_of_row), labels.labels));
  }
  return segments;
}

// The arm that today's rule gives to each row; empty where the study has no rule.
std::vector<std::uint8_t> read_rule(const JudgedTrial& judged, core::RunContext& context) {
  const std::optional<std::string>& column = judged.study.columns.rule;
  std::vector<std::uint8_t> rule;
  if (!column) return rule;
  const io::UnitLabels labels =
      io::read_unit_labels(judged.path, judged.study.columns.id.value_or(""), *column, context);
  const std::vector<std::string>& arms = judged.rows.arms.labels;
  std::vector<std::size_t> arm_of_label;
  for (const std::string& label : labels.labels)
    arm_of_label.push_back(static_cast<std::size_t>(std::find(arms.begin(), arms.end(), label) - arms.begin()));
  for (const std::size_t place : evaluate::join_ids(judged.rows, judged.trial->ids, labels.ids, judged.path)) {
    const std::size_t arm = arm_of_label[labels.label[place]];
    if (arm == arms.size()) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = fmt::format("column '{}' holds '{}', which is no arm", *column,
                                             core::printable(labels.labels[labels.label[place]])),
                         .where = judged.path,
                         .expected = fmt::format("{}", fmt::join(arms, ", ")),
                         .hint = "[columns] rule names the arm that each unit would get today"});
    }
    rule.push_back(static_cast<std::uint8_t>(arm));
  }
  return rule;
}

data::Provenance make_provenance(const EvaluateRequest& request, const JudgedTrial& judged,
                                 const evaluate::EvaluationOptions& options, const std::vector<std::string>& names,
                                 const std::vector<TrialPrediction>& models, const Judgement& judgement,
                                 const core::Matrix<std::uint8_t>& eligible, std::uint64_t seed) {
  data::Provenance provenance{"results", core::version(), "evaluate", {}};
  provenance.options = {{"seed", std::to_string(seed)},
                        {"split", std::string(core::to_word(request.split))},
                        {"estimator", std::string(evaluate::to_text(options.estimator))},
                        {"intervals", options.analytic ? "analytic" : "bootstrap"},
                        {"resamples", std::to_string(options.num_resamples)},
                        {"weights", std::string(core::to_word(request.weights))},
                        {"levels", std::to_string(options.num_levels)},
                        {"ranking", std::string(core::to_word(request.ranking))},
                        {"trial", fmt::format("{:016x}", judged.own->fingerprint)}};
  if (judged.own != judged.trial)
    provenance.options.emplace_back("test", fmt::format("{:016x}", judged.trial->fingerprint));
  for (std::size_t i = 0; i < models.size(); ++i) {
    provenance.options.emplace_back("model " + names[i], models[i].fingerprint);
  }
  if (judged.study.value.margin)
    provenance.options.emplace_back("margin", fmt::format("{}", *judged.study.value.margin));
  if (judged.study.value.per_revenue)
    provenance.options.emplace_back("per_revenue", fmt::format("{}", *judged.study.value.per_revenue));
  if (!judgement.nuisance->fingerprint.empty())
    provenance.options.emplace_back("nuisance", judgement.nuisance->fingerprint);
  if (!judgement.choice.not_pre_declared.empty()) provenance.options.emplace_back("pre_declared", "false");
  if (request.objective != allocate::Objective::revenue)
    provenance.options.emplace_back("objective", std::string(core::to_word(request.objective)));
  if (request.min_roi) provenance.options.emplace_back("min_roi", fmt::format("{}", *request.min_roi));
  if (eligible.rows() > 0)
    provenance.options.emplace_back("eligible",
                                    fmt::format("{:016x}", core::hash_bytes(eligible.data(), eligible.view().size())));
  if (request.allow_training_rows) provenance.options.emplace_back("allow_training_rows", "true");
  return provenance;
}

void check_outputs(const EvaluateRequest& request, const std::string& trial_path, const std::string& test_path,
                   const core::RunContext& context) {
  if (request.output) require_ending("output", *request.output, ".json");
  const auto file_of = [](const std::optional<ModelInput>& input) {
    return !input || input->in_memory() ? std::string() : input->path;
  };
  const auto require_new = [&](const char* field, const std::optional<std::string>& output) {
    if (!output) return;
    require_output(field, *output,
                   {request.study.file, trial_path, test_path, file_of(request.nuisance), file_of(request.truth),
                    request.fitted_on.value_or("")},
                   context);
    for (const ModelInput& model : request.models) require_output(field, *output, {file_of(model)}, context);
  };
  require_new("output", request.output);
  require_new("split_out", request.split_out);
  if (request.output && request.split_out) require_other_file("split_out", *request.split_out, *request.output);
}

// One line for all predictions of which nobody says which rows they were fitted on.
void note_unchecked(const EvaluateRequest& request, const std::vector<TrialPrediction>& predicted,
                    const std::vector<std::string>& names, const FittedRows& fitted, core::RunContext& context) {
  std::vector<std::string> unchecked;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (!predicted[i].says_rows) unchecked.push_back(names[i]);
  }
  if (fitted.are_known() && unchecked.empty() && !request.models.empty()) {
    throw core::field_error("fitted_on", "all models and predictions say themselves what they were fitted on", "", "",
                            "leave it out: it is for predictions that do not say");
  }
  if (fitted.are_known() || unchecked.empty()) return;
  context.warn(
      fmt::format("{}: cannot check whether these predictions were fitted on the {} rows; {} names the rows "
                  "that they were fitted on",
                  fmt::join(unchecked, ", "), core::to_word(request.split), core::field_name("fitted_on")));
}

TrainingRows training_rows(const EvaluateRequest& request) {
  return request.allow_training_rows ? TrainingRows::warn : TrainingRows::refuse;
}

allocate::Rules plan_rules(const EvaluateRequest& request, const data::Study& study) {
  allocate::Rules rules;
  rules.objective = request.objective;
  rules.margin = study.value.of_revenue().value_or(1.0);
  rules.min_roi = request.min_roi.value_or(0.0);
  return rules;
}

// The caller says that predictions which do not say it themselves hold an index.
void mark_indices(std::vector<TrialPrediction>& predicted) {
  bool is_meant = false;
  for (TrialPrediction& prediction : predicted) {
    if (!prediction.index_is_guessed) continue;
    prediction.is_index = is_meant = true;
  }
  if (!is_meant)
    throw core::field_error("index", "all models and predictions say themselves whether they hold an index", "", "",
                            "leave it out: it is for predictions that do not say");
}

}  // namespace

void check_evaluate_request(const EvaluateRequest& request) {
  require_text("output", request.output);
  if (request.models.empty()) throw core::field_error("models", "nothing to evaluate", "", "a model or predictions");
  for (const ModelInput& model : request.models) require_text("models", model.path);
  if (request.nuisance) require_text("nuisance", request.nuisance->path);
  if (request.truth) require_text("truth", request.truth->path);
  require_text("fitted_on", request.fitted_on);
  if (request.split_out) require_table_ending("split_out", *request.split_out);
  if (request.study.test && request.split != Rows::test)
    throw core::field_error("test", "its rows are all test rows",
                            core::field_name("split", std::string(core::to_word(request.split))),
                            core::field_name("split", "test"));
  const auto require_finite = [](const char* field, const std::vector<double>& amounts) {
    for (const double amount : amounts) {
      if (!std::isfinite(amount)) throw core::field_error(field, "out of range", fmt::format("{}", amount), "a number");
    }
  };
  // Less than nothing may be spent above control: there may be cheaper arms.
  require_finite("budget", request.totals);
  require_finite("per_unit", request.per_unit);
  for (const double share : request.share_of_max) {
    if (!(share >= 0.0 && std::isfinite(share)))
      throw core::field_error("share_of_max", "out of range", fmt::format("{}", share), "a number of 0 or more");
  }
  const auto require_count = [](const char* field, std::int64_t count, std::int64_t least) {
    constexpr std::int64_t kMost = 1'000'000;
    if (count < least || count > kMost)
      throw core::field_error(field, "out of range", fmt::format("{}", count), fmt::format("{} to {}", least, kMost));
  };
  require_count("levels", request.levels, 2);
  require_count("resamples", request.resamples, 0);
  for (const std::string& column : request.segments) require_text("segment", column);
  require_text("eligible", request.eligible);
  if (request.memory) (void)parse_memory(*request.memory);
  if (request.min_roi && !(*request.min_roi >= 0.0 && std::isfinite(*request.min_roi)))
    throw core::field_error("min_roi", "out of range", fmt::format("{}", *request.min_roi), "a number of 0 or more");
}

std::string join_problems(const check::CheckResult& result) {
  if (result.fit) return "";
  std::string problems;
  for (const check::Finding& problem : result.problems) problems += (problems.empty() ? "" : " ") + problem.text;
  return problems;
}

JudgedTrial read_judged_trial(const EvaluateRequest& request, const CheckedTrial* read, core::RunContext& context) {
  JudgedTrial judged;
  judged.study = study_for_evaluation(request);
  const data::Study with_path = with_trial(judged.study, request.study);
  judged.path = trial_path(with_path);
  const std::string test = test_path(judged.study, request.study);
  check_outputs(request, judged.path, test, context);
  CheckedTrial checked =
      read != nullptr ? *read : check_and_adjust(io::read_trial(with_path, context), judged.study, context);
  judged.own = checked.trial;
  if (!test.empty() && request.split == Rows::test) {
    checked = check_and_adjust(read_test_trial(judged.study, test, judged.path, *judged.own, request.on_note, context),
                               judged.study, context);
    judged.path = test;
  }
  judged.trial = checked.trial;
  judged.checked = checked.checked;
  judged.rows = evaluate::rows_of(*judged.trial, split_of_rows(request.split));
  return judged;
}

void write_splits(const std::string& path, const char* verb, const JudgedTrial& judged) {
  write_splits(path, verb, *judged.own, judged.own == judged.trial ? nullptr : judged.trial.get());
}

Judgement make_judgement(const JudgedTrial& judged, const EvaluateRequest& request, core::RunContext& context) {
  Judgement judgement;
  judgement.choice = choose_estimator(request, judged.study);
  if (request.fitted_on) judgement.fitted = FittedRows(*request.fitted_on, judged, context);
  return judgement;
}

EvaluateResult evaluate_on(const JudgedTrial& judged, Judgement& judgement, const EvaluateRequest& request,
                           core::RunContext& context) {
  const std::vector<std::string> names = distinct_names(request.models);
  const RowChecks checks{training_rows(request), &judgement.fitted};
  const RowChecks model_checks{checks.training_rows, checks.fitted, request.heterogeneity};
  std::vector<TrialPrediction> predicted;
  std::vector<ModelInput> models = request.models;  // in memory as long as trees are to be fitted to them
  for (ModelInput& model : models) {
    const ModelInput read = read_model_input(model, context);
    predicted.push_back(predict_trial(read, judged, model_checks, context));
    if (request.heterogeneity) model = read;
  }
  note_unchecked(request, predicted, names, judgement.fitted, context);
  if (request.index) mark_indices(predicted);
  for (TrialPrediction& prediction : predicted) set_known_prices(judged.rows, prediction);
  if (!judgement.nuisance)
    judgement.nuisance = choose_nuisance(request, judgement.choice.estimator, judged, checks, context);
  std::optional<TrialPrediction> truth;
  if (request.truth) truth = predict_trial(*request.truth, judged, {TrainingRows::warn}, context);
  const check::CheckResult& checked = judged.checked;

  evaluate::EvaluationInput input{judged.rows, {}, {}, judgement.nuisance->name, {}, {}};
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    input.models.push_back({names[i], predicted[i].method, predicted[i].is_index, predicted[i].prediction.outcomes(),
                            predicted[i].importance, request.models[i].is_alternative, predicted[i].prediction.price});
  }
  input.reference = request.reference;
  input.nuisance = judgement.nuisance->outcomes();
  if (truth) input.truth = truth->prediction.outcomes();
  core::Matrix<std::uint8_t> eligible(0, 0);
  if (request.eligible)
    eligible = io::read_eligibility(*request.eligible, judged.rows.arms.labels, judged.rows.ids, context);
  if (request.eligible) input.eligible = std::as_const(eligible).view();
  input.rules = plan_rules(request, judged.study);
  const std::vector<std::string>& segments =
      request.segments.empty() && request.heterogeneity ? judged.study.report.segments : request.segments;
  input.segments = read_segments(segments, judged, context);
  input.arm_means = evaluate::arm_means(*judged.own, split_of_rows(request.split), context);
  const std::vector<std::uint8_t> rule = read_rule(judged, context);
  input.rule = rule;

  evaluate::EvaluationOptions options;
  options.estimator = judgement.choice.estimator;
  options.not_pre_declared = judgement.choice.not_pre_declared;
  for (const data::Budget& budget : data::resolve_budgets(judged.study, *judged.own))
    options.budgets_per_unit.push_back(budget.per_unit);
  options.budget_basis = data::budget_basis(judged.study);
  options.num_resamples = static_cast<std::size_t>(request.resamples);
  // Estimated propensities narrow intervals, which influence functions know and resamples do not.
  options.analytic = request.intervals == Intervals::analytic || judged.rows.propensity_scores != nullptr;
  options.weights = request.weights;
  options.num_levels = static_cast<std::size_t>(request.levels);
  options.ranking = request.ranking;
  options.value_per_revenue = judged.study.value.of_revenue();
  options.cost_limits = {judged.study.cost.control_is_free, judged.study.cost.non_negative,
                         judged.study.cost.rises_with_arm};
  const data::ReportWords words = data::report_words(judged.study);
  options.words = evaluate::words_of(words);
  options.unfit_because = join_problems(checked);
  options.is_adjusted = checked.grade == check::Grade::adjustable;

  options.heterogeneity = request.heterogeneity;
  if (request.heterogeneity) add_trees(request, models, judged, options, input, context);

  return {{evaluate::evaluate(input, options, context),
           make_provenance(request, judged, options, names, predicted, judgement, eligible, context.seed), words,
           std::string(core::to_word(request.split)), checked},
          checked.fit};
}

EvaluateResult evaluate(const EvaluateRequest& request, core::RunContext& context) {
  check_evaluate_request(request);
  if (request.memory && keep_within(*request.memory, evaluate_needs(request, read_study_input(request.study)), context))
    context.scratch_folder = scratch_beside(request.output);
  const JudgedTrial judged = read_judged_trial(request, nullptr, context);
  Judgement judgement = make_judgement(judged, request, context);
  const EvaluateResult result = evaluate_on(judged, judgement, request, context);
  if (request.split_out) write_splits(*request.split_out, "evaluate", judged);
  if (request.output) io::write_text_file(*request.output, report::evaluation_json(result.report));
  return result;
}

}  // namespace dfcl::verbs

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
#include "dfcl/core/printable.h"
#include "dfcl/core/version.h"
#include "dfcl/data/budgets.h"
#include "dfcl/data/report_words.h"
#include "dfcl/evaluate/estimators/join.h"
#include "dfcl/evaluate/evaluate.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/io/trial/unit_labels.h"
#include "dfcl/report/check/check_report.h"
#include "dfcl/verbs/evaluate_on.h"
#include "dfcl/verbs/nuisance.h"
#include "dfcl/verbs/outputs.h"

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

// Where the study knows the prices of arms, predicted costs are those prices: a plan made by prices that a model
// learned would miss its budget for no reason.
void set_known_prices(const evaluate::TrialRows& rows, TrialPrediction& predicted) {
  if (rows.prices().empty() || predicted.is_index) return;
  evaluate::JoinedPrediction& prediction = predicted.prediction;
  prediction.price.assign(rows.prices().begin(), rows.prices().end());
  for (std::size_t row = 0; row < prediction.cost.rows(); ++row) {
    for (std::size_t arm = 0; arm < prediction.price.size(); ++arm)
      prediction.cost(row, arm) = static_cast<float>(prediction.price[arm]);
  }
}

Nuisance shared_nuisance(const EvaluateRequest& request, const std::vector<TrialPrediction>& predicted,
                         const std::vector<std::string>& names, const JudgedTrial& judged, core::RunContext& context,
                         SharedNuisance* shared) {
  if (shared != nullptr && shared->is_chosen) {
    Nuisance nuisance;
    nuisance.name = shared->name;
    if (shared->prediction) nuisance.outcomes = shared->prediction->outcomes();
    return nuisance;
  }
  Nuisance nuisance = choose_nuisance(request, predicted, names, judged, context);
  if (shared != nullptr) {
    shared->is_chosen = true;
    shared->name = nuisance.name;
    if (nuisance.is_there()) shared->prediction = copy_of(nuisance.outcomes);
  }
  return nuisance;
}

data::Provenance make_provenance(const EvaluateRequest& request, const JudgedTrial& judged,
                                 const evaluate::EvaluationOptions& options, const std::vector<std::string>& names,
                                 const std::vector<TrialPrediction>& models, const Nuisance& nuisance,
                                 std::uint64_t seed) {
  data::Provenance provenance{"results", core::version(), "evaluate", {}};
  provenance.options = {{"seed", std::to_string(seed)},
                        {"split", std::string(core::to_word(request.split))},
                        {"estimator", std::string(evaluate::to_text(options.estimator))},
                        {"intervals", std::string(core::to_word(request.intervals))},
                        {"resamples", std::to_string(options.num_resamples)},
                        {"weights", std::string(core::to_word(request.weights))},
                        {"levels", std::to_string(options.num_levels)},
                        {"ranking", std::string(core::to_word(request.ranking))},
                        {"trial", fmt::format("{:016x}", judged.trial->fingerprint)}};
  for (std::size_t i = 0; i < models.size(); ++i) {
    provenance.options.emplace_back("model " + names[i], models[i].fingerprint);
  }
  if (judged.study.value.margin)
    provenance.options.emplace_back("margin", fmt::format("{}", *judged.study.value.margin));
  if (judged.study.value.per_revenue)
    provenance.options.emplace_back("per_revenue", fmt::format("{}", *judged.study.value.per_revenue));
  if (nuisance.own) provenance.options.emplace_back("nuisance", nuisance.own->fingerprint);
  if (request.allow_training_rows) provenance.options.emplace_back("allow_training_rows", "true");
  return provenance;
}

void check_request(const EvaluateRequest& request) {
  require_text("output", request.output);
  if (request.models.empty()) throw core::field_error("models", "nothing to evaluate", "", "a model or predictions");
  for (const ModelInput& model : request.models) require_text("models", model.path);
  if (request.nuisance) require_text("nuisance", request.nuisance->path);
  if (request.truth) require_text("truth", request.truth->path);
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
}

void check_output(const EvaluateRequest& request, const std::string& trial_path) {
  if (!request.output) return;
  const std::string& output = *request.output;
  require_ending("output", output, ".json");
  const auto file_of = [](const std::optional<ModelInput>& input) {
    return !input || input->in_memory() ? std::string() : input->path;
  };
  require_output("output", output, {request.study.file, trial_path, file_of(request.nuisance), file_of(request.truth)});
  for (const ModelInput& model : request.models) require_output("output", output, {file_of(model)});
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
  check_output(request, judged.path);
  const CheckedTrial checked =
      read != nullptr ? *read : check_and_adjust(io::read_trial(with_path, context), judged.study, context);
  judged.trial = checked.trial;
  judged.checked = checked.checked;
  judged.rows = evaluate::rows_of(*judged.trial, split_of_rows(request.split));
  return judged;
}

EvaluateResult evaluate_on(const JudgedTrial& judged, const EvaluateRequest& request, core::RunContext& context,
                           SharedNuisance* shared) {
  const std::vector<std::string> names = distinct_names(request.models);
  std::vector<TrialPrediction> predicted;
  for (const ModelInput& model : request.models) {
    predicted.push_back(predict_trial(model, judged, training_rows(request), context));
  }
  if (request.index) mark_indices(predicted);
  for (TrialPrediction& prediction : predicted) set_known_prices(judged.rows, prediction);
  const Nuisance nuisance = shared_nuisance(request, predicted, names, judged, context, shared);
  std::optional<TrialPrediction> truth;
  if (request.truth) truth = predict_trial(*request.truth, judged, TrainingRows::warn, context);
  const check::CheckResult& checked = judged.checked;

  evaluate::EvaluationInput input{judged.rows, {}, {}, nuisance.name, {}, {}};
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    input.models.push_back({names[i], predicted[i].method, predicted[i].is_index, predicted[i].prediction.outcomes(),
                            predicted[i].importance, request.models[i].is_alternative, predicted[i].prediction.price});
  }
  input.nuisance = nuisance.outcomes;
  if (truth) input.truth = truth->prediction.outcomes();
  input.segments = read_segments(request.segments, judged, context);
  input.arm_means = evaluate::arm_means(*judged.trial, split_of_rows(request.split));
  const std::vector<std::uint8_t> rule = read_rule(judged, context);
  input.rule = rule;

  evaluate::EvaluationOptions options;
  options.estimator = choose_estimator(request, nuisance, context);
  for (const data::Budget& budget : data::resolve_budgets(judged.study, *judged.trial))
    options.budgets_per_unit.push_back(budget.per_unit);
  options.budget_basis = data::budget_basis(judged.study);
  options.num_resamples = static_cast<std::size_t>(request.resamples);
  options.analytic = request.intervals == Intervals::analytic;
  options.weights = request.weights;
  options.num_levels = static_cast<std::size_t>(request.levels);
  options.ranking = request.ranking;
  options.value_per_revenue = judged.study.value.of_revenue();
  options.cost_limits = {judged.study.cost.control_is_free, judged.study.cost.non_negative,
                         judged.study.cost.rises_with_arm};
  const data::ReportWords words = data::report_words(judged.study);
  options.words = {words.revenue_name, words.cost_name, words.currency, words.decimal, words.thousands};
  options.unfit_because = join_problems(checked);
  options.is_adjusted = checked.grade == check::Grade::adjustable;

  return {{evaluate::evaluate(input, options, context),
           make_provenance(request, judged, options, names, predicted, nuisance, context.seed), words,
           std::string(core::to_word(request.split)), checked},
          checked.fit};
}

EvaluateResult evaluate(const EvaluateRequest& request, core::RunContext& context) {
  check_request(request);
  const EvaluateResult result = evaluate_on(read_judged_trial(request, nullptr, context), request, context);
  if (request.output) io::write_text_file(*request.output, report::evaluation_json(result.report));
  return result;
}

}  // namespace dfcl::verbs

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/evaluate.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "dfcl/check/check.h"
#include "dfcl/core/error_makers.h"
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

TrainingRows training_rows(const EvaluateRequest& request) {
  return request.allow_training_rows ? TrainingRows::warn : TrainingRows::refuse;
}

// Which prediction steadies the estimates, if any.
struct Nuisance {
  std::optional<TrialPrediction> own;  // of the request
  const TrialPrediction* chosen = nullptr;
  std::string name;
};

Nuisance choose_nuisance(const EvaluateRequest& request, const std::vector<TrialPrediction>& models,
                         const std::vector<std::string>& names, const JudgedTrial& judged, core::RunContext& context) {
  Nuisance nuisance;
  if (request.nuisance) {
    nuisance.own = predict_trial(*request.nuisance, judged, training_rows(request), context);
    if (nuisance.own->is_index) {
      throw core::Error({.kind = core::ErrorKind::usage,
                         .field = "nuisance",
                         .what = "a model of efficiencies predicts no outcomes",
                         .where = request.nuisance->path,
                         .expected = "predictions of revenue and cost"});
    }
    nuisance.chosen = &*nuisance.own;
    nuisance.name = fmt::format("the predictions of {}", distinct_names({*request.nuisance}).front());
  } else if (!models.front().is_index) {
    nuisance.chosen = &models.front();
    nuisance.name = fmt::format("the predictions of the reference, {}", names.front());
  }
  return nuisance;
}

evaluate::Estimator choose_estimator(const EvaluateRequest& request, const Nuisance& nuisance,
                                     core::RunContext& context) {
  if (request.estimator) {
    if (*request.estimator == evaluate::Estimator::doubly_robust && nuisance.chosen == nullptr) {
      throw core::Error({.kind = core::ErrorKind::usage,
                         .field = "estimator",
                         .what = "the reference predicts efficiencies, not outcomes",
                         .found = "doubly-robust",
                         .hint = fmt::format("{} gives predictions of outcomes, or put another model first",
                                             core::field_name("nuisance"))});
    }
    return *request.estimator;
  }
  if (nuisance.chosen != nullptr) return evaluate::Estimator::doubly_robust;
  context.warn("the reference predicts efficiencies, not outcomes: the Hajek estimator is used");
  return evaluate::Estimator::hajek;
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
  if (nuisance.own) provenance.options.emplace_back("nuisance", nuisance.own->fingerprint);
  if (request.allow_training_rows) provenance.options.emplace_back("allow_training_rows", "true");
  return provenance;
}

std::string join_problems(const check::CheckResult& result) {
  if (result.fit) return "";
  std::string problems;
  for (const check::Finding& problem : result.problems) problems += (problems.empty() ? "" : " ") + problem.text;
  return problems;
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

EvaluateResult evaluate_on(const JudgedTrial& judged, const EvaluateRequest& request, core::RunContext& context) {
  const std::vector<std::string> names = distinct_names(request.models);
  std::vector<TrialPrediction> predicted;
  for (const ModelInput& model : request.models) {
    predicted.push_back(predict_trial(model, judged, training_rows(request), context));
  }
  if (request.index) mark_indices(predicted);
  const Nuisance nuisance = choose_nuisance(request, predicted, names, judged, context);
  std::optional<TrialPrediction> truth;
  if (request.truth) truth = predict_trial(*request.truth, judged, TrainingRows::warn, context);
  const check::CheckResult& checked = judged.checked;

  evaluate::EvaluationInput input{judged.rows, {}, {}, nuisance.name, {}, {}};
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    input.models.push_back({names[i], predicted[i].method, predicted[i].is_index, predicted[i].prediction.outcomes(),
                            predicted[i].importance, request.models[i].is_alternative, predicted[i].prediction.price});
  }
  if (nuisance.chosen != nullptr) input.nuisance = nuisance.chosen->prediction.outcomes();
  if (truth) input.truth = truth->prediction.outcomes();
  input.segments = read_segments(request.segments, judged, context);

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
  const data::ReportWords words = data::report_words(judged.study);
  options.words = {words.revenue_name, words.cost_name, words.currency};
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

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include "dfcl/check/check.h"
#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"
#include "dfcl/core/version.h"
#include "dfcl/data/budgets.h"
#include "dfcl/data/prediction_fingerprint.h"
#include "dfcl/data/report_words.h"
#include "dfcl/evaluate/evaluate.h"
#include "dfcl/evaluate/estimators/join.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/io/trial/unit_labels.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/report/check/check_report.h"
#include "dfcl/verbs/predict.h"
#include "dfcl/verbs/train.h"

namespace dfcl::verbs {
namespace {

const std::map<std::string, evaluate::Estimator> kEstimators = {
    {"horvitz-thompson", evaluate::Estimator::horvitz_thompson},
    {"hajek", evaluate::Estimator::hajek},
    {"stratified", evaluate::Estimator::stratified},
    {"doubly-robust", evaluate::Estimator::doubly_robust}};

std::optional<data::Split> split_named(const std::string& name) {
  if (name == "train") return data::Split::train;
  if (name == "validation") return data::Split::validation;
  if (name == "test") return data::Split::test;
  return std::nullopt;
}

// Predictions of one file or model, for the rows of the trial.
struct Scored {
  evaluate::JoinedPrediction prediction;
  std::string method;
  std::string fingerprint;
  bool is_index = false;
  std::vector<evaluate::FeatureImportance> importance = {};
};

// Of a forest, the features that matter most.
std::vector<evaluate::FeatureImportance> importance_of(const model::Model& model) {
  constexpr std::size_t kMost = 30;
  std::vector<evaluate::FeatureImportance> list;
  for (const auto& [feature, share] : model::feature_importance(model)) {
    if (share > 0.0 && list.size() < kMost) list.push_back({feature, share});
  }
  return list;
}

// The trial and the rows that are looked at.
struct Inputs {
  data::Study study;
  data::Trial trial;
  evaluate::TrialRows rows;
  std::string trial_path;
};

void refuse_training_rows(const model::Model& model, const std::string& path, const Inputs& inputs, bool allowed,
                          core::RunContext& context) {
  std::vector<std::uint8_t> is_chosen(inputs.trial.num_units());
  for (const std::size_t row : inputs.rows.trial_row) is_chosen[row] = 1;
  const model::Overlap overlap = model::overlap_with(model.trained, inputs.trial, is_chosen);
  if (overlap.num_trained == 0) return;
  const std::string what = fmt::format("the model was trained on {:.3g} % of these rows ({} of {} compared)",
                                       100.0 * overlap.share(), overlap.num_trained, overlap.num_compared);
  if (!allowed) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = what,
                       .where = path,
                       .expected = "rows it has not seen",
                       .hint = "--split test with the split it was trained with; --allow-training-rows goes on "
                               "regardless"});
  }
  context.warn(fmt::format("{}: {}; its figures flatter it", path, what));
}

data::Features features_of(const data::Features& all, const std::vector<std::size_t>& rows) {
  data::Features some{all.columns, core::Matrix<float>(rows.size(), all.values.cols())};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::copy_n(all.values.row(rows[row]).data(), all.values.cols(), some.values.row(row).data());
  }
  return some;
}

// A model of other outcomes answers another question. Its file may hold any text where the study should be.
void warn_of_other_outcomes(const model::Model& model, const std::string& where, const data::Study& study,
                            core::RunContext& context) {
  data::Study::Columns learned;
  const auto name = [](const std::optional<std::string>& column) { return column.value_or("none"); };
  try {
    learned = io::parse_study(model.study, where, "", {}, false).columns;
  } catch (const core::Error&) {
    return;
  }
  for (const auto& [outcome, theirs, ours] : {std::tuple{"revenue", learned.revenue, study.columns.revenue},
                                              std::tuple{"cost", name(learned.cost), name(study.columns.cost)}}) {
    if (theirs != ours) {
      context.warn(
          fmt::format("{}: learned '{}' as {}, the study's is '{}'", where, core::printable(theirs), outcome, ours));
    }
  }
}

Scored score_model(const model::Model& model, const std::string& where, const Inputs& inputs, bool allow_training_rows,
                   core::RunContext& context) {
  refuse_training_rows(model, where, inputs, allow_training_rows, context);
  warn_of_other_outcomes(model, where, inputs.study, context);
  Scored scored{{}, model.method, model::fingerprint_of(model), model.is_index(), importance_of(model)};
  if (model.features == inputs.trial.features.columns) {
    const data::Prediction prediction =
        model::predict(model, features_of(inputs.trial.features, inputs.rows.trial_row), inputs.rows.ids, context);
    evaluate::TrialRows of_prediction = inputs.rows;
    for (std::size_t row = 0; row < of_prediction.size(); ++row) of_prediction.trial_row[row] = row;
    scored.prediction = evaluate::join_prediction(prediction, of_prediction, inputs.rows.ids, where);
  } else {  // other columns or levels: read the units as the model knows them
    scored.prediction = evaluate::join_prediction(model::predict_file(model, inputs.trial_path, context), inputs.rows,
                                                  inputs.trial.ids, where);
  }
  return scored;
}

Scored score_prediction(const data::Prediction& prediction, const std::string& where, const Inputs& inputs,
                        core::RunContext& context) {
  Scored scored;
  scored.fingerprint = fmt::format("{:016x}", data::fingerprint_of(prediction, context));
  scored.prediction = evaluate::join_prediction(prediction, inputs.rows, inputs.trial.ids, where);
  return scored;
}

Scored score_file(const std::string& path, const Inputs& inputs, core::RunContext& context) {
  const io::PredictionTable table = io::read_prediction(path, "", context);
  Scored scored = score_prediction(table.prediction, path, inputs, context);
  const data::Provenance provenance = io::read_provenance(path);
  scored.is_index = holds_index(provenance);
  for (const auto& [name, value] : provenance.options) {
    if (name == "method") scored.method = value;
  }
  return scored;
}

Scored score(const Contender& contender, const Inputs& inputs, bool allow_training_rows, core::RunContext& context) {
  const std::string& path = contender.path;
  if (contender.model != nullptr) return score_model(*contender.model, path, inputs, allow_training_rows, context);
  if (contender.prediction != nullptr) {
    Scored scored = score_prediction(*contender.prediction, path, inputs, context);
    scored.method = contender.method;
    scored.is_index = contender.is_index;
    return scored;
  }
  return io::is_safetensors(path) ? score_model(model::read_model(path), path, inputs, allow_training_rows, context)
                                     : score_file(path, inputs, context);
}

// The name given, or that of the file without its ending; two of one name are numbered.
std::vector<std::string> names_of(const std::vector<Contender>& contenders) {
  std::vector<std::string> names;
  for (const Contender& contender : contenders) {
    const std::string file = std::filesystem::path(contender.path).filename().string();
    const std::string stem = contender.name.empty() ? file.substr(0, file.find('.')) : contender.name;
    std::string name = stem;
    for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number) {
      name = fmt::format("{}-{}", stem, number);
    }
    names.push_back(name);
  }
  return names;
}

data::Study study_of(const EvaluateRequest& request) {
  data::Study study = request.study;
  const int kinds =
      (request.totals.empty() ? 0 : 1) + (request.per_unit.empty() ? 0 : 1) + (request.share_of_max.empty() ? 0 : 1);
  if (kinds > 1) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "more than one way to say how much may be spent",
                       .hint = "give one of --budget, --per-unit and --share-of-max"});
  }
  if (kinds == 1)
    study.budgets = {request.per_unit, request.totals, request.share_of_max, study.budgets.include_control};
  return study;
}

// Which prediction steadies the estimates, if any.
struct Nuisance {
  std::optional<Scored> own;  // of --nuisance
  const Scored* chosen = nullptr;
  std::string name;
};

Nuisance choose_nuisance(const EvaluateRequest& request, const std::vector<Scored>& models,
                         const std::vector<std::string>& names, const Inputs& inputs, core::RunContext& context) {
  Nuisance nuisance;
  if (request.nuisance.is_given()) {
    nuisance.own = score(request.nuisance, inputs, request.allow_training_rows, context);
    if (nuisance.own->is_index) {
      throw core::Error({.kind = core::ErrorKind::usage,
                         .what = "a model of efficiencies predicts no outcomes",
                         .where = fmt::format("--nuisance {}", request.nuisance.path),
                         .expected = "predictions of revenue and cost"});
    }
    nuisance.chosen = &*nuisance.own;
    nuisance.name = fmt::format("the predictions of {}", names_of({request.nuisance}).front());
  } else if (!models.front().is_index) {
    nuisance.chosen = &models.front();
    nuisance.name = fmt::format("the predictions of the reference, {}", names.front());
  }
  return nuisance;
}

evaluate::Estimator choose_estimator(const EvaluateRequest& request, const Nuisance& nuisance,
                                     core::RunContext& context) {
  if (!request.estimator.empty()) {
    const evaluate::Estimator estimator = kEstimators.at(request.estimator);
    if (estimator == evaluate::Estimator::doubly_robust && nuisance.chosen == nullptr) {
      throw core::Error({.kind = core::ErrorKind::usage,
                         .what = "the reference predicts efficiencies, not outcomes",
                         .where = "--estimator doubly-robust",
                         .hint = "--nuisance FILE gives predictions of outcomes, or put another model first"});
    }
    return estimator;
  }
  if (nuisance.chosen != nullptr) return evaluate::Estimator::doubly_robust;
  context.warn("the reference predicts efficiencies, not outcomes: the Hajek estimator is used");
  return evaluate::Estimator::hajek;
}

std::vector<evaluate::SegmentColumn> read_segments(const std::vector<std::string>& columns, const Inputs& inputs,
                                                   core::RunContext& context) {
  std::vector<evaluate::SegmentColumn> segments;
  for (const std::string& column : columns) {
    const io::UnitLabels labels = io::read_unit_labels(inputs.trial_path, inputs.study.columns.id.value_or(""), column, context);
    std::vector<std::uint32_t> label_of_row;
    for (const std::size_t place : evaluate::join_ids(inputs.rows, inputs.trial.ids, labels.ids, inputs.trial_path)) {
      label_of_row.push_back(labels.label[place]);
    }
    segments.push_back(evaluate::segment_column(column, std::move(label_of_row), labels.labels));
  }
  return segments;
}

data::Provenance provenance_of(const EvaluateRequest& request, const Inputs& inputs,
                               const evaluate::EvaluationOptions& options, const std::vector<std::string>& names,
                               const std::vector<Scored>& models, const Nuisance& nuisance, std::uint64_t seed) {
  data::Provenance provenance{"results", core::version(), "evaluate", {}};
  provenance.options = {{"seed", std::to_string(seed)},
                        {"split", request.split},
                        {"estimator", std::string(evaluate::to_text(options.estimator))},
                        {"intervals", request.intervals},
                        {"resamples", std::to_string(options.num_resamples)},
                        {"weights", request.weights},
                        {"levels", std::to_string(options.num_levels)},
                        {"ranking", request.ranking},
                        {"trial", fmt::format("{:016x}", inputs.trial.fingerprint)}};
  for (std::size_t i = 0; i < models.size(); ++i) {
    provenance.options.emplace_back("model " + names[i], models[i].fingerprint);
  }
  if (nuisance.own) provenance.options.emplace_back("nuisance", nuisance.own->fingerprint);
  if (request.allow_training_rows) provenance.options.emplace_back("allow_training_rows", "true");
  return provenance;
}

std::string problems_of(const check::CheckResult& result) {
  if (result.fit) return "";
  std::string problems;
  for (const check::Finding& problem : result.problems) problems += (problems.empty() ? "" : " ") + problem.text;
  return problems;
}

Inputs read_inputs(const EvaluateRequest& request, core::RunContext& context) {
  Inputs inputs;
  inputs.study = study_of(request);
  const data::Study read = with_trial(inputs.study, request.trial);
  inputs.trial_path = (std::filesystem::path(read.folder) / read.data.trial.value_or("")).string();
  inputs.trial = io::read_trial(read, context);
  inputs.rows = evaluate::rows_of(inputs.trial, split_named(request.split));
  return inputs;
}

}  // namespace

EvaluateResult evaluate(const EvaluateRequest& request, core::RunContext& context) {
  const Inputs inputs = read_inputs(request, context);
  const std::vector<std::string> names = names_of(request.contenders);
  std::vector<Scored> scored;
  for (const Contender& contender : request.contenders) {
    scored.push_back(score(contender, inputs, request.allow_training_rows, context));
  }
  const Nuisance nuisance = choose_nuisance(request, scored, names, inputs, context);
  std::optional<Scored> truth;
  if (request.truth.is_given()) truth = score(request.truth, inputs, true, context);
  const check::CheckResult checked = check::check_trial(inputs.trial, inputs.study, context);

  evaluate::EvaluationInput input{inputs.rows, {}, {}, nuisance.name, {}, {}};
  for (std::size_t i = 0; i < scored.size(); ++i) {
    input.models.push_back({names[i], scored[i].method, scored[i].is_index, scored[i].prediction.outcomes(),
                            scored[i].importance, request.contenders[i].is_alternative});
  }
  if (nuisance.chosen != nullptr) input.nuisance = nuisance.chosen->prediction.outcomes();
  if (truth) input.truth = truth->prediction.outcomes();
  input.segments = read_segments(request.segments, inputs, context);

  evaluate::EvaluationOptions options;
  options.estimator = choose_estimator(request, nuisance, context);
  const double control_cost = data::arm_costs(inputs.trial).of_control();
  for (const data::Budget& budget : data::resolve_budgets(inputs.study, inputs.trial))
    options.budgets_per_unit.push_back(budget.total_per_unit(control_cost));
  options.num_resamples = request.resamples;
  options.analytic = request.intervals == "analytic";
  options.weights = request.weights == "poisson" ? evaluate::Weights::poisson : evaluate::Weights::multinomial;
  options.num_levels = request.levels;
  options.ranking = request.ranking == "angle" ? evaluate::Ranking::angle : evaluate::Ranking::published;
  const data::ReportWords words = data::report_words(inputs.study);
  options.words = {words.revenue_name, words.cost_name, words.currency};
  options.unfit_because = problems_of(checked);

  return {{evaluate::evaluate(input, options, context),
           provenance_of(request, inputs, options, names, scored, nuisance, context.seed), words,
           request.split, report::check_json(checked)},
          checked.fit};
}

}  // namespace dfcl::verbs

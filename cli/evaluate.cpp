// SPDX-License-Identifier: Apache-2.0
//
// dfcl evaluate: what plans made by models or predictions are worth, on rows of a trial they were not fitted on.
#include "dfcl/evaluate/evaluate.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/check/check.h"
#include "dfcl/core/error.h"
#include "dfcl/core/version.h"
#include "dfcl/data/prediction_fingerprint.h"
#include "dfcl/evaluate/join.h"
#include "dfcl/io/atomic_file.h"
#include "dfcl/io/prediction_file.h"
#include "dfcl/io/study_file.h"
#include "dfcl/io/table_summary_reader.h"
#include "dfcl/io/trial_reader.h"
#include "dfcl/io/unit_labels.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/report/check_report.h"
#include "dfcl/report/evaluation_report.h"
#include "dfcl/train/budget_prices.h"

namespace dfcl::cli {
namespace {

struct EvaluateFlags {
  std::string study;
  std::vector<std::string> models;
  std::string output;
  std::string split = "test";
  std::string estimator;  // "": doubly-robust where there is a nuisance, else hajek
  std::string nuisance;
  std::string truth;
  std::vector<double> totals;
  std::vector<double> per_unit;
  std::vector<double> share_of_max;
  std::size_t levels = 200;
  std::string ranking = "angle";
  std::size_t resamples = 1000;
  std::string intervals = "bootstrap";
  std::string weights = "poisson";
  std::vector<std::string> segments;
  std::vector<std::string> settings;
  bool allow_training_rows = false;
};

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
};

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

Scored score_model(const std::string& path, const Inputs& inputs, bool allow_training_rows, core::RunContext& context) {
  const model::Model model = model::read_model(path);
  refuse_training_rows(model, path, inputs, allow_training_rows, context);
  Scored scored{{}, model.method, model::fingerprint_of(model), model.is_index()};
  if (model.features == inputs.trial.features.columns) {
    const data::Prediction prediction =
        model::predict(model, features_of(inputs.trial.features, inputs.rows.trial_row), inputs.rows.ids, context);
    evaluate::TrialRows of_prediction = inputs.rows;
    for (std::size_t row = 0; row < of_prediction.size(); ++row) of_prediction.trial_row[row] = row;
    scored.prediction = evaluate::join_prediction(prediction, of_prediction, inputs.rows.ids, path);
  } else {  // other columns or levels: read the units as the model knows them
    scored.prediction = evaluate::join_prediction(model::predict_file(model, inputs.trial_path, context), inputs.rows,
                                                  inputs.trial.ids, path);
  }
  return scored;
}

Scored score_file(const std::string& path, const Inputs& inputs, core::RunContext& context) {
  const io::PredictionTable table = io::read_prediction(path, "", context);
  Scored scored;
  scored.fingerprint = fmt::format("{:016x}", data::fingerprint_of(table.prediction, context));
  for (const auto& [name, value] : io::read_provenance(path).options) {
    if (name == "method") scored.method = value;
    if (name == "revenue_is_index") scored.is_index = value == "true";
  }
  scored.prediction = evaluate::join_prediction(table.prediction, inputs.rows, inputs.trial.ids, path);
  return scored;
}

Scored score(const std::string& path, const Inputs& inputs, bool allow_training_rows, core::RunContext& context) {
  return model::is_safetensors(path) ? score_model(path, inputs, allow_training_rows, context)
                                     : score_file(path, inputs, context);
}

// The name of the file without its ending; two of one name are numbered.
std::vector<std::string> names_of(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    const std::string file = std::filesystem::path(path).filename().string();
    const std::string stem = file.substr(0, file.find('.'));
    std::string name = stem;
    for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number) {
      name = fmt::format("{}-{}", stem, number);
    }
    names.push_back(name);
  }
  return names;
}

data::Study read_study(const EvaluateFlags& flags) {
  data::Study study = io::read_study(flags.study, flags.settings);
  const int kinds =
      (flags.totals.empty() ? 0 : 1) + (flags.per_unit.empty() ? 0 : 1) + (flags.share_of_max.empty() ? 0 : 1);
  if (kinds > 1) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "more than one way to say how much may be spent",
                       .hint = "give one of --budget, --per-unit and --share-of-max"});
  }
  if (kinds == 1) study.budgets = {flags.per_unit, flags.totals, flags.share_of_max};
  if (study.report.revenue_name.empty()) study.report.revenue_name = study.columns.revenue;
  if (study.report.cost_name.empty()) study.report.cost_name = study.columns.cost.empty() ? "cost" : study.columns.cost;
  if (study.report.title.empty()) study.report.title = std::filesystem::path(study.data.trial).stem().string();
  return study;
}

// Which prediction steadies the estimates, if any.
struct Nuisance {
  std::optional<Scored> own;  // of --nuisance
  const Scored* chosen = nullptr;
  std::string name;
};

Nuisance choose_nuisance(const EvaluateFlags& flags, const std::vector<Scored>& models,
                         const std::vector<std::string>& names, const Inputs& inputs, core::RunContext& context) {
  Nuisance nuisance;
  if (!flags.nuisance.empty()) {
    nuisance.own = score(flags.nuisance, inputs, flags.allow_training_rows, context);
    if (nuisance.own->is_index) {
      throw core::Error({.kind = core::ErrorKind::usage,
                         .what = "a model of efficiencies predicts no outcomes",
                         .where = fmt::format("--nuisance {}", flags.nuisance),
                         .expected = "predictions of revenue and cost"});
    }
    nuisance.chosen = &*nuisance.own;
    nuisance.name = fmt::format("the predictions of {}", names_of({flags.nuisance}).front());
  } else if (!models.front().is_index) {
    nuisance.chosen = &models.front();
    nuisance.name = fmt::format("the predictions of the reference, {}", names.front());
  }
  return nuisance;
}

evaluate::Estimator choose_estimator(const EvaluateFlags& flags, const Nuisance& nuisance, core::RunContext& context) {
  if (!flags.estimator.empty()) {
    const evaluate::Estimator estimator = kEstimators.at(flags.estimator);
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
    const io::UnitLabels labels = io::read_unit_labels(inputs.trial_path, inputs.study.columns.id, column, context);
    std::vector<std::uint32_t> label_of_row;
    for (const std::size_t place : evaluate::join_ids(inputs.rows, inputs.trial.ids, labels.ids, inputs.trial_path)) {
      label_of_row.push_back(labels.label[place]);
    }
    segments.push_back(evaluate::segment_column(column, std::move(label_of_row), labels.labels));
  }
  return segments;
}

data::Provenance provenance_of(const EvaluateFlags& flags, const Inputs& inputs,
                               const evaluate::EvaluationOptions& options, const std::vector<std::string>& names,
                               const std::vector<Scored>& models, const Nuisance& nuisance, std::uint64_t seed) {
  data::Provenance provenance{"results", core::version(), "evaluate", {}};
  provenance.options = {{"seed", std::to_string(seed)},
                        {"split", flags.split},
                        {"estimator", std::string(evaluate::to_text(options.estimator))},
                        {"intervals", flags.intervals},
                        {"resamples", std::to_string(options.num_resamples)},
                        {"weights", flags.weights},
                        {"levels", std::to_string(options.num_levels)},
                        {"ranking", flags.ranking},
                        {"trial", fmt::format("{:016x}", inputs.trial.fingerprint)}};
  for (std::size_t i = 0; i < models.size(); ++i) {
    provenance.options.emplace_back("model " + names[i], models[i].fingerprint);
  }
  if (nuisance.own) provenance.options.emplace_back("nuisance", nuisance.own->fingerprint);
  if (flags.allow_training_rows) provenance.options.emplace_back("allow_training_rows", "true");
  return provenance;
}

std::string problems_of(const check::CheckResult& result) {
  if (result.fit) return "";
  std::string problems;
  for (const check::Finding& problem : result.problems) problems += (problems.empty() ? "" : " ") + problem.text;
  return problems;
}

Inputs read_inputs(const EvaluateFlags& flags, core::RunContext& context) {
  Inputs inputs;
  inputs.study = read_study(flags);
  inputs.trial_path = (std::filesystem::path(inputs.study.folder) / inputs.study.data.trial).string();
  if (!flags.output.empty()) {
    require_output(flags.output, {flags.study, inputs.trial_path});
    for (const std::string& input : flags.models) require_output(flags.output, {input});
    for (const std::string& input : {flags.nuisance, flags.truth}) {
      if (!input.empty()) require_output(flags.output, {input});
    }
  }
  inputs.trial = io::read_trial(inputs.study, context);
  inputs.rows = evaluate::rows_of(inputs.trial, split_named(flags.split));
  return inputs;
}

int run_evaluate(const EvaluateFlags& flags, bool as_json, core::RunContext& context) {
  const Inputs inputs = read_inputs(flags, context);
  const std::vector<std::string> names = names_of(flags.models);
  std::vector<Scored> scored;
  for (const std::string& path : flags.models) {
    scored.push_back(score(path, inputs, flags.allow_training_rows, context));
  }
  const Nuisance nuisance = choose_nuisance(flags, scored, names, inputs, context);
  std::optional<Scored> truth;
  if (!flags.truth.empty()) truth = score_file(flags.truth, inputs, context);
  const check::CheckResult checked = check::check_trial(inputs.trial, inputs.study, context);

  evaluate::EvaluationInput input{inputs.rows, {}, {}, nuisance.name, {}, {}};
  for (std::size_t i = 0; i < scored.size(); ++i) {
    input.models.push_back({names[i], scored[i].method, scored[i].is_index, scored[i].prediction.outcomes()});
  }
  if (nuisance.chosen != nullptr) input.nuisance = nuisance.chosen->prediction.outcomes();
  if (truth) input.truth = truth->prediction.outcomes();
  input.segments = read_segments(flags.segments, inputs, context);

  evaluate::EvaluationOptions options;
  options.estimator = choose_estimator(flags, nuisance, context);
  for (const train::UnitBudget& budget : train::unit_budgets(inputs.study, inputs.trial)) {
    options.budgets_per_unit.push_back(budget.per_unit);
  }
  options.num_resamples = flags.resamples;
  options.analytic = flags.intervals == "analytic";
  options.weights = flags.weights == "poisson" ? evaluate::Weights::poisson : evaluate::Weights::multinomial;
  options.num_levels = flags.levels;
  options.ranking = flags.ranking == "angle" ? evaluate::Ranking::angle : evaluate::Ranking::published;
  options.words = {inputs.study.report.revenue_name, inputs.study.report.cost_name, inputs.study.report.currency};
  options.unfit_because = problems_of(checked);

  const report::EvaluationReport report{evaluate::evaluate(input, options, context),
                                        provenance_of(flags, inputs, options, names, scored, nuisance, context.seed),
                                        inputs.study.report, flags.split, report::check_json(checked)};
  const std::string json = report::evaluation_json(report);
  if (!flags.output.empty()) io::write_text_file(flags.output, json);
  fmt::print("{}", as_json ? json : report::evaluation_text(report));
  return checked.fit ? 0 : static_cast<int>(core::ErrorKind::unfit);
}

void add_statistics(CLI::App& verb, const std::shared_ptr<EvaluateFlags>& flags) {
  verb.add_option("--estimator", flags->estimator,
                  "how revenue and cost of a plan are estimated\nDefault: doubly-robust; hajek where the reference "
                  "predicts efficiencies and no --nuisance is given.")
      ->check(one_of({"horvitz-thompson", "hajek", "stratified", "doubly-robust"}));
  verb.add_option("--nuisance", flags->nuisance,
                  "model or predictions that steady the doubly robust estimates of all models\nDefault: the "
                  "reference's. Must not have seen these rows.");
  verb.add_option("--resamples", flags->resamples, "bootstrap resamples; 0: no intervals")
      ->check(CLI::Range(0, 1'000'000));
  verb.add_option(
          "--intervals", flags->intervals,
          "how intervals are made\nanalytic: from influence functions, without resamples; areas then have none.")
      ->check(one_of({"bootstrap", "analytic"}));
  verb.add_option("--weights", flags->weights, "how resamples are drawn")->check(one_of({"poisson", "multinomial"}));
  verb.add_option("--levels", flags->levels, "levels of cost of the published AUCC")->check(CLI::Range(2, 1'000'000));
  verb.add_option("--ranking", flags->ranking,
                  "how units are ranked for the AUCC\nangle: of extra cost and revenue. published: their quotient, "
                  "with |extra cost| floored at 1e-6, which takes two negatives for good.")
      ->check(one_of({"angle", "published"}));
}

}  // namespace

void add_evaluate(Session& session) {
  const auto flags = std::make_shared<EvaluateFlags>();
  CLI::App& verb = session.add_verb(
      "evaluate",
      "what plans are worth, on rows of a trial that the models have not seen\n"
      "Revenue, cost and return of every model at every budget, with intervals, and differences from the first model. "
      "Exit code 7: the trial is unfit.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml --truth "
      "truth.parquet\n"
      "dfcl train study.toml --method tsm --epochs 3 --seed 1 -o model.safetensors\n"
      "dfcl evaluate study.toml model.safetensors truth.parquet --truth truth.parquet --resamples 200 -o results.json",
      [flags, &session](core::RunContext& context) { return run_evaluate(*flags, session.json(), context); });
  verb.add_option("STUDY", flags->study, "the study file")->required();
  verb.add_option("MODEL|PREDICTIONS", flags->models,
                  "models, or files of predictions joined by id; the first is the reference")
      ->required();
  verb.add_option("-o,--output", flags->output, "the results to write, .json; `dfcl report` makes a page of them");
  verb.add_option("--split", flags->split, "the rows to look at")
      ->check(one_of({"train", "validation", "test", "all"}));
  verb.add_option("--budget", flags->totals,
                  "budgets as totals over the whole trial, instead of the study's; several as 100,200")
      ->delimiter(',');
  verb.add_option("--per-unit", flags->per_unit, "budgets as spend per unit; several as 0.1,0.2")->delimiter(',');
  verb.add_option("--share-of-max", flags->share_of_max,
                  "budgets as shares of the trial's mean cost in its costliest arm\nSeveral as 0.1,0.2.")
      ->delimiter(',');
  add_statistics(verb, flags);
  verb.add_option("--truth", flags->truth,
                  "true expected outcomes of a simulated trial\nAdds the oracle's curve and each plan's share of it.");
  verb.add_option("--segment", flags->segments,
                  "column of the trial: who gets what, by its values; may be repeated\nAny column, feature or not.")
      ->allow_extra_args(false);
  verb.add_flag("--allow-training-rows", flags->allow_training_rows,
                "evaluate on rows that a model was trained on, all the same");
  verb.add_option("--set", flags->settings, "any key of the study: section.key=value; may be repeated")
      ->allow_extra_args(false);
}

}  // namespace dfcl::cli

// SPDX-License-Identifier: Apache-2.0
//
// dfcl evaluate: what plans made by models or predictions are worth, on rows of a trial they were not fitted on.
#include "dfcl/verbs/evaluate.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"

namespace dfcl::cli {
namespace {

struct EvaluateFlags : verbs::EvaluateRequest {
  std::string study_file;
  std::vector<std::string> models;
  std::string output;
  std::string nuisance_file;
  std::string truth_file;
  std::vector<std::string> settings;
};

void check_output(const EvaluateFlags& flags) {
  if (flags.output.empty()) return;
  if (!flags.output.ends_with(".json"))
    throw core::usage_error("-o", "results are JSON", fmt::format("'{}'", flags.output), "a name that ends in .json");
  const auto trial = std::filesystem::path(flags.study.folder) / flags.study.data.trial.value_or("");
  require_output(flags.output, {flags.study_file, trial.string()});
  for (const std::string& input : flags.models) require_output(flags.output, {input});
  for (const std::string& input : {flags.nuisance_file, flags.truth_file}) {
    if (!input.empty()) require_output(flags.output, {input});
  }
}

int run_evaluate(EvaluateFlags& flags, bool as_json, core::RunContext& context) {
  flags.study = io::read_study(flags.study_file, flags.settings);
  flags.nuisance.path = flags.nuisance_file;
  flags.truth.path = flags.truth_file;
  for (const std::string& path : flags.models) flags.contenders.push_back({.path = path});
  check_output(flags);
  const verbs::EvaluateResult result = verbs::evaluate(flags, context);
  const std::string json = report::evaluation_json(result.report);
  if (!flags.output.empty()) io::write_text_file(flags.output, json);
  fmt::print("{}", as_json ? json : report::evaluation_text(result.report));
  return result.fit ? 0 : static_cast<int>(core::ErrorKind::unfit);
}

void add_statistics(CLI::App& verb, const std::shared_ptr<EvaluateFlags>& flags) {
  verb.add_option("--estimator", flags->estimator,
                  "how revenue and cost of a plan are estimated\nDefault: doubly-robust; hajek where the reference "
                  "predicts efficiencies and no --nuisance is given.")
      ->check(one_of({"horvitz-thompson", "hajek", "stratified", "doubly-robust"}));
  verb.add_option("--nuisance", flags->nuisance_file,
                  "model or predictions that steady the doubly robust estimates of all models\nDefault: the "
                  "reference's. Must not have seen these rows.");
  verb.add_option("--resamples", flags->resamples, "bootstrap resamples; 0: no intervals\nDefault: 1000.")
      ->check(CLI::Range(0, 1'000'000));
  verb.add_option("--intervals", flags->intervals,
                  "how intervals are made\nDefault: bootstrap. analytic: from influence functions, without resamples; "
                  "areas then have none.")
      ->check(one_of({"bootstrap", "analytic"}));
  verb.add_option("--weights", flags->weights, "how resamples are drawn\nDefault: poisson, which needs no memory.")
      ->check(one_of({"poisson", "multinomial"}));
  verb.add_option("--levels", flags->levels, "levels of cost of the published AUCC\nDefault: 200.")
      ->check(CLI::Range(2, 1'000'000));
  verb.add_option(
          "--ranking", flags->ranking,
          "how units are ranked for the AUCC\nDefault: angle, of extra cost and revenue. published: their quotient, "
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
  verb.add_option("STUDY", flags->study_file, "the study file")->required();
  verb.add_option("MODEL|PREDICTIONS", flags->models,
                  "models, or files of predictions joined by id; the first is the reference")
      ->required();
  verb.add_option("-o,--output", flags->output, "the results to write, .json; `dfcl report` makes a page of them");
  verb.add_option("--split", flags->split, "the rows to look at\nDefault: test.")
      ->check(one_of({"train", "validation", "test", "all"}));
  verb.add_option("--budget", flags->totals,
                  "budgets as totals over the whole trial, instead of the study's; several as 100,200")
      ->delimiter(',');
  verb.add_option("--per-unit", flags->per_unit, "budgets as spend per unit; several as 0.1,0.2")->delimiter(',');
  verb.add_option("--share-of-max", flags->share_of_max,
                  "budgets as shares of the trial's mean cost in its costliest arm\nSeveral as 0.1,0.2.")
      ->delimiter(',');
  add_statistics(verb, flags);
  verb.add_option("--truth", flags->truth_file,
                  "true expected outcomes of a simulated trial\nAdds the oracle's curve and each plan's share of it.");
  verb.add_option("--segment", flags->segments,
                  "column of the trial: who gets what, by its values; may be repeated\nAny column, feature or not.")
      ->allow_extra_args(false);
  verb.add_flag("--allow-training-rows", flags->allow_training_rows,
                "evaluate on rows that a model was trained on, all the same");
  session.add_key_flags(verb, flags->settings);
}

}  // namespace dfcl::cli

// SPDX-License-Identifier: Apache-2.0
//
// dfcl evaluate: what plans made by models or predictions are worth, on rows of a trial they were not fitted on.
#include "dfcl/verbs/evaluate.h"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <memory>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"

namespace dfcl::cli {
namespace {

struct EvaluateFlags : verbs::EvaluateRequest {
  std::vector<std::string> model_files;
};

// An evaluation makes and drops many arrays of a number for each row. Those up to 64 MiB are kept for the next one, or
// a sixth of the time goes into new pages.
void keep_freed_memory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

int run_evaluate(EvaluateFlags& flags, const Session& session, core::RunContext& context) {
  keep_freed_memory();
  if (!session.quiet()) flags.on_note = [](const std::string& text) { say(fmt::format("dfcl: {}\n", text)); };
  for (const std::string& path : flags.model_files) flags.models.push_back({.path = path});
  const verbs::EvaluateResult result = verbs::evaluate(flags, context);
  if (session.json()) {
    fmt::print("{}", report::evaluation_json(result.report));
  } else {
    session.show(report::evaluation_text(result.report, session.length()));
  }
  return result.fit ? 0 : static_cast<int>(core::ErrorKind::unfit);
}

void add_statistics(CLI::App& verb, EvaluateFlags& flags) {
  add_word<evaluate::Estimator>(verb, "--estimator", flags.estimator,
                                "how revenue and cost of a plan are estimated\nDefault: as [evaluate] estimator of "
                                "the study declares. Another one marks the verdict as not pre-declared.");
  add_model(verb, "--nuisance", flags.nuisance,
            "model or predictions that serve the doubly robust estimates of all models\nDefault: the study's own, "
            "boosted trees fitted to its training and validation rows. Another one marks the verdict as not "
            "pre-declared.");
  verb.add_option("--resamples", flags.resamples, "bootstrap resamples; 0: no intervals\nDefault: 1000.");
  add_word<verbs::Intervals>(
      verb, "--intervals", flags.intervals,
      "how intervals are made\nDefault: bootstrap. analytic: from influence functions, without resamples; "
      "areas then have none.");
  add_word<evaluate::Weights>(verb, "--weights", flags.weights,
                              "how resamples are drawn\nDefault: poisson, which needs no memory.");
  verb.add_option("--levels", flags.levels, "levels of cost of the published AUCC\nDefault: 200.");
  add_word<evaluate::Ranking>(
      verb, "--ranking", flags.ranking,
      "how units are ranked for the AUCC\nDefault: angle, of extra cost and revenue. published: their quotient, "
      "with |extra cost| floored at 1e-6, which ranks units with negative cost and revenue as good.");
}

}  // namespace

void add_evaluate(Session& session) {
  const auto flags = std::make_shared<EvaluateFlags>();
  CLI::App& verb = session.add_verb(
      "evaluate",
      "what plans are worth, on rows of a trial that the models have not seen\n"
      "Revenue, cost and return of every model at every budget, with intervals, and differences from the best of them. "
      "Exit code 7: the trial is unfit.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml --truth "
      "truth.parquet\n"
      "dfcl train study.toml --method tsm --epochs 3 --seed 1 -o model.safetensors\n"
      "dfcl evaluate study.toml model.safetensors truth.parquet --truth truth.parquet --resamples 200 -o results.json",
      [flags, &session](core::RunContext& context) { return run_evaluate(*flags, session, context); });
  verb.add_option("STUDY", flags->study.file, "the study file")->required();
  verb.add_option("MODEL|PREDICTIONS", flags->model_files, "models, or files of predictions joined by id, in any order")
      ->required();
  add_field(verb, "-o,--output", flags->output, "the results to write, .json; `dfcl report` makes a page of them");
  add_word<verbs::Rows>(verb, "--split", flags->split, "the rows to use\nDefault: test.");
  verb.add_option("--budget", flags->totals,
                  "budgets as totals over the whole trial, instead of the study's; several as 100,200")
      ->delimiter(',');
  verb.add_option("--per-unit", flags->per_unit, "budgets as spend per unit; several as 0.1,0.2")->delimiter(',');
  verb.add_option("--share-of-max", flags->share_of_max,
                  "budgets as shares of the extra cost of giving everyone the costliest arm\nSeveral "
                  "as 0.1,0.2.")
      ->delimiter(',');
  verb.add_flag("--index", flags->index, "revenue is an index that ranks units, not money, where a file does not say");
  add_statistics(verb, *flags);
  add_model(verb, "--truth", flags->truth,
            "true expected outcomes of a simulated trial\nAdds the oracle's curve and each plan's share of it.");
  verb.add_option("--segment", flags->segments,
                  "column of the trial: who gets what, by its values; may be repeated\nAny column, feature or not.")
      ->allow_extra_args(false);
  add_word<allocate::Objective>(
      verb, "--objective", flags->objective,
      "what plans maximise: revenue, or profit = worth of revenue - cost\nThe worth: --margin or "
      "--per-revenue.");
  add_field(verb, "--min-roi", flags->min_roi, "plans take no step that is predicted to earn less revenue per cost");
  add_field(verb, "--eligible", flags->eligible,
            "eligibility: a file of the arms that each unit may get\nColumns id and eligible_<arm> (0/1, yes/no), as "
            "for `dfcl "
            "allocate`.");
  verb.add_flag("--allow-training-rows", flags->allow_training_rows,
                "evaluate even on rows that a model was trained on");
  add_field(verb, "--fitted-on", flags->fitted_on,
            "table of the rows that predictions from elsewhere were fitted on\nColumns `id` and, where the study has "
            "one, `time`; rows whose `split` says test are left out.");
  add_field(verb, "--test", flags->study.test,
            "a separate trial to evaluate on, instead of the study's\nThe same columns and arms, other units.");
  add_memory(verb, flags->memory, "keeps the trial in files while it runs, uses fewer threads");
  add_field(verb, "--split-out", flags->split_out, "table to write: each row's id and split");
  session.add_key_flags(verb, flags->study.overrides);
}

}  // namespace dfcl::cli

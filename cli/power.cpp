// SPDX-License-Identifier: Apache-2.0
//
// dfcl power: how large must a trial be, and what can this one show?
#include "dfcl/verbs/power.h"

#include <fmt/format.h>

#include <memory>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error_makers.h"

namespace dfcl::cli {
namespace {

struct PowerFlags : verbs::PowerRequest {
  std::optional<std::string> from_trial;  // another way to name the study
  verbs::StudyInput study_file;
  std::vector<std::string> model_files;
};

int run_power(PowerFlags& flags, const Session& session, core::RunContext& context) {
  if (flags.from_trial && !flags.study_file.file.empty())
    throw core::field_error("from_trial", "the study is named twice", fmt::format("'{}'", *flags.from_trial));
  if (flags.from_trial) flags.study_file.file = *flags.from_trial;
  if (!flags.study_file.file.empty()) flags.study = flags.study_file;
  for (const std::string& path : flags.model_files) flags.models.push_back({.path = path});
  const verbs::PowerResult result = verbs::power(flags, context);
  if (session.json()) {
    fmt::print("{}", report::power_json(result.figures, result.provenance));
  } else {
    session.show(report::power_text(result.figures, session.length()));
  }
  return 0;
}

}  // namespace

void add_power(Session& session) {
  const auto flags = std::make_shared<PowerFlags>();
  CLI::App& verb = session.add_verb(
      "power",
      "how large must a trial or a hold-out be, and what can this one show?\n"
      "With two models or predictions: their plans at the budget, on rows they have not seen. With one or none: plans "
      "that give\nother arms to a share of the units. Without a study: from a standard deviation.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml --truth "
      "truth.parquet\n"
      "dfcl power study.toml --relative-gain 0.01,0.02\n"
      "dfcl power --sd 12 --gain 0.2 --power 0.9",
      [flags, &session](core::RunContext& context) { return run_power(*flags, session, context); });
  verb.add_option("STUDY", flags->study_file.file, "the study of a trial like the next one");
  verb.add_option("MODEL|PREDICTIONS", flags->model_files, "two models or files of predictions to compare");
  add_field(verb, "--from-trial", flags->from_trial, "the study, as an option");
  add_field(verb, "-o,--output", flags->output, "the results to write, .json, for dfcl report");
  verb.add_option("--gain", flags->gains, "effects to detect, in revenue per unit; several as 0.1,0.2")->delimiter(',');
  verb.add_option("--relative-gain", flags->relative_gains,
                  "the same, relative to the first plan's revenue\nDefault: 0.01,0.02,0.05.")
      ->delimiter(',');
  add_field(verb, "--per-unit", flags->per_unit, "the budget as spend per unit\nDefault: the study's first.");
  add_field(verb, "--share-of-max", flags->share_of_max,
            "the budget as a share of the extra cost of giving everyone the costliest arm");
  add_word<verbs::Rows>(verb, "--split", flags->split, "the rows to use\nDefault: test with models, else all.");
  add_field(verb, "--differ", flags->differ,
            "without two models: share of the units to which the plans give other arms\nDefault: 0.3.");
  add_field(verb, "--launch-units", flags->launch_units,
            "units in the launch that the hold-out is drawn from\nDefault: as many as the trial has.");
  add_field(verb, "--sd", flags->sd, "without a study: sd of the paired difference, per unit");
  verb.add_option("--power", flags->power, "power: the probability of detecting the effect\nDefault: 0.8.");
  verb.add_option("--level", flags->level, "confidence level of the interval that must exclude zero\nDefault: 0.95.");
  session.add_key_flags(verb, flags->study_file.overrides);
}

}  // namespace dfcl::cli

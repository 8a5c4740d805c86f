// SPDX-License-Identifier: Apache-2.0
//
// dfcl deploy: an online test of several methods, simulated.
#include "dfcl/launch/deploy.h"

#include <fmt/format.h>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/version.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/report/launch/deploy_report.h"

namespace dfcl::cli {
namespace {

struct DeployFlags {
  std::string study;
  std::string output;
  std::string controller = "on";
  std::string checkpoint;
  std::vector<std::string> settings;  // "deploy.units=1000"
};

data::Provenance provenance_of(const data::Study& study, const std::string& controller, std::uint64_t seed) {
  const data::Study::Deploy& deploy = study.deploy;
  return {"deployment",
          core::version(),
          "deploy",
          {{"methods", fmt::format("{}", fmt::join(deploy.methods, ","))},
           {"units", fmt::format("{}", deploy.units)},
           {"days", fmt::format("{}", deploy.days)},
           {"response", deploy.response},
           {"trial_units", fmt::format("{}", deploy.trial_units)},
           {"trial_days", fmt::format("{}", deploy.trial_days)},
           {"explore", fmt::format("{}", deploy.explore)},
           {"retrain", deploy.retrain ? "true" : "false"},
           {"cost_drift", fmt::format("{}", deploy.cost_drift)},
           {"population_drift", fmt::format("{}", deploy.population_drift)},
           {"controller", controller},
           {"seed", fmt::format("{}", seed)}}};
}

int run_deploy(const DeployFlags& flags, bool as_json, core::RunContext& context) {
  const data::Study study = io::read_study(flags.study, flags.settings);
  if (!flags.output.empty()) require_output(flags.output, {flags.study});
  const bool with_controller = flags.controller == "on";
  const launch::DeployResult result = launch::deploy(study, {.checkpoint_folder = flags.checkpoint}, context);
  const std::string json =
      report::deploy_json(result, with_controller, study, provenance_of(study, flags.controller, context.seed));
  if (!flags.output.empty()) io::write_text_file(flags.output, json);
  fmt::print("{}", as_json ? json : report::deploy_text(result, with_controller));
  return 0;
}

}  // namespace

void add_deploy(Session& session) {
  const auto flags = std::make_shared<DeployFlags>();
  CLI::App& verb = session.add_verb(
      "deploy",
      "an online test of several methods, simulated: groups, budgets, retraining, drift\n"
      "The units are simulated shops, whatever trial the study names. Its sections deploy, method, network, budgets "
      "(the first)\nand split are used. Every day is played with and without a controller of spend; both are shown.",
      "dfcl simulate --preset marketing --rows 1000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl deploy study.toml --units 600 --days 7 --methods tsm,dfcl-mer --set method.epochs=2 --set "
      "deploy.trial_units=300 -o results.json",
      [flags, &session](core::RunContext& context) { return run_deploy(*flags, session.json(), context); });
  verb.add_option("STUDY", flags->study, "the study file; experiments/online.toml is the published test")->required();
  verb.add_option("-o,--output", flags->output, "the results to write, .json, for dfcl report");
  session.add_key_flags(verb, flags->settings);
  verb.add_option("--controller", flags->controller, "which of the two comes first in the results")
      ->check(one_of({"on", "off"}));
  verb.add_option("--checkpoint", flags->checkpoint,
                  "folder that keeps the trained models\nThe same command goes on where it was stopped, with the same "
                  "results.");
}

}  // namespace dfcl::cli

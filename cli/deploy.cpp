// SPDX-License-Identifier: Apache-2.0
//
// dfcl deploy: an online test of several methods, simulated.
#include "dfcl/verbs/deploy.h"

#include <fmt/format.h>

#include <memory>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/report/launch/deploy_report.h"

namespace dfcl::cli {
namespace {

int run_deploy(const verbs::DeployRequest& request, const Session& session, core::RunContext& context) {
  const verbs::DeployResult result = verbs::deploy(request, context);
  if (session.json()) {
    fmt::print("{}", result.json);
  } else {
    session.show(report::deploy_text(result.deployment, request.controller == verbs::Switch::on, session.length()));
  }
  return 0;
}

}  // namespace

void add_deploy(Session& session) {
  const auto request = std::make_shared<verbs::DeployRequest>();
  CLI::App& verb = session.add_verb(
      "deploy",
      "simulates weeks of daily allocation to simulated shops, not to your units\n"
      "An online test of several methods: groups, budgets, retraining, drift. The shops are those of `dfcl simulate "
      "--preset\nmarketing`, whatever trial the study names. Its sections deploy, method, network, budgets "
      "(the first)\nand split are used. Every day is played with and without a controller of spend; both are shown.",
      "dfcl simulate --preset marketing --rows 1000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl deploy study.toml --units 600 --days 7 --methods tsm,dfcl-mer --set method.epochs=2 --set "
      "deploy.trial_units=300 -o results.json",
      [request, &session](core::RunContext& context) { return run_deploy(*request, session, context); });
  verb.add_option("STUDY", request->study.file, "the study file; experiments/online.toml is the published test")
      ->required();
  add_field(verb, "-o,--output", request->output, "the results to write, .json, for dfcl report");
  add_word<verbs::Switch>(verb, "--controller", request->controller, "which of the two comes first in the results");
  add_field(verb, "--checkpoint", request->checkpoint,
            "folder that keeps the trained models\nThe same command resumes where it stopped, with the same results.");
  session.add_key_flags(verb, request->study.overrides);
}

}  // namespace dfcl::cli

// SPDX-License-Identifier: Apache-2.0
//
// dfcl readout: what a plan earned.
#include "dfcl/verbs/readout.h"

#include <fmt/format.h>

#include <memory>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/report/launch/readout_report.h"

namespace dfcl::cli {
namespace {

int run_readout(const verbs::ReadoutRequest& request, const Session& session, core::RunContext& context) {
  const verbs::ReadoutResult result = verbs::read_out(request, context);
  if (session.json()) {
    fmt::print("{}", report::readout_json(result.readout, result.provenance));
  } else {
    session.show(report::readout_text(result.readout, session.length()));
  }
  return 0;
}

}  // namespace

void add_readout(Session& session) {
  const auto request = std::make_shared<verbs::ReadoutRequest>();
  CLI::App& verb = session.add_verb(
      "readout",
      "measures a launch: realised against planned, and against the hold-out\n"
      "OUTCOMES has one row per unit with columns id and revenue; role (plan, holdout, explore), arm (received), cost "
      "and time\nmay be there. Without them: roles and arms as planned, costs by the plan's known prices. Exit code 7: "
      "the hold-out is broken.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --truth predictions.parquet\n"
      "dfcl allocate predictions.parquet --share-of-max 0.2 --holdout 0.1 -o plan.parquet\n"
      "dfcl simulate --preset marketing --rows 20000 --seed 1 --outcomes-of plan.parquet -o outcomes.parquet\n"
      "dfcl readout plan.parquet outcomes.parquet --holdout-share 0.1 -o results.json",
      [request, &session](core::RunContext& context) { return run_readout(*request, session, context); });
  verb.add_option("PLAN", request->plan, "the plan that was launched, as dfcl allocate --holdout writes it")
      ->required();
  verb.add_option("OUTCOMES", request->outcomes, "what happened: csv, csv.gz, parquet or arrow; a glob or a folder")
      ->required();
  add_field(verb, "-o,--output", request->output, "the results to write, .json, for dfcl report");
  add_field(verb, "--previous", request->previous,
            "results of the readout of the launch before this one, .json: launches are added up");
  add_field(verb, "--holdout-share", request->holdout_share,
            "the designed share of the hold-out\nDefault: what the plan says.");
  add_field(verb, "--control", request->control,
            "the arm of the hold-out\nDefault: what the plan says, else the arm 0.");
  add_field(verb, "--launch", request->launch,
            "when the plan started; outcomes whose time is earlier are refused\nDefault: what the plan says.");
  add_field(verb, "--budget", request->budget, "the plan's budget\nDefault: what the plan says.");
  add_field(verb, "--multiplier", request->multiplier, "the plan's multiplier\nDefault: what the plan says.");
  add_field(verb, "--weight", request->weight, "column of OUTCOMES with sample weights: gains count units by them");
  verb.add_option("--guardrail", request->guardrails,
                  "column of OUTCOMES, a further outcome of which more is worse (may be repeated): was it harmed?")
      ->allow_extra_args(false);
  add_field(verb, "--margin", request->margin, "share of revenue that is profit before the incentive: shows profit");
  add_field(verb, "--per-revenue", request->per_revenue, "what one unit of revenue is worth; instead of --margin");
}

}  // namespace dfcl::cli

// SPDX-License-Identifier: Apache-2.0
//
// dfcl readout: what came of a plan.
#include "dfcl/verbs/readout.h"

#include <fmt/format.h>

#include <memory>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/report/launch/readout_report.h"

namespace dfcl::cli {
namespace {

struct ReadoutFlags : verbs::ReadoutRequest {
  std::string output;
};

int run_readout(const ReadoutFlags& flags, bool as_json, core::RunContext& context) {
  if (!flags.output.empty()) require_output(flags.output, {flags.plan, flags.outcomes});
  const verbs::ReadoutResult result = verbs::read_out(flags, context);
  const std::string json = report::readout_json(result.readout, result.provenance);
  if (!flags.output.empty()) io::write_text_file(flags.output, json);
  fmt::print("{}", as_json ? json : report::readout_text(result.readout));
  return 0;
}

}  // namespace

void add_readout(Session& session) {
  const auto flags = std::make_shared<ReadoutFlags>();
  CLI::App& verb = session.add_verb(
      "readout",
      "what came of a plan: planned against realised, and over the hold-out\n"
      "OUTCOMES has one row a unit with columns id, role (plan, holdout, explore), arm (received), revenue and cost; "
      "time may be\nthere. Exit code 7: the hold-out is broken.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --truth predictions.parquet\n"
      "dfcl allocate predictions.parquet --share-of-max 0.2 --holdout 0.1 -o plan.parquet\n"
      "dfcl simulate --preset marketing --rows 20000 --seed 1 --outcomes-of plan.parquet -o outcomes.parquet\n"
      "dfcl readout plan.parquet outcomes.parquet --holdout-share 0.1 -o results.json",
      [flags, &session](core::RunContext& context) { return run_readout(*flags, session.json(), context); });
  verb.add_option("PLAN", flags->plan, "the plan that was launched, as dfcl allocate --holdout writes it")->required();
  verb.add_option("OUTCOMES", flags->outcomes, "what happened: csv, csv.gz, parquet or arrow; a glob or a folder")
      ->required();
  verb.add_option("-o,--output", flags->output, "the results to write, .json, for dfcl report");
  verb.add_option("--holdout-share", flags->holdout_share,
                  "the designed share of the hold-out\nDefault: what the plan says, if it is a Parquet file of ours.");
  verb.add_option("--control", flags->control, "the arm of the hold-out\nDefault: what the plan says, else the arm 0.");
  verb.add_option("--launch", flags->launch,
                  "when the plan started; outcomes whose time is earlier are refused\nDefault: what the plan says.");
  verb.add_option("--budget", flags->budget, "the plan's budget\nDefault: what the plan says.");
  verb.add_option("--multiplier", flags->multiplier, "the plan's multiplier\nDefault: what the plan says.");
}

}  // namespace dfcl::cli

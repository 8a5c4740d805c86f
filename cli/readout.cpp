// SPDX-License-Identifier: Apache-2.0
//
// dfcl readout: what came of a plan.
#include "dfcl/experiment/readout.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/core/version.h"
#include "dfcl/experiment/join_launch.h"
#include "dfcl/io/atomic_file.h"
#include "dfcl/io/plan_file.h"
#include "dfcl/report/readout_report.h"

namespace dfcl::cli {
namespace {

struct ReadoutFlags {
  std::string plan;
  std::string outcomes;
  std::string output;
  std::optional<double> holdout_share;
  std::string control;
  std::string launch;
  std::optional<double> budget;
  std::optional<double> multiplier;
};

// What the plan's own file says under this name.
std::optional<double> figure_of(const io::PlanFile& plan, const std::string& name) {
  const std::string text = plan.option(name);
  double number = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

int run_readout(const ReadoutFlags& flags, bool as_json, core::RunContext& context) {
  if (!flags.output.empty()) require_output(flags.output, {flags.plan, flags.outcomes});
  const io::PlanFile plan = io::read_plan(flags.plan, context);
  const io::OutcomeTable outcomes = io::read_outcomes(flags.outcomes, context);
  experiment::ReadoutOptions options;
  const std::optional<double> share = flags.holdout_share ? flags.holdout_share : figure_of(plan, "holdout");
  if (!share) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "how large was the hold-out to be?",
                       .where = flags.plan,
                       .hint = "--holdout-share 0.05; a Parquet plan made with `dfcl allocate --holdout` says it"});
  }
  options.holdout_share = *share;
  options.budget = flags.budget ? flags.budget : figure_of(plan, "budget");
  options.multiplier = flags.multiplier ? flags.multiplier : figure_of(plan, "multiplier");
  options.spend_elasticity = figure_of(plan, "spend_elasticity");
  if (!outcomes.time.empty() && flags.launch.empty() && plan.option("launch").empty() && plan.time.empty())
    context.warn("the outcomes have times, but when the plan started is not known: give --launch");
  const experiment::Launch launch =
      experiment::join_launch(plan, outcomes, {flags.control, flags.launch, flags.plan, flags.outcomes});
  const experiment::Readout readout = experiment::read_out(launch, options);
  for (const std::string& warning : readout.warnings) context.warn(warning);

  const data::Provenance provenance{"readout",
                                    core::version(),
                                    "readout",
                                    {{"holdout_share", fmt::format("{}", options.holdout_share)},
                                     {"control", launch.arms[launch.control]},
                                     {"level", fmt::format("{}", options.level)}}};
  const std::string json = report::readout_json(readout, provenance);
  if (!flags.output.empty()) io::write_text_file(flags.output, json);
  fmt::print("{}", as_json ? json : report::readout_text(readout));
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

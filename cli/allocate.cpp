// SPDX-License-Identifier: Apache-2.0
//
// dfcl allocate: from predictions and a budget to a plan.
#include "dfcl/verbs/allocate.h"

#include <fmt/format.h>

#include <memory>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/report/plan/plan_report.h"

namespace dfcl::cli {
namespace {

int run_allocate(const verbs::AllocateRequest& request, const Session& session, core::RunContext& context) {
  const verbs::AllocateResult result = verbs::allocate(request, context);
  if (result.curve) {
    if (session.json()) {
      fmt::print("{}", report::curve_json(*result.curve, result.arms));
    } else {
      session.show(report::curve_text(*result.curve, result.arms, result.words, session.length()));
    }
    return 0;
  }
  if (session.json()) {
    fmt::print("{}", report::plans_json(result.plans));
  } else {
    session.show(report::plans_text(result.plans, session.length()));
  }
  return result.all_met() ? 0 : static_cast<int>(core::ErrorKind::infeasible);
}

void add_launch(CLI::App& verb, const std::shared_ptr<verbs::AllocateRequest>& request) {
  verb.add_option("--holdout", request->holdout,
                  "share of the units that get control, chosen by a hash of the id\n"
                  "The same units every day. The plan gains role and propensity, and dfcl readout can measure it.");
  add_field(verb, "--holdout-salt", request->holdout_salt, "any text; a different one draws a different hold-out");
  verb.add_option("--explore", request->explore,
                  "share of the units that get an arm at random\nAnother --seed chooses other units and arms.");
  add_field(verb, "--launch", request->launch, "when the plan starts: kept in the plan, for dfcl readout");
  add_field(verb, "--previous", request->previous, "the previous plan; reports who changes");
}

void add_constraints(CLI::App& verb, const std::shared_ptr<verbs::AllocateRequest>& request) {
  add_field(
      verb, "--min-roi", request->min_roi,
      "no increment that earns less revenue per cost than this\n"
      "Without a budget: spend until the marginal return falls to it. It is a return per cost: with a margin m, a\n"
      "return of X is an ROI of m X - 1, and 1 / m breaks even.");
  add_field(verb, "--eligible", request->eligible,
            "eligibility: a file of the arms that each unit may get\n"
            "Columns id and eligible_<arm> (0/1, yes/no). The prediction file may have such columns itself.");
  add_field(verb, "--segment", request->segment,
            "column of the predictions, or of a model's units, that names each unit's segment");
  add_field(verb, "--segment-budgets", request->segment_budgets, "file with columns segment and budget");
  add_field(verb, "--second-cost", request->second_cost,
            "file with columns id and cost_<arm>: a second constrained resource");
  add_field(verb, "--second-budget", request->second_budget, "the budget of the second resource");
  verb.add_option("--min-units", request->min_units, "at least N units in an arm: ARM=N; may be repeated");
  verb.add_option("--max-units", request->max_units, "at most N units in an arm: ARM=N; may be repeated");
}

void add_options(CLI::App& verb, const std::shared_ptr<verbs::AllocateRequest>& request) {
  verb.add_option("PREDICTIONS", request->predictions,
                  "predictions, or a model\nPredictions: csv, csv.gz, parquet or arrow; a glob or a folder.")
      ->required();
  add_field(verb, "UNITS", request->units, "for a model: the units to predict and plan for");
  add_field(verb, "-o,--output", request->output,
            "the plan to write: id, arm, revenue, cost\n"
            "With several budgets: plan-1.parquet, plan-2.parquet, ... With --curve: the curve, .csv or .json.");
  verb.add_option("--budget", request->totals, "total spend allowed above everyone in control; several as 100,200")
      ->delimiter(',');
  verb.add_option("--per-unit", request->per_unit, "the budget as spend per unit; several as 0.1,0.2")->delimiter(',');
  verb.add_option("--share-of-max", request->share_of_max,
                  "the budget as a share of the extra cost of giving everyone the costliest arm\nSeveral as 0.1,0.2.")
      ->delimiter(',');
  verb.add_flag("--include-control", request->include_control, "budgets are totals, control's cost included");
  add_field(verb, "--multiplier", request->multiplier,
            "instead of a budget: a known multiplier (shadow price), such as yesterday's");
  add_field(verb, "--curve", request->curve, "instead of a plan: N points of the curve of spend and value");
  add_field(verb, "--control", request->control,
            "the arm that gains are counted against, for predictions that do not say\n"
            "Default: the arm called 0, control or none, else the first.");
  verb.add_flag("--index", request->index,
                "revenue is an index that ranks units, not money, where the file does not say");
  add_word<allocate::Objective>(verb, "--objective", request->objective,
                                "what to maximise: revenue, or profit = worth of revenue - cost");
  add_field(verb, "--margin", request->margin,
            "share of revenue that is profit before the incentive: shows incremental profit and ROI");
  add_field(verb, "--per-revenue", request->per_revenue, "what one unit of revenue is worth; instead of --margin");
  add_word<verbs::PlanRule>(
      verb, "--rule", request->rule,
      "the form of the plan\nDefault: none, unit by unit. tree: for a model and units, as a rule of at most 8 "
      "leaves over their features, which keeps the budget by predicted costs.");
  add_constraints(verb, request);
  add_launch(verb, request);
  verb.add_flag("--explain", request->explain,
                "add the reasons for each unit's arm; for a model and units\n"
                "The plan gains uplift, extra_cost, second_arm, over_second (net score over it), cut_distance (budget "
                "that can go\nbefore the unit loses its arm; below 0: budget that it lacks) and the three features "
                "that speak most for the arm.");
  verb.add_flag("--stream", request->stream,
                "read the predictions in batches, a few times: for files larger than memory");
  add_memory(verb, request->memory, "streams, uses fewer threads");
}

}  // namespace

void add_allocate(Session& session) {
  const auto request = std::make_shared<verbs::AllocateRequest>();
  CLI::App& verb = session.add_verb(
      "allocate",
      "who gets what: the best plan for a budget, with proof of how good it is\n"
      "Any file with columns id, revenue_<arm> and cost_<arm> will do as predictions; or give a model and units. Exit "
      "code 6: the budget cannot be met.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --truth predictions.parquet\n"
      "dfcl allocate predictions.parquet --share-of-max 0.2 -o plan.parquet\n"
      "dfcl allocate predictions.parquet --curve 10 -o curve.csv",
      [request, &session](core::RunContext& context) { return run_allocate(*request, session, context); });
  add_options(verb, request);
}

}  // namespace dfcl::cli

// SPDX-License-Identifier: Apache-2.0
//
// dfcl simulate: a trial with known truth, streamed to disk.
#include "dfcl/verbs/simulate.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/count_text.h"

namespace dfcl::cli {
namespace {

int run_simulate(const verbs::SimulateRequest& request, const Session& session, core::RunContext& context) {
  const verbs::SimulateResult result = verbs::simulate(request, context);
  if (!request.outcomes_of) {
    if (session.json()) {
      fmt::print("{}", report::simulation_json(result.figures));
    } else {
      session.show(report::simulation_text(result.figures, session.length()));
    }
  } else if (session.json()) {
    fmt::print("{}\n", nlohmann::ordered_json{{"units", result.num_outcomes}}.dump(2));
  } else {
    session.show(fmt::format("{}: outcomes of {} units under their planned arms\n", *request.output,
                             core::count_text(result.num_outcomes)));
  }
  return 0;
}

void add_world(CLI::App& verb, verbs::SimulateRequest& request) {
  add_word<simulate::Response>(
      verb, "--response", request.response,
      "family of functions behind the effects\n"
      "So that no kind of learner is favoured. Default: smooth. marketing and criteo: smooth, tree, sparse;\n"
      "varied: rules (four arms), few (three), smooth (six).");
  verb.add_option("--noise", request.noise,
                  "variance of the outcomes, relative to the natural one (marketing)\n"
                  "Default: 1. 0 gives the expected outcomes themselves; below 1 they are no whole numbers.");
  add_field(verb, "--days", request.days,
            "one row a day for every shop (marketing)\n"
            "The rows are shops x days, day after day; every day draws its own discounts.");
  add_field(verb, "--shares", request.shares,
            "probability of each arm, for example .3,.2,.2,.2,.1\n"
            "Default: equal for marketing, .15,.85 for criteo, unequal for varied.")
      ->delimiter(',');
  verb.add_option("--cost-scale", request.cost_scale,
                  "multiply every cost by this, as if incentives got dearer (marketing)");
  verb.add_option("--population-shift", request.population_shift,
                  "shops this many standard deviations younger and keener on promotions (marketing)");
}

}  // namespace

void add_simulate(Session& session) {
  const auto request = std::make_shared<verbs::SimulateRequest>();
  CLI::App& verb = session.add_verb(
      "simulate",
      "a trial with known truth, and the study file to use it with\n"
      "marketing: shops, 107 features, discounts of 0 to 20 %, orders and subsidy.\n"
      "criteo: users, 12 features, advertising or none, conversions and visits.\n"
      "varied: customers, 37 features with holes and many levels, two to five offers, spending and their cost.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --truth truth.parquet "
      "--study study.toml",
      [request, &session](core::RunContext& context) { return run_simulate(*request, session, context); });
  add_word<simulate::Preset>(verb, "--preset", request->preset, "marketing, criteo or varied")->required();
  verb.add_option("--rows", request->rows, "number of rows")->required();
  add_field(verb, "-o,--output", request->output, "the trial: .parquet, .csv, .csv.gz or .arrow")->required();
  add_field(verb, "--truth", request->truth, "also write the true expected outcomes of every row and arm");
  add_field(verb, "--study", request->study, "also write a commented study file for the trial");
  add_world(verb, *request);
  add_field(verb, "--outcomes-of", request->outcomes_of,
            "no trial: what the units of a plan earn and cost, for dfcl readout\n"
            "The plan's ids are rows of the trial of the same preset, rows and seed. Their outcomes are drawn again.");
  verb.add_flag("--imbalance", request->imbalance,
                "break the randomisation, to try `dfcl check`\n"
                "Arms lean on a feature, and the shares are a point off the designed ones.");
}

}  // namespace dfcl::cli

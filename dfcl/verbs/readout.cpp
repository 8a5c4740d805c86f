// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/readout.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/version.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/launch/join_launch.h"
#include "dfcl/launch/launch_sums.h"
#include "dfcl/report/launch/launch_history_file.h"
#include "dfcl/report/launch/readout_report.h"
#include "dfcl/verbs/outputs.h"
#include "dfcl/verbs/revenue_value.h"

namespace dfcl::verbs {
namespace {

// What the plan's own file says under this name.
std::optional<double> read_figure(const io::PlanFile& plan, const std::string& name) {
  const std::string text = plan.option(name);
  double number = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// What the plan may spend in all, control's cost included: outcomes know no other spend. given: the caller's budget, in
// the basis in which the plan was made.
std::optional<double> total_budget(const io::PlanFile& plan, std::optional<double> given) {
  std::optional<double> budget = given ? given : read_figure(plan, "budget");
  if (budget && plan.option("budget_basis") == "incremental")
    *budget += read_figure(plan, "control_cost").value_or(0.0);
  return budget;
}

// What units that the model had not seen promised, per unit; of a plan whose figures make no sense nothing.
std::optional<core::Interval> evaluated_per_unit(const io::PlanFile& plan) {
  const auto value = read_figure(plan, "evaluated_revenue_per_unit");
  const auto low = read_figure(plan, "evaluated_revenue_low"), high = read_figure(plan, "evaluated_revenue_high");
  if (!value || !low || !high || !std::isfinite(*value) || !(*low <= *value && *value <= *high)) return std::nullopt;
  return core::Interval{*value, *low, *high};
}

// What one unit of revenue is worth, where the plan was made with it.
std::optional<double> value_of(const io::PlanFile& plan) {
  const std::optional<double> margin = read_figure(plan, "margin");
  const std::optional<double> value = margin ? margin : read_figure(plan, "per_revenue");
  return value && std::isfinite(*value) && *value > 0.0 ? value : std::nullopt;
}

void require_number(const char* field, const std::optional<double>& number) {
  if (number && !(*number >= 0.0 && std::isfinite(*number)))
    throw core::field_error(field, "out of range", fmt::format("{}", *number), "a number of 0 or more");
}

void check_request(const ReadoutRequest& request, const core::RunContext& context) {
  require_text("plan", request.plan);
  require_text("outcomes", request.outcomes);
  require_text("control", request.control);
  require_kept_text("launch", request.launch);
  require_text("weight", request.weight);
  require_text("previous", request.previous);
  for (const std::string& name : request.guardrails) require_text("guardrail", name);
  require_number("budget", request.budget);
  require_number("multiplier", request.multiplier);
  require_value(request.margin, request.per_revenue);
  if (!request.output) return;
  require_ending("output", *request.output, ".json");
  require_output("output", *request.output, {request.plan, request.outcomes, request.previous.value_or("")}, context);
}

// The launches before this one, and this one.
std::vector<launch::LaunchLine> launches_of(const ReadoutRequest& request, const io::PlanFile& plan,
                                            const launch::Readout& readout) {
  std::vector<launch::LaunchLine> earlier;
  if (request.previous)
    earlier = report::read_launches(*request.previous, readout.words.currency, readout.words.revenue_is_money);
  std::string name = request.launch.value_or(plan.option("launch"));
  if (name.empty()) name = fmt::format("launch {}", earlier.size() + 1);
  return launch::with_launch(std::move(earlier), launch::line_of(readout, std::move(name)),
                             request.previous.value_or(""));
}

launch::ReadoutOptions readout_options(const ReadoutRequest& request, const io::PlanFile& plan) {
  launch::ReadoutOptions options;
  const std::optional<double> share = request.holdout_share ? request.holdout_share : read_figure(plan, "holdout");
  if (!share) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .field = "holdout_share",
                       .what = "how large was the hold-out to be?",
                       .where = request.plan,
                       .hint = fmt::format("{}; a plan made with {} says it", core::field_name("holdout_share", "0.05"),
                                           core::field_name("holdout"))});
  }
  options.holdout_share = *share;
  options.budget = total_budget(plan, request.budget);
  options.multiplier = request.multiplier ? request.multiplier : read_figure(plan, "multiplier");
  options.spend_elasticity = read_figure(plan, "spend_elasticity");
  options.evaluated_per_unit = evaluated_per_unit(plan);
  options.value_per_revenue = request.margin ? request.margin : request.per_revenue;
  if (!options.value_per_revenue) options.value_per_revenue = value_of(plan);
  return options;
}

launch::JoinOptions join_options(const ReadoutRequest& request) {
  return {request.control.value_or(""), request.launch.value_or(""), request.plan, request.outcomes,
          request.guardrails};
}

// The readout with what the plan says of its words, the launches before it, and how it was made.
ReadoutResult finish_readout(const ReadoutRequest& request, const io::PlanFile& plan, launch::Readout readout,
                             const launch::ReadoutOptions& options, const std::string& control,
                             core::RunContext& context) {
  readout.words.currency = plan.option(data::kCurrencyOption);
  if (const std::string unit = plan.option(data::kUnitOption); !unit.empty()) readout.words.unit = unit;
  readout.words.revenue_is_money = plan.option(data::kCountOption) != "true";
  readout.launches = launches_of(request, plan, readout);
  for (const std::string& warning : readout.warnings) context.warn(warning);

  data::Provenance provenance{"readout",
                              core::version(),
                              "readout",
                              {{"holdout_share", fmt::format("{}", options.holdout_share)},
                               {"control", control},
                               {"level", fmt::format("{}", options.level)}}};
  if (request.margin) provenance.options.emplace_back("margin", fmt::format("{}", *request.margin));
  if (request.per_revenue) provenance.options.emplace_back("per_revenue", fmt::format("{}", *request.per_revenue));
  if (request.weight) provenance.options.emplace_back("weight", *request.weight);
  if (!request.guardrails.empty())
    provenance.options.emplace_back("guardrails", fmt::format("{}", fmt::join(request.guardrails, ", ")));
  if (request.output) io::write_text_file(*request.output, report::readout_json(readout, provenance));
  return {std::move(readout), std::move(provenance)};
}

}  // namespace

ReadoutResult read_out(const ReadoutRequest& request, core::RunContext& context) {
  check_request(request, context);
  const io::PlanFile plan = io::read_plan(request.plan, context);
  const io::OutcomeTable outcomes =
      io::read_outcomes(request.outcomes, context, {request.weight.value_or(""), request.guardrails});
  const launch::ReadoutOptions options = readout_options(request, plan);
  if (!outcomes.time.empty() && !request.launch && plan.option("launch").empty() && plan.time.empty())
    context.warn(fmt::format("the outcomes have times, but when the plan started is not known: give {}",
                             core::field_name("launch")));
  const launch::Launch launch = launch::join_launch(plan, outcomes, join_options(request));
  return finish_readout(request, plan, launch::read_out(launch, options), options, launch.arms[launch.control],
                        context);
}

ReadoutResult read_out_elsewhere(const ReadoutRequest& request, const LaunchRunner& runner, core::RunContext& context) {
  check_request(request, context);
  const io::PlanFile plan;  // tables on many machines say nothing of how the plan was made
  const launch::ReadoutOptions options = readout_options(request, plan);
  const std::string bytes = runner("");
  const launch::LaunchTotals totals = launch::LaunchTotals::from_bytes(bytes);
  launch::require_joined(totals.joined, totals.units_in_plan, join_options(request));
  std::vector<std::size_t> held;
  for (const launch::LaunchTotals::Arm& arm : totals.per_arm) held.push_back(arm.held);
  const std::size_t control = launch::find_control(totals.arms, held, "", join_options(request));
  const launch::LaunchProducts products = launch::LaunchProducts::from_bytes(runner(bytes));
  if (products.num_groups() != totals.num_groups())
    throw core::data_error("sums of a launch", "parts that do not fit together");
  return finish_readout(request, plan, launch::read_out_sums(totals, products, control, options), options,
                        totals.arms[control], context);
}

std::string sum_launch_part(const ReadoutRequest& request, const std::string& totals, core::RunContext& context) {
  io::PlanFile plan;
  if (!request.plan.empty()) plan = io::read_plan(request.plan, context);
  io::OutcomeTable outcomes;
  if (!request.outcomes.empty())
    outcomes = io::read_outcomes(request.outcomes, context, {request.weight.value_or(""), request.guardrails});
  std::vector<std::string> arms = launch::launch_arms(plan.plan.arms, outcomes.arms);
  if (totals.empty()) {
    launch::LaunchTotals sums(arms, request.guardrails);
    sums.add(launch::join_part(plan, outcomes, join_options(request), std::move(arms)));
    return sums.to_bytes();
  }
  const launch::LaunchTotals all = launch::LaunchTotals::from_bytes(totals);
  if (launch::launch_arms(all.arms, arms) != all.arms)
    throw core::data_error("sums of a launch", "an arm that was not there before");
  launch::LaunchProducts products(all.num_groups());
  products.add(launch::join_part(plan, outcomes, join_options(request), all.arms), all);
  return products.to_bytes();
}

std::string merge_launch_parts(const std::string& totals, const std::vector<std::string>& parts) {
  if (!totals.empty()) {
    launch::LaunchProducts merged(launch::LaunchTotals::from_bytes(totals).num_groups());
    for (const std::string& part : parts) merged.merge(launch::LaunchProducts::from_bytes(part));
    return merged.to_bytes();
  }
  if (parts.empty()) throw core::data_error("sums of a launch", "there are no units");
  launch::LaunchTotals merged = launch::LaunchTotals::from_bytes(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) merged.merge(launch::LaunchTotals::from_bytes(parts[i]));
  return merged.to_bytes();
}

}  // namespace dfcl::verbs

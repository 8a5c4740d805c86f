// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/readout.h"

#include <fmt/format.h>

#include <charconv>

#include "dfcl/core/error.h"
#include "dfcl/core/version.h"
#include "dfcl/launch/join_launch.h"
#include "dfcl/io/predictions/plan_file.h"

namespace dfcl::verbs {
namespace {

// What the plan's own file says under this name.
std::optional<double> figure_of(const io::PlanFile& plan, const std::string& name) {
  const std::string text = plan.option(name);
  double number = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

ReadoutResult read_out(const ReadoutRequest& request, core::RunContext& context) {
  const io::PlanFile plan = io::read_plan(request.plan, context);
  const io::OutcomeTable outcomes = io::read_outcomes(request.outcomes, context);
  launch::ReadoutOptions options;
  const std::optional<double> share = request.holdout_share ? request.holdout_share : figure_of(plan, "holdout");
  if (!share) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "how large was the hold-out to be?",
                       .where = request.plan,
                       .hint = "--holdout-share 0.05; a Parquet plan made with `dfcl allocate --holdout` says it"});
  }
  options.holdout_share = *share;
  options.budget = request.budget ? request.budget : figure_of(plan, "budget");
  options.multiplier = request.multiplier ? request.multiplier : figure_of(plan, "multiplier");
  options.spend_elasticity = figure_of(plan, "spend_elasticity");
  if (!outcomes.time.empty() && request.launch.empty() && plan.option("launch").empty() && plan.time.empty())
    context.warn("the outcomes have times, but when the plan started is not known: give --launch");
  const launch::Launch launch =
      launch::join_launch(plan, outcomes, {request.control, request.launch, request.plan, request.outcomes});
  launch::Readout readout = launch::read_out(launch, options);
  for (const std::string& warning : readout.warnings) context.warn(warning);

  data::Provenance provenance{"readout",
                              core::version(),
                              "readout",
                              {{"holdout_share", fmt::format("{}", options.holdout_share)},
                               {"control", launch.arms[launch.control]},
                               {"level", fmt::format("{}", options.level)}}};
  return {std::move(readout), std::move(provenance)};
}

}  // namespace dfcl::verbs

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/simulated_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/suggest.h"

namespace dfcl::launch {
namespace {

std::vector<std::uint8_t> places_of_arms(const std::vector<std::string>& arms, const std::vector<std::string>& known) {
  std::vector<std::uint8_t> places;
  for (const std::string& arm : arms) {
    const auto found = std::find(known.begin(), known.end(), arm);
    if (found == known.end())
      throw core::data_error("", fmt::format("the plan's arm '{}' is not simulated", arm), "",
                             fmt::format("{}", fmt::join(known, ", ")), core::suggest(arm, known));
    places.push_back(static_cast<std::uint8_t>(found - known.begin()));
  }
  return places;
}

}  // namespace

std::vector<data::ColumnInfo> outcome_columns() {
  using data::ColumnType;
  return {{"id", ColumnType::int64},
          {"role", ColumnType::text},
          {"arm", ColumnType::text},
          {"revenue", ColumnType::float64},
          {"cost", ColumnType::float64}};
}

data::Batch simulate_outcomes(const simulate::Simulator& simulator, const data::Plan& plan, core::RunContext& context) {
  const std::vector<std::uint8_t> places = places_of_arms(plan.arms, simulator.arms());
  std::vector<std::int64_t> ids(plan.num_units());
  std::vector<double> revenue(plan.num_units()), cost(plan.num_units());
  for (std::size_t unit = 0; unit < plan.num_units(); ++unit) {
    ids[unit] = plan.ids.type() == data::ColumnType::int64 ? plan.ids.number(unit) : 0;
    if (ids[unit] < 1 || static_cast<std::uint64_t>(ids[unit]) > simulator.num_units()) {
      throw core::data_error(fmt::format("unit '{}'", plan.ids.text(unit)), "not a simulated unit", "",
                             fmt::format("ids 1 to {}", simulator.num_units()),
                             fmt::format("give the {} of the trial", core::field_name("rows")));
    }
  }
  core::for_each_chunk(context, plan.num_units(), 4096, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      const std::uint8_t arm[1] = {places[plan.arm[unit]]};
      const simulate::DrawnOutcomes drawn = simulator.draw_outcomes(static_cast<std::uint64_t>(ids[unit] - 1), arm);
      revenue[unit] = drawn.revenue[0];
      cost[unit] = drawn.cost[0];
    }
  });
  data::TextColumn roles, arms;
  for (std::size_t unit = 0; unit < plan.num_units(); ++unit) {
    const data::Role role = plan.has_roles() ? plan.role[unit] : data::Role::plan;
    roles.push_back(data::kRoleNames[static_cast<std::size_t>(role)]);
    arms.push_back(plan.arms[plan.arm[unit]]);
  }
  return {plan.num_units(), {std::move(ids), std::move(roles), std::move(arms), std::move(revenue), std::move(cost)}};
}

}  // namespace dfcl::launch

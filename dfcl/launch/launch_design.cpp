// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/launch_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"

namespace dfcl::launch {
namespace {

bool is_open(std::span<const std::uint8_t> open, std::size_t arm) { return open.empty() || open[arm] != 0; }

std::size_t num_open(std::span<const std::uint8_t> open, std::size_t num_arms) {
  if (open.empty()) return num_arms;
  return static_cast<std::size_t>(std::count_if(open.begin(), open.end(), [](std::uint8_t byte) { return byte != 0; }));
}

std::uint8_t open_arm(std::span<const std::uint8_t> open, std::size_t num_arms, double fraction) {
  auto place = static_cast<std::size_t>(fraction * static_cast<double>(num_open(open, num_arms)));
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    if (is_open(open, arm) && place-- == 0) return static_cast<std::uint8_t>(arm);
  }
  return 0;
}

void require_share(const char* field, double share) {
  if (share >= 0.0 && share < 1.0) return;
  throw core::Error({.kind = core::ErrorKind::usage,
                     .field = field,
                     .what = "out of range",
                     .found = fmt::format("{}", share),
                     .expected = "a share of the units, 0 to below 1"});
}

}  // namespace

void validate(const LaunchDesign& design) {
  require_share("holdout", design.holdout);
  require_share("explore", design.explore);
  if (design.holdout + design.explore >= 1.0) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .field = "holdout",
                       .what = fmt::format("with {}, nobody is left for the plan", core::field_name("explore")),
                       .found = fmt::format("a sum of {:g}", design.holdout + design.explore),
                       .expected = "below 1"});
  }
}

DrawnRole draw_role(const LaunchDesign& design, const data::Ids& ids, std::size_t unit,
                    std::span<const std::uint8_t> open, std::size_t num_arms) {
  const std::uint64_t holdout_seed = core::hash_text(design.salt, core::hash_text("dfcl hold-out"));
  if (core::hash_fraction(ids.hash(unit, holdout_seed)) < design.holdout) {
    if (!is_open(open, design.control)) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = "a unit that is held out may not get control",
                         .where = fmt::format("unit '{}'", ids.text(unit)),
                         .expected = "control open to every unit",
                         .hint = fmt::format("plan without {}, or open control to all", core::field_name("holdout"))});
    }
    return {data::Role::holdout, static_cast<std::uint8_t>(design.control)};
  }
  // Of the units that are left, so that the share of all is design.explore.
  const std::uint64_t explore_hash = ids.hash(unit, core::combine_hashes(core::hash_text("dfcl explore"), design.seed));
  if (core::hash_fraction(explore_hash) >= design.explore / (1.0 - design.holdout)) return {};
  return {data::Role::explore, open_arm(open, num_arms, core::hash_fraction(core::mix_bits(explore_hash)))};
}

void mask_launch(const LaunchDesign& design, const data::Ids& ids, core::MatrixView<std::uint8_t> eligible,
                 core::RunContext& context) {
  core::for_each_chunk(context, eligible.rows, 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      const std::span<std::uint8_t> row = eligible.row(unit);
      const DrawnRole drawn = draw_role(design, ids, unit, row, eligible.cols);
      if (drawn.role == data::Role::plan) continue;
      std::fill(row.begin(), row.end(), std::uint8_t{0});
      row[drawn.arm] = 1;
    }
  });
}

std::uint8_t arm_at_prices(const UnitRow& row, const allocate::Rules& rules, const UnitPrices& prices) {
  const bool profit = rules.objective == allocate::Objective::profit;
  // A least return is a price below which no increment is taken, in revenue a unit of cost.
  const double floor = profit ? rules.margin * rules.min_roi - 1.0 : rules.min_roi;
  const double price = std::max({prices.multiplier, floor, 0.0});
  std::size_t best = row.cost.size();
  double best_score = 0.0;
  for (std::size_t arm = 0; arm < row.cost.size(); ++arm) {
    if (!is_open(row.open, arm)) continue;
    const double revenue = static_cast<double>(row.revenue[arm]);
    const double cost = static_cast<double>(row.cost[arm]);
    double score = (profit ? rules.margin * revenue - cost : revenue) - price * cost;
    if (!prices.arm.empty()) score -= prices.arm[arm];
    if (!prices.second_cost.empty()) score -= prices.second * static_cast<double>(prices.second_cost[arm]);
    const bool better = best == row.cost.size() || score > best_score;
    if (!better && !(score == best_score && row.cost[arm] < row.cost[best])) continue;
    best = arm;
    best_score = score;
  }
  return static_cast<std::uint8_t>(best);
}

double arm_propensity(const LaunchDesign& design, std::uint8_t arm, std::uint8_t best,
                      std::span<const std::uint8_t> open, std::size_t num_arms) {
  double probability = arm == best ? 1.0 - design.holdout - design.explore : 0.0;
  if (arm == design.control) probability += design.holdout;
  if (is_open(open, arm)) probability += design.explore / static_cast<double>(num_open(open, num_arms));
  return probability;
}

void append_role(const LaunchDesign& design, std::size_t unit, const UnitRow& row, const allocate::Rules& rules,
                 const UnitPrices& prices, data::Plan& plan) {
  const DrawnRole drawn = draw_role(design, plan.ids, unit, row.open, row.cost.size());
  const std::uint8_t best = drawn.role == data::Role::plan ? plan.arm[unit] : arm_at_prices(row, rules, prices);
  plan.role.push_back(drawn.role);
  plan.propensity.push_back(
      static_cast<float>(arm_propensity(design, plan.arm[unit], best, row.open, row.cost.size())));
  plan.control_revenue.push_back(row.revenue[design.control]);
  plan.control_cost.push_back(row.cost[design.control]);
}

double spend_elasticity(double spend_at_low, double spend_at_high, double price_ratio) {
  if (!(spend_at_high > 0.0) || !(spend_at_low > spend_at_high)) return std::nan("");
  return std::log(spend_at_low / spend_at_high) / std::log(price_ratio);
}

}  // namespace dfcl::launch

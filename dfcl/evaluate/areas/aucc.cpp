// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/areas/aucc.h"

#include <algorithm>
#include <limits>

#include "dfcl/core/error.h"
#include "dfcl/core/for_each_processor.h"
#include "dfcl/core/parallel.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kChunkRows = 65'536;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kTile = ResampleBlock::kTile;
using Tile = ResampleBlock::Tile;

// Of one arm: sums that the curve divides by and ends with.
struct ArmTotals {
  double weight = 0.0;
  double revenue = 0.0;
  double cost = 0.0;
};

struct Chosen {
  ArmTotals arms[2];                // control, treated
  std::vector<std::uint32_t> rows;  // of the curve
};

bool matters(const CurveRows& rows, std::size_t row) { return rows.revenue[row] != 0.0f || rows.cost[row] != 0.0f; }

Chosen choose_rows(const CurveRows& rows, bool all, core::RunContext& context) {
  return core::sum_chunks(
      context, rows.treated.size(), kChunkRows, Chosen{},
      [&](std::size_t begin, std::size_t end) {
        Chosen part;
        for (std::size_t row = begin; row < end; ++row) {
          if (rows.treated[row] > 1) continue;
          ArmTotals& arm = part.arms[rows.treated[row]];
          const double weight = rows.weight.empty() ? 1.0 : rows.weight[row];
          arm.weight += weight;
          if (!all && !matters(rows, row)) continue;
          arm.revenue += weight * static_cast<double>(rows.revenue[row]);
          arm.cost += weight * static_cast<double>(rows.cost[row]);
          part.rows.push_back(static_cast<std::uint32_t>(row));
        }
        return part;
      },
      [](Chosen& total, const Chosen& part) {
        for (std::size_t arm = 0; arm < 2; ++arm) {
          total.arms[arm].weight += part.arms[arm].weight;
          total.arms[arm].revenue += part.arms[arm].revenue;
          total.arms[arm].cost += part.arms[arm].cost;
        }
        total.rows.insert(total.rows.end(), part.rows.begin(), part.rows.end());
      });
}

// The chosen rows in the order of the curve, side by side in memory.
std::vector<CurveStep> steps_in_order(const CurveRows& rows, const Chosen& chosen, core::RunContext& context) {
  const std::vector<std::uint32_t> order = order_falling(rows.score, chosen.rows, context);
  std::vector<CurveStep> steps(order.size());
  core::for_each_chunk(context, order.size(), kChunkRows, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t row = order[i];
      const double weight = rows.weight.empty() ? 1.0 : rows.weight[row];
      steps[i] = {weight * static_cast<double>(rows.revenue[row]),
                  weight * static_cast<double>(rows.cost[row]),
                  0,
                  row,
                  rows.treated[row],
                  0};
    }
  });
  return steps;
}

// Walks the curve. jumped: whether some row went over more than one level at once.
Aucc walk_curve(const std::vector<CurveStep>& steps, const Chosen& chosen, std::size_t num_levels, bool& jumped) {
  const ArmTotals& control = chosen.arms[0];
  const ArmTotals& treated = chosen.arms[1];
  Aucc result;
  result.revenue_total = treated.revenue / treated.weight - control.revenue / control.weight;
  result.cost_total = treated.cost / treated.weight - control.cost / control.weight;
  const auto level_of = [&](std::size_t k) {
    return k < num_levels ? static_cast<double>(k) * result.cost_total / static_cast<double>(num_levels) : kInfinity;
  };
  ArmTotals sums[2];
  ArmTotals means[2];  // the sums over the size of the arm
  double last_revenue = 0.0;
  double last_cost = 0.0;
  double level_sum = 0.0;
  std::size_t next_level = 1;
  double level = level_of(next_level);
  bool waiting = false;  // the next level was reached before this row
  jumped = false;
  for (const CurveStep& step : steps) {
    ArmTotals& arm = sums[step.arm];
    arm.revenue += step.revenue;
    arm.cost += step.cost;
    means[step.arm].revenue = arm.revenue / chosen.arms[step.arm].weight;
    means[step.arm].cost = arm.cost / chosen.arms[step.arm].weight;
    const double revenue = means[1].revenue - means[0].revenue;
    const double cost = means[1].cost - means[0].cost;
    result.unnormalised_area += 0.5 * (last_revenue + revenue) * (cost - last_cost);
    last_revenue = revenue;
    last_cost = cost;
    if (!(cost >= level)) {
      waiting = false;
      continue;
    }
    if (waiting) ++result.levels_caught_up;
    level_sum += revenue;
    level = level_of(++next_level);
    waiting = cost >= level;
    jumped = jumped || waiting;
  }
  result.levels_missed = num_levels - next_level;
  level_sum += result.revenue_total;  // the end point; the point (0, 0) adds nothing
  const bool defined = result.revenue_total != 0.0 && result.cost_total != 0.0;
  result.published = defined ? level_sum / (result.revenue_total * static_cast<double>(num_levels + 1)) : kNan;
  result.area = defined ? result.unnormalised_area / (result.revenue_total * result.cost_total) : kNan;
  return result;
}

struct CurveSums {
  Lanes revenue{};
  Lanes cost{};
  Lanes area{};
  Lanes level_sum{};
  Lanes next_level{};  // cost of the next level
};

struct LaneLevels {
  Lanes step;   // cost between levels
  Lanes taken;  // levels
  double last;  // levels are 1 to last
};

DFCL_FOR_EACH_PROCESSOR
void take_curve_steps(const CurveStep* steps, std::size_t count, const Tile& weights, const Lanes* share,
                      CurveSums& sums, LaneLevels& levels) {
  for (std::size_t i = 0; i < count; ++i) {
    const CurveStep step = steps[i];
    const Lanes& of_arm = share[step.arm];
    int reached = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double times = static_cast<double>(static_cast<int>(weights[i][lane])) * of_arm[lane];
      const double revenue = sums.revenue[lane] + times * step.revenue;
      const double extra_cost = times * step.cost;
      sums.area[lane] += 0.5 * (sums.revenue[lane] + revenue) * extra_cost;
      sums.revenue[lane] = revenue;
      sums.cost[lane] += extra_cost;
      reached |= sums.cost[lane] >= sums.next_level[lane] ? 1 : 0;
    }
    if (reached == 0) continue;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      // A row takes one level each time it is drawn; the rows behind it take what it jumped over.
      unsigned most = std::max(1u, static_cast<unsigned>(weights[i][lane])) + step.rows_behind;
      for (; most > 0 && sums.cost[lane] >= sums.next_level[lane]; --most) {
        sums.level_sum[lane] += sums.revenue[lane];
        levels.taken[lane] += 1.0;
        sums.next_level[lane] =
            levels.taken[lane] < levels.last ? (levels.taken[lane] + 1.0) * levels.step[lane] : kInfinity;
      }
    }
  }
}

}  // namespace

Aucc aucc(const CurveRows& rows, std::size_t num_levels, core::RunContext& context) {
  Chosen chosen = choose_rows(rows, false, context);
  for (std::size_t arm = 0; arm < 2; ++arm) {
    if (chosen.arms[arm].weight > 0.0) continue;
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = arm == 0 ? "no unit of control" : "no unit of the treated arm",
                       .expected = "units of both arms"});
  }
  bool jumped = false;
  const Aucc result = walk_curve(steps_in_order(rows, chosen, context), chosen, num_levels, jumped);
  if (!jumped) return result;
  chosen = choose_rows(rows, true, context);  // rows that change nothing take part in catching up
  Aucc caught_up = walk_curve(steps_in_order(rows, chosen, context), chosen, num_levels, jumped);
  caught_up.jumped = true;
  return caught_up;
}

std::vector<CurveStep> curve_steps(const CurveRows& rows, const TrialRows& trial_rows, bool exact_gaps,
                                   core::RunContext& context) {
  constexpr std::size_t kMostBehind = 0xffff;
  const Chosen chosen = choose_rows(rows, exact_gaps, context);
  std::vector<CurveStep> steps;
  for (const CurveStep& step : steps_in_order(rows, chosen, context)) {
    if (matters(rows, step.row)) {
      steps.push_back(step);
    } else if (!steps.empty() && steps.back().rows_behind < kMostBehind) {
      ++steps.back().rows_behind;
    }
  }
  std::size_t num_rows = 0;
  for (const std::uint8_t treated : rows.treated) num_rows += treated <= 1 ? 1 : 0;
  const std::size_t share = steps.empty() ? 0 : std::min(kMostBehind, (num_rows - steps.size()) / steps.size());
  for (CurveStep& step : steps) {
    step.arm = trial_rows.arm[step.row];
    step.key = trial_rows.group_key(step.row);
    if (!exact_gaps) step.rows_behind = static_cast<std::uint16_t>(share);
  }
  return steps;
}

AuccLanes aucc_lanes(const ResampleBlock& block, const BlockTotals& totals, std::span<const CurveStep> steps,
                     std::size_t arm, std::size_t control, std::size_t num_levels) {
  AuccLanes result;
  std::vector<Lanes> share(totals.arms.size());  // signed, per arm received
  CurveSums sums;
  LaneLevels levels{{}, {}, static_cast<double>(num_levels) - 1.0};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const BlockTotals::ArmSums& of_treated = totals.arms[arm];
    const BlockTotals::ArmSums& of_control = totals.arms[control];
    share[arm][lane] = 1.0 / of_treated.weight[lane];
    share[control][lane] = -1.0 / of_control.weight[lane];
    result.revenue_total[lane] =
        of_treated.revenue[lane] / of_treated.weight[lane] - of_control.revenue[lane] / of_control.weight[lane];
    result.cost_total[lane] =
        of_treated.cost[lane] / of_treated.weight[lane] - of_control.cost[lane] / of_control.weight[lane];
    levels.step[lane] = result.cost_total[lane] / static_cast<double>(num_levels);
    sums.next_level[lane] = num_levels > 1 ? levels.step[lane] : kInfinity;
  }
  Tile weights;
  for (std::size_t begin = 0; begin < steps.size(); begin += kTile) {
    const std::size_t count = std::min(kTile, steps.size() - begin);
    block.fill_keyed(steps.subspan(begin, count), weights);
    take_curve_steps(steps.data() + begin, count, weights, share.data(), sums, levels);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const double revenue_total = result.revenue_total[lane];
    result.unnormalised_area[lane] = sums.area[lane];
    result.area[lane] = sums.area[lane] / (revenue_total * result.cost_total[lane]);
    result.published[lane] =
        (sums.level_sum[lane] + revenue_total) / (revenue_total * static_cast<double>(num_levels + 1));
  }
  return result;
}

}  // namespace dfcl::evaluate

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/curves/path_values.h"

#include <algorithm>
#include <limits>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kTile = ResampleBlock::kTile;
using Tile = ResampleBlock::Tile;
using ArmSums = BlockTotals::ArmSums;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One row of a tile, ready to be added.
struct TotalsRow {
  double units, weight, revenue, cost;
  double control_revenue, control_cost;
  std::uint32_t arm;
};

DFCL_FOR_EACH_PROCESSOR
void add_totals(const TotalsRow* rows, std::size_t count, const Tile& weights, ArmSums* arms) {
  for (std::size_t i = 0; i < count; ++i) {
    const TotalsRow row = rows[i];
    ArmSums& sums = arms[row.arm];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double times = static_cast<double>(static_cast<int>(weights[i][lane]));
      sums.units[lane] += times * row.units;
      sums.weight[lane] += times * row.weight;
      sums.revenue[lane] += times * row.revenue;
      sums.cost[lane] += times * row.cost;
      sums.control_revenue[lane] += times * row.control_revenue;
      sums.control_cost[lane] += times * row.control_cost;
    }
  }
}

// Value = sum / weight. For means the weight is the number of units and never changes.
struct RatioSums {
  Lanes revenue{};
  Lanes cost{};
  Lanes weight{};
};

// Takes steps until all are taken or the next would carry a lane's cost over its bound; returns how many were taken.
DFCL_FOR_EACH_PROCESSOR
std::size_t take_ratio_steps(const PathStep* steps, std::size_t count, const std::uint8_t* weights, const Lanes* scale,
                             const Lanes* bound, RatioSums& sums) {
  for (std::size_t i = 0; i < count; ++i) {
    const PathStep step = steps[i];
    const Lanes& of_arm = scale[step.received];
    RatioSums next;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double times = static_cast<double>(static_cast<int>(weights[i * kLanes + lane])) * of_arm[lane];
      next.revenue[lane] = sums.revenue[lane] + times * step.change.revenue;
      next.cost[lane] = sums.cost[lane] + times * step.change.cost;
      next.weight[lane] = sums.weight[lane] + times * step.change.weight;
    }
    if (bound != nullptr) {
      int crossed = 0;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        crossed |= next.cost[lane] > (*bound)[lane] * next.weight[lane] ? 1 : 0;
      }
      if (crossed != 0) return i;
    }
    sums = next;
  }
  return count;
}

// The same where no step changes the weight. limit: the sum of cost that is the bound.
DFCL_FOR_EACH_PROCESSOR
std::size_t take_mean_steps(const PathStep* steps, std::size_t count, const std::uint8_t* weights, const Lanes* scale,
                            const Lanes* limit, Lanes& revenue_sums, Lanes& cost_sums) {
  Lanes revenue = revenue_sums;
  Lanes cost = cost_sums;
  std::size_t i = 0;
  for (; i < count; ++i) {
    const PathStep& step = steps[i];
    const double* of_arm = scale[step.received].data();
    const std::uint8_t* of_step = weights + i * kLanes;
    const double change_revenue = step.change.revenue;
    const double change_cost = step.change.cost;
    double times[kLanes];
    Lanes next;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      times[lane] = static_cast<double>(static_cast<int>(of_step[lane])) * of_arm[lane];
      next[lane] = cost[lane] + times[lane] * change_cost;
    }
    if (limit != nullptr) {
      int crossed = 0;
      for (std::size_t lane = 0; lane < kLanes; ++lane) crossed |= next[lane] > (*limit)[lane] ? 1 : 0;
      if (crossed != 0) break;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) revenue[lane] += times[lane] * change_revenue;
    cost = next;
  }
  revenue_sums = revenue;
  cost_sums = cost;
  return i;
}

// The walk in a block, for estimators that divide two sums.
class RatioWalk {
 public:
  RatioWalk(const BlockTotals& totals, const Rewards& rewards) : scale_(totals.scale), is_mean_(rewards.is_mean()) {
    const std::size_t control = rewards.rows().arms.control;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (!rewards.is_mean()) {
        const double scale = totals.scale[control][lane];
        sums_.revenue[lane] = scale * totals.arms[control].revenue[lane];
        sums_.cost[lane] = scale * totals.arms[control].cost[lane];
        sums_.weight[lane] = scale * totals.arms[control].weight[lane];
        continue;
      }
      for (std::size_t arm = 0; arm < totals.arms.size(); ++arm) {
        sums_.revenue[lane] += totals.scale[arm][lane] * totals.arms[arm].control_revenue[lane];
        sums_.cost[lane] += totals.scale[arm][lane] * totals.arms[arm].control_cost[lane];
      }
      sums_.weight[lane] = totals.total[lane];
    }
  }
  std::size_t take(const PathStep* steps, std::size_t count, const Tile& weights, std::size_t first,
                   const Lanes* bound) {
    if (!is_mean_) return take_ratio_steps(steps, count, weights[first].data(), scale_.data(), bound, sums_);
    Lanes limit;
    for (std::size_t lane = 0; bound != nullptr && lane < kLanes; ++lane)
      limit[lane] = (*bound)[lane] * sums_.weight[lane];
    return take_mean_steps(steps, count, weights[first].data(), scale_.data(), bound == nullptr ? nullptr : &limit,
                           sums_.revenue, sums_.cost);
  }
  double revenue(std::size_t lane) const { return sums_.revenue[lane] / sums_.weight[lane]; }
  double cost(std::size_t lane) const { return sums_.cost[lane] / sums_.weight[lane]; }

 private:
  std::span<const Lanes> scale_;
  bool is_mean_;
  RatioSums sums_;
};

// The walk for the stratified estimator: sums for each arm chosen. Where nobody received the arm chosen for them, the
// arm's mean over all who received it stands in.
class StratifiedWalk {
 public:
  StratifiedWalk(const BlockTotals& totals, const Rewards& rewards)
      : rows_(&rewards.rows()), scale_(totals.scale), total_(totals.total), chosen_(totals.arms.size()) {
    const std::size_t control = rewards.rows().arms.control;
    Chosen& start = chosen_[control];
    start.units = totals.total;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      for (std::size_t arm = 0; arm < chosen_.size(); ++arm) {
        chosen_[arm].mean_revenue[lane] = totals.arms[arm].revenue[lane] / totals.arms[arm].weight[lane];
        chosen_[arm].mean_cost[lane] = totals.arms[arm].cost[lane] / totals.arms[arm].weight[lane];
      }
      const double scale = totals.scale[control][lane];
      start.revenue[lane] = scale * totals.arms[control].revenue[lane];
      start.cost[lane] = scale * totals.arms[control].cost[lane];
      start.weight[lane] = scale * totals.arms[control].weight[lane];
    }
  }
  std::size_t take(const PathStep* steps, std::size_t count, const Tile& weights, std::size_t first,
                   const Lanes* bound) {
    for (std::size_t i = 0; i < count; ++i) {
      move(steps[i], weights[first + i], 1.0);
      if (bound == nullptr) continue;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if (!(cost(lane) > (*bound)[lane])) continue;
        move(steps[i], weights[first + i], -1.0);
        return i;
      }
    }
    return count;
  }
  double revenue(std::size_t lane) const { return value(lane, &Chosen::revenue, &Chosen::mean_revenue); }
  double cost(std::size_t lane) const { return value(lane, &Chosen::cost, &Chosen::mean_cost); }

 private:
  struct Chosen {
    Lanes units{};
    Lanes weight{};
    Lanes revenue{};
    Lanes cost{};
    Lanes mean_revenue{};  // of all who received the arm
    Lanes mean_cost{};
  };

  void move(const PathStep& step, const std::array<std::uint8_t, kLanes>& weights, double sign) {
    // A step's change is the new arm's contribution less the old one's; only the arm received contributes.
    Chosen* matched = step.received == step.to ? &chosen_[step.to] : nullptr;
    if (step.received == step.from) matched = &chosen_[step.from];
    const double units = rows_->sample_weight(step.row);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double times = sign * static_cast<double>(weights[lane]) * scale_[step.received][lane];
      chosen_[step.from].units[lane] -= times * units;
      chosen_[step.to].units[lane] += times * units;
      if (matched == nullptr) continue;
      matched->weight[lane] += times * step.change.weight;
      matched->revenue[lane] += times * step.change.revenue;
      matched->cost[lane] += times * step.change.cost;
    }
  }
  double value(std::size_t lane, Lanes Chosen::*outcome, Lanes Chosen::*mean) const {
    double sum = 0.0;
    for (const Chosen& arm : chosen_) {
      // Sums that come back to zero may miss it by their rounding.
      const double share = arm.units[lane] / total_[lane];
      if (share < 1e-12) continue;
      const bool seen = arm.weight[lane] > 1e-9;
      sum += share * (seen ? (arm.*outcome)[lane] / arm.weight[lane] : (arm.*mean)[lane]);
    }
    return sum;
  }

  const TrialRows* rows_;
  std::span<const Lanes> scale_;
  Lanes total_;
  std::vector<Chosen> chosen_;
};

// Notes the plan of each lane when its cost first crosses a budget.
class Matcher {
 public:
  Matcher(std::span<const double> budgets, PathFigures& figures) : budgets_(budgets), figures_(figures) {
    figures.matched.resize(budgets.size());
    figures.matched_steps.resize(budgets.size());
    bound_.fill(budgets.empty() ? kInfinity : budgets.front());
  }
  const Lanes& bound() const { return bound_; }

  // The walk stands just before a step that would cross, or at the end of the path. `crosses`: whether a lane does.
  template <class Walk, class Crosses>
  void note(const Walk& walk, std::size_t steps_taken, Crosses&& crosses) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      while (next_[lane] < budgets_.size() && crosses(lane, bound_[lane])) {
        figures_.matched[next_[lane]].revenue[lane] = walk.revenue(lane);
        figures_.matched[next_[lane]].cost[lane] = walk.cost(lane);
        if (lane == 0) figures_.matched_steps[next_[lane]] = steps_taken;
        ++next_[lane];
        bound_[lane] = next_[lane] < budgets_.size() ? budgets_[next_[lane]] : kInfinity;
      }
    }
  }

 private:
  std::span<const double> budgets_;
  PathFigures& figures_;
  Lanes bound_;
  std::array<std::size_t, kLanes> next_{};
};

// Takes the steps of one tile, with stops where lanes match a budget.
template <class Walk>
void take_tile(Walk& walk, std::span<const PathStep> steps, const Tile& weights, std::size_t taken_before,
               Matcher* matcher) {
  std::size_t done = 0;
  while (done < steps.size()) {
    const std::size_t count = steps.size() - done;
    done += walk.take(steps.data() + done, count, weights, done, matcher == nullptr ? nullptr : &matcher->bound());
    if (done == steps.size()) return;
    Walk after = walk;
    after.take(steps.data() + done, 1, weights, done, nullptr);
    matcher->note(walk, taken_before + done,
                  [&](std::size_t lane, double budget) { return after.cost(lane) > budget; });
    walk = after;
    ++done;
  }
}

// Moves the rows that a plan fills.
template <class Walk>
void take_filled(Walk& walk, const ResampleBlock& block, std::span<const PathStep> steps) {
  Tile weights;
  for (std::size_t first = 0; first < steps.size(); first += kTile) {
    const std::size_t count = std::min(kTile, steps.size() - first);
    block.fill_keyed(steps.subspan(first, count), weights);
    walk.take(steps.data() + first, count, weights, 0, nullptr);
  }
}

template <class Walk>
PathFigures walk_path(Walk walk, const ResampleBlock& block, std::span<const PathStep> steps,
                      const PathRequest& request) {
  PathFigures figures;
  Matcher matcher(request.matched_budgets, figures);
  std::size_t next_cut = 0;
  std::size_t taken = 0;
  Tile weights;
  const auto note_cuts = [&] {
    for (; next_cut < request.cuts.size() && request.cuts[next_cut].num_steps == taken; ++next_cut) {
      Walk filled = walk;
      take_filled(filled, block, request.cuts[next_cut].filled);
      PlanValue& value = figures.at_cuts.emplace_back();
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        value.revenue[lane] = filled.revenue(lane);
        value.cost[lane] = filled.cost(lane);
      }
    }
  };
  const auto note_start = [&] {  // budgets that even the cheapest plan exceeds
    matcher.note(walk, taken, [&](std::size_t lane, double budget) { return walk.cost(lane) > budget; });
  };
  const bool matches = !request.matched_budgets.empty();
  if (matches && request.num_head == 0) note_start();
  note_cuts();
  while (taken < steps.size()) {
    std::size_t end = std::min(taken + kTile, steps.size());
    if (taken < request.num_head) end = std::min(end, request.num_head);
    if (next_cut < request.cuts.size()) end = std::min(end, request.cuts[next_cut].num_steps);
    block.fill_keyed(steps.subspan(taken, end - taken), weights);
    const bool watch = matches && taken >= request.num_head;
    take_tile(walk, steps.subspan(taken, end - taken), weights, taken, watch ? &matcher : nullptr);
    taken = end;
    if (matches && taken == request.num_head) note_start();
    note_cuts();
  }
  matcher.note(walk, taken, [](std::size_t, double) { return true; });
  return figures;
}

}  // namespace

BlockTotals totals_of(const ResampleBlock& block, const Rewards& rewards) {
  const TrialRows& rows = rewards.rows();
  BlockTotals totals;
  totals.arms.resize(rows.num_arms());
  Tile weights;
  std::uint32_t indices[kTile];
  TotalsRow tile[kTile];
  for (std::size_t begin = 0; begin < rows.size(); begin += kTile) {
    const std::size_t count = std::min(kTile, rows.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t row = begin + i;
      indices[i] = static_cast<std::uint32_t>(row);
      const double weight = rows.total_weight(row);
      const Contribution control = rewards.is_mean() ? rewards.of(row, rows.arms.control) : Contribution{};
      tile[i] = {rows.sample_weight(row),
                 weight,
                 weight * static_cast<double>(rows.revenue[row]),
                 weight * rewards.observed_cost(row),
                 control.revenue,
                 control.cost,
                 rows.arm[row]};
    }
    block.fill({indices, count}, weights);
    add_totals(tile, count, weights, totals.arms.data());
  }
  Lanes all{};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    for (const ArmSums& arm : totals.arms) all[lane] += arm.units[lane];
  }
  totals.scale.resize(rows.num_arms());
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    totals.total[lane] = rows.has_propensity ? all[lane] : static_cast<double>(rows.size());
    for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
      totals.scale[arm][lane] = rows.has_propensity ? 1.0 : rows.arm_weight[arm] / totals.arms[arm].units[lane];
    }
  }
  return totals;
}

PlanValue control_value(const BlockTotals& totals, const Rewards& rewards) {
  const RatioWalk start(totals, rewards);
  PlanValue value;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    value.revenue[lane] = start.revenue(lane);
    value.cost[lane] = start.cost(lane);
  }
  return value;
}

PathFigures path_values(const ResampleBlock& block, const BlockTotals& totals, const Rewards& rewards,
                        std::span<const PathStep> steps, const PathRequest& request) {
  if (rewards.estimator() == Estimator::stratified) {
    return walk_path(StratifiedWalk(totals, rewards), block, steps, request);
  }
  return walk_path(RatioWalk(totals, rewards), block, steps, request);
}

}  // namespace dfcl::evaluate

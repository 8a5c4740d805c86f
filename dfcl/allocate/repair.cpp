// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/repair.h"

#include <algorithm>
#include <array>
#include <optional>

#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

constexpr std::size_t kChunkUnits = 8192;

struct Move {
  double price = 0.0;  // what it loses; the smallest go first
  std::uint32_t unit = 0;
  std::uint8_t arm = 0;
};

bool cheaper(const Move& a, const Move& b) { return a.price != b.price ? a.price < b.price : a.unit < b.unit; }

// The best move of every unit that has one, in the order of their prices. price_of(unit, arm, score lost) is none
// for a move that is of no use.
template <class PriceOf>
std::vector<Move> find_moves(const PlanState& state, const std::vector<double>& multipliers, PriceOf&& price_of,
                             core::RunContext& context) {
  const CoupledModel& model = state.model();
  std::vector<Move> moves = core::sum_chunks(
      context, model.num_units(), kChunkUnits, std::vector<Move>{},
      [&](std::size_t begin, std::size_t end) {
        std::vector<Move> found;
        for (std::size_t unit = begin; unit < end; ++unit) {
          const double score = model.score(unit, state.arm(unit), multipliers);
          std::optional<Move> best;
          for (std::size_t arm = 0; arm < model.num_arms(); ++arm) {
            if (arm == state.arm(unit) || !model.may_get(unit, arm)) continue;
            const std::optional<double> price = price_of(unit, arm, score - model.score(unit, arm, multipliers));
            if (price && (!best || *price < best->price)) {
              best = Move{*price, static_cast<std::uint32_t>(unit), static_cast<std::uint8_t>(arm)};
            }
          }
          if (best) found.push_back(*best);
        }
        return found;
      },
      [](std::vector<Move>& total, const std::vector<Move>& part) {
        total.insert(total.end(), part.begin(), part.end());
      });
  std::sort(moves.begin(), moves.end(), cheaper);
  return moves;
}

// Where no single move helps, two may. For small problems only: time is the square of units x arms.
bool move_two(PlanState& state) {
  constexpr std::size_t kMostPairs = 400;
  const CoupledModel& model = state.model();
  if (model.num_units() * model.num_arms() > kMostPairs) return false;
  for (std::size_t first = 0; first < model.num_units(); ++first) {
    for (std::size_t arm = 0; arm < model.num_arms(); ++arm) {
      const std::size_t old = state.arm(first);
      if (arm == old || !model.may_get(first, arm)) continue;
      const double before = state.excess();
      state.move(first, arm);
      for (std::size_t second = 0; second < model.num_units(); ++second) {
        for (std::size_t other = 0; other < model.num_arms(); ++other) {
          if (second == first || other == state.arm(second) || !model.may_get(second, other)) continue;
          if (state.excess() + state.change_of_excess(second, other) < before - 1e-9) {
            state.move(second, other);
            return true;
          }
        }
      }
      state.move(first, old);
    }
  }
  return false;
}

}  // namespace

PlanState::PlanState(const CoupledModel& model, std::vector<std::uint8_t> arms, core::RunContext& context)
    : model_(model), arms_(std::move(arms)) {
  recount(context);
}

void PlanState::recount(core::RunContext& context) {
  use_ = core::sum_chunks(
      context, arms_.size(), kChunkUnits, std::vector<double>(model_.num_limits()),
      [&](std::size_t begin, std::size_t end) {
        std::vector<double> part(model_.num_limits());
        for (std::size_t unit = begin; unit < end; ++unit) {
          model_.for_each_use(unit, arms_[unit], [&](std::size_t limit, double use) { part[limit] += use; });
        }
        return part;
      },
      [](std::vector<double>& total, const std::vector<double>& part) {
        for (std::size_t k = 0; k < total.size(); ++k) total[k] += part[k];
      });
}

double PlanState::excess_of(std::size_t limit, double use) const {
  return std::max(0.0, use - model_.limits()[limit]) / model_.scales()[limit];
}

double PlanState::excess() const {
  double sum = 0.0;
  for (std::size_t k = 0; k < use_.size(); ++k) sum += excess_of(k, use_[k]);
  return sum;
}

double PlanState::change_of_excess(std::size_t unit, std::size_t arm) const {
  // At most five limits an arm: total, second, segment, upper and lower.
  std::array<std::pair<std::size_t, double>, 10> changes;
  std::size_t count = 0;
  const auto note = [&](std::size_t limit, double change) {
    for (std::size_t i = 0; i < count; ++i) {
      if (changes[i].first != limit) continue;
      changes[i].second += change;
      return;
    }
    changes[count++] = {limit, change};
  };
  model_.for_each_use(unit, arm, [&](std::size_t limit, double use) { note(limit, use); });
  model_.for_each_use(unit, arms_[unit], [&](std::size_t limit, double use) { note(limit, -use); });
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [limit, change] = changes[i];
    sum += excess_of(limit, use_[limit] + change) - excess_of(limit, use_[limit]);
  }
  return sum;
}

void PlanState::move(std::size_t unit, std::size_t arm) {
  model_.for_each_use(unit, arms_[unit], [&](std::size_t limit, double use) { use_[limit] -= use; });
  model_.for_each_use(unit, arm, [&](std::size_t limit, double use) { use_[limit] += use; });
  arms_[unit] = static_cast<std::uint8_t>(arm);
}

std::vector<std::uint8_t> best_scores(const CoupledModel& model, const std::vector<double>& multipliers,
                                      core::RunContext& context) {
  std::vector<std::uint8_t> arms(model.num_units());
  core::for_each_chunk(context, model.num_units(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      std::optional<double> best;
      for (std::size_t arm = 0; arm < model.num_arms(); ++arm) {
        if (!model.may_get(unit, arm)) continue;
        const double score = model.score(unit, arm, multipliers);
        if (best && score <= *best) continue;
        best = score;
        arms[unit] = static_cast<std::uint8_t>(arm);
      }
    }
  });
  return arms;
}

bool repair(PlanState& state, const std::vector<double>& multipliers, core::RunContext& context) {
  constexpr int kMostRounds = 200;
  for (int round = 0; round < kMostRounds; ++round) {
    state.recount(context);
    const double start = state.excess();
    if (start <= 0.0) return true;
    const std::vector<Move> moves = find_moves(
        state, multipliers,
        [&](std::size_t unit, std::size_t arm, double loss) -> std::optional<double> {
          const double change = state.change_of_excess(unit, arm);
          if (change >= -1e-12) return std::nullopt;
          return (std::max(0.0, loss) + 1e-12) / -change;
        },
        context);
    // Half of the excess, then look again: what a move is worth depends on what is left to remove.
    double excess = start;
    for (const Move& move : moves) {
      const double change = state.change_of_excess(move.unit, move.arm);
      if (change >= -1e-12) continue;
      state.move(move.unit, move.arm);
      excess += change;
      if (excess <= 0.5 * start) break;
    }
    if (excess >= start && !move_two(state)) return false;
  }
  return false;
}

void improve(PlanState& state, const std::vector<double>& multipliers, core::RunContext& context) {
  constexpr int kMostRounds = 20;
  const CoupledModel& model = state.model();
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<Move> moves = find_moves(
        state, multipliers,
        [&](std::size_t unit, std::size_t arm, double loss) -> std::optional<double> {
          if (model.gain(unit, arm) <= model.gain(unit, state.arm(unit))) return std::nullopt;
          if (state.change_of_excess(unit, arm) > 0.0) return std::nullopt;
          return loss;
        },
        context);
    if (moves.empty()) return;
    for (const Move& move : moves) {
      if (state.change_of_excess(move.unit, move.arm) <= 0.0) state.move(move.unit, move.arm);
    }
    state.recount(context);
  }
}

}  // namespace dfcl::allocate

// SPDX-License-Identifier: Apache-2.0
//
// What all models of an evaluation share: the rows and the estimator, the totals of every block of resamples, and
// everyone in control. Internal to the room. Memory: about 100 bytes an arm and resample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/evaluate/curves/path_values.h"
#include "dfcl/evaluate/effects/guardrails.h"
#include "dfcl/evaluate/estimators/hajek_beside.h"
#include "dfcl/evaluate/estimators/influence.h"
#include "dfcl/evaluate/evaluate.h"
#include "dfcl/evaluate/heterogeneity/effect_scores.h"

namespace dfcl::evaluate {

// A problem and, with sample weights, the outcomes it looks at.
struct JudgedProblem {
  core::Matrix<float> revenue;  // rows x arms; empty: those of the prediction
  core::Matrix<float> cost;
  allocate::Problem problem;
};

class Setting {
 public:
  Setting(const EvaluationInput& evaluation_input, const EvaluationOptions& evaluation_options,
          core::RunContext& run_context);
  // Of rows that are elsewhere: the input's rows have arms, what is known of costs, and numbers of units alone. Whoever
  // has the sums sets what everyone in control earns and costs. No guardrails, no Hajek beside.
  Setting(const EvaluationInput& evaluation_input, const EvaluationOptions& evaluation_options, std::size_t num_rows,
          core::RunContext& run_context);

  const EvaluationInput& input;
  const EvaluationOptions& options;
  core::RunContext& context;
  Rewards rewards;
  EffectScores effects;
  SeriesKind kind;                        // of the series below and of all plans
  std::vector<std::size_t> budget_order;  // indices of the budgets, rising
  std::vector<double> budgets;            // rising, per unit, in the basis of the options
  ResampleBlock ones;
  BlockTotals totals;
  PlanEstimate control;
  PlanSeries control_series;
  std::vector<BlockTotals> block_totals;  // by resampling only
  std::optional<Guardrails> guardrails;   // where there are any
  std::optional<HajekBeside> hajek;       // beside the doubly robust estimator only

  // The problem whose plans are judged: a prediction under the rules and limits of the evaluation. price: the known
  // prices that the predicted costs are; empty: none. keys: break ties; empty: those of the rows. Where rows have
  // sample weights, a row earns and costs what all units earn and cost that it stands for.
  JudgedProblem problem_of(const Outcomes& prediction, const std::vector<double>& price = {},
                           std::span<const std::uint64_t> keys = {}) const;
  // What may be spent per unit in all, where everyone in control costs this much.
  double total_budget(double budget, double control_cost) const {
    return options.budget_basis == data::BudgetBasis::total ? budget : budget + control_cost;
  }
  // Whether the cost of a plan is a fact: the mean of its arms' prices.
  bool knows_prices() const { return !input.rows.prices().empty(); }
  // Sets that fact: per unit of a plan that gives so many units each arm, by sample weight.
  void set_known_cost(std::span<const double> units, PlanEstimate& estimate) const;
  void set_known_cost(double cost, PlanSeries& series) const;
  // A cost that [cost] rules out is taken for the nearest that it allows, so that profit and differences know it too.
  void keep_to_facts(PlanEstimate& estimate) const;
  std::size_t num_rows() const { return num_rows_; }
  bool is_elsewhere() const { return is_elsewhere_; }
  bool resamples() const { return resamples_; }
  std::size_t num_resamples() const { return resamples() ? options.num_resamples : 0; }

  // Calls body(block, its totals, first resample, how many of its lanes count), any number at once.
  using BlockBody = std::function<void(const ResampleBlock&, const BlockTotals&, std::size_t, std::size_t)>;
  void for_each_block(const BlockBody& body) const;

 private:
  void order_budgets();
  void draw_totals();

  std::size_t num_rows_;
  bool is_elsewhere_ = false;
  bool resamples_ = false;
};

}  // namespace dfcl::evaluate

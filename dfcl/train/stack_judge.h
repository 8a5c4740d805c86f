// SPDX-License-Identifier: Apache-2.0
//
// Weighs the members of a stack by their predictions of units that they have not seen (docs/method.md, "The stack").
// The mean of the members is the nuisance; prices are those of the study's budgets by it; the last member gives every
// arm its mean effect for everyone. The weights are those of Q-aggregation, the mean of those of 50 draws of the
// Bayesian bootstrap, drawn towards the first member by as much as their gain over it may be chance. Time: some ten
// passes over the units. Memory: 32 bytes per unit and arm.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"
#include "dfcl/evaluate/estimators/net_value.h"
#include "dfcl/learn/mean_effect.h"
#include "dfcl/learn/training_set.h"
#include "dfcl/model/training_facts.h"
#include "dfcl/train/calibrate.h"
#include "dfcl/train/folds.h"
#include "dfcl/train/preparation.h"

namespace dfcl::train {

// The held units side by side, in the study's currency.
struct HeldOutcomes {
  core::Column<std::uint8_t> arm;
  core::Column<float> revenue;
  core::Column<float> cost;          // what the unit cost
  core::Column<float> learned_cost;  // as learners see it: of a price paid if something happens, whether it did
  core::Column<float> weight;
  core::Column<std::uint32_t> cluster;  // empty: each unit its own
  core::Column<float> sample = {};      // sample weights, which weight holds too; empty: all alike

  double sample_weight(std::size_t unit) const { return sample.empty() ? 1.0 : static_cast<double>(sample[unit]); }
  CalibrationUnits as_units() const { return {arm, revenue, learned_cost, weight, cluster, sample}; }
};
HeldOutcomes held_outcomes(const data::Trial& trial, const Preparation& prepared, std::span<const std::uint32_t> rows,
                           const core::RunContext& context);

class StackJudge {
 public:
  // unseen: of each fitted member, held units x arms, as learned; at least one. All must outlive it.
  StackJudge(const data::Trial& trial, const Preparation& prepared, const HeldUnits& units,
             const HeldOutcomes& outcomes, std::vector<const learn::Predicted*> unseen, core::RunContext& context);

  // Of the fitted members, then of the mean effect.
  std::size_t num_members() const { return unseen_.size() + 1; }
  std::vector<double> weights();
  // Before they are drawn towards the first member.
  std::vector<double> aggregated_weights();

  // Net value per unit over control for everyone.
  evaluate::Estimate net_value(std::span<const double> weights);

  // With weight 0. The effects of all units.
  const learn::MeanEffect& mean_effect() const { return mean_; }

  // Predictions of the held units, of which members stands in the order of the fitted ones, mixed; the mean effects are
  // those of the other folds.
  learn::Predicted mixture(const std::vector<const learn::Predicted*>& members, std::span<const double> weights);

 private:
  void find_nuisance();
  void find_scores();
  void find_mean_effects();
  void find_shares();
  double variance_at(std::size_t unit) const;
  void add_products(std::size_t unit, std::span<double> products) const;
  std::vector<std::vector<double>> drawn_products();
  evaluate::Estimate risk_difference(std::span<const double> a, std::span<const double> b);
  learn::Predicted known_mixture(std::span<const double> weights);
  evaluate::Estimate gain(const learn::Predicted& a, const learn::Predicted& b);
  std::vector<double> drawn_to_first(std::vector<double> weights);

  const data::Trial& trial_;
  const Preparation& prepared_;
  const HeldUnits& units_;
  const HeldOutcomes& outcomes_;
  std::vector<const learn::Predicted*> unseen_;
  core::RunContext& context_;
  learn::Predicted nuisance_;  // with known costs
  learn::Predicted scores_;    // phi (eq. 5b), with known costs
  std::vector<double> multipliers_;
  double num_prices_ = 0.0, price_sum_ = 0.0, price_squares_ = 0.0;
  std::vector<double> share_;  // of the arms
  double least_variance_ = 1.0;
  learn::MeanEffect mean_;                              // of all units
  std::array<learn::MeanEffect, kFolds> mean_without_;  // of all units but the fold's
};

}  // namespace dfcl::train

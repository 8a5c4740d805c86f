// SPDX-License-Identifier: Apache-2.0
//
// One model of one outcome in training: tree after tree on what is left of the prediction loss (eq. 4, 4b), each on a
// share of the units and columns, until held-out units have gained nothing for a while; then the trees up to their best
// round are kept. Trees depend on nothing but the seed, the number of the tree and the trees before, so that a run that
// is taken up again goes on with the same trees.
// Memory: about 40 bytes a unit beside the histograms of a tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/boost/binned_units.h"
#include "dfcl/boost/grow_tree.h"
#include "dfcl/boost/options.h"
#include "dfcl/core/run_context.h"
#include "dfcl/loss/outcome_kind.h"

namespace dfcl::boost {

// The trees of one bag: raw value = base of the arm + the values of the leaves.
struct Bag {
  std::vector<float> base;  // one for each arm
  std::vector<Tree> trees;
  bool operator==(const Bag&) const = default;
};

// What a bag is fitted to; one entry for each unit of the fit.
struct BagData {
  loss::OutcomeKind kind = loss::OutcomeKind::real;
  std::span<const float> observed = {};      // scaled
  std::vector<float> weight = {};            // 0: not to be learned from
  std::vector<std::uint32_t> held_out = {};  // units that tell when to stop; may be empty
  std::vector<float> held_weight = {};       // of each of them
  std::span<const std::uint8_t> arm = {};
  std::size_t num_arms = 0;
  bool arms_ordered = false;
  bool rises_with_arm = false;
  bool starts_at_arms = false;  // each arm at its mean; else all at the mean of all, so that trees have to show effects
  std::vector<std::uint32_t> row = {};      // the number of the unit in the trial, which random choices follow
  std::vector<std::uint32_t> cluster = {};  // of the unit; empty: each its own. Halves hold whole clusters
  std::uint64_t seed = 0;
};

class BoostedBag {
 public:
  // All must outlive it.
  BoostedBag(const BinnedUnits& units, BagData data, const BoostOptions& options);

  bool finished() const { return finished_; }
  // One more tree. in_parallel: by all threads of the context; never changes the tree.
  void grow(bool in_parallel, core::RunContext& context);

  std::size_t rounds() const { return rounds_; }
  // Mean losses of the units trained on and of those held out, as the trees stand; the best one so far.
  double training_loss(core::RunContext& context) const;
  double held_out_loss() const { return held_loss_; }
  double best_loss() const { return keeps_trees() ? best_loss_ : arm_loss_; }
  bool has_held_out() const { return !data_.held_out.empty(); }

  // The trees up to the best round; without any, the means of the arms, where those do as well on held-out units.
  Bag bag() const;
  // Fall of the loss by splits on each column with a split by arm above or below: of the trees up to the best round,
  // on the units that they were grown on.
  std::vector<double> arm_gains() const {
    return keeps_trees() ? best_gains_ : std::vector<double>(best_gains_.size());
  }

 private:
  void start();
  void weigh_arms();
  void differentiate(bool in_parallel, core::RunContext& context);
  void choose_rows(bool in_parallel, core::RunContext& context);
  std::vector<std::uint32_t> choose_columns() const;
  void add_tree(GrownTree grown, bool in_parallel, core::RunContext& context);
  // Of the loss, by raw values of units; by all threads where in_parallel, the sum in the order of the units.
  double held_out_mean(const auto& raw_at, bool in_parallel, core::RunContext* context) const;
  void judge(bool in_parallel, core::RunContext* context);
  bool keeps_trees() const;

  const BinnedUnits& units_;
  BagData data_;
  BoostOptions options_;
  TreeGrower grower_;
  SplitRules rules_;
  std::vector<ArmWeight> arm_weights_;  // by bin of the arm
  std::size_t num_training_ = 0;
  double total_weight_ = 0.0;
  std::vector<float> raw_, gradient_, hessian_;  // padded to whole blocks
  std::vector<Sum> sums_, half_sums_;
  std::vector<std::uint32_t> rows_;  // of the tree at hand
  Bag bag_;
  std::vector<float> arm_base_;                 // the means of the arms
  double arm_loss_ = 0.0;                       // held out, by them alone
  std::vector<double> arm_gains_, best_gains_;  // of all trees, and of those up to the best round
  std::size_t rounds_ = 0;
  std::size_t best_trees_ = 0;
  std::size_t idle_rounds_ = 0;  // since held-out units gained
  double held_loss_ = 0.0;
  double best_loss_ = 0.0;
  bool finished_ = false;
};

}  // namespace dfcl::boost

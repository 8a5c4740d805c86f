// SPDX-License-Identifier: Apache-2.0
//
// One model of one outcome in training: tree after tree on what is left of the prediction loss (eq. 4, 4b), each on a
// share of the units and columns. The bags of an outcome stop together (bagged_outcome.h). Trees depend on nothing but
// the seed, the number of the tree and the trees before, so that a run that is taken up again goes on with the same
// trees.
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

  // One more tree; false where no split was worth it. in_parallel: by all threads of the context; never changes the
  // tree.
  bool grow(bool in_parallel, core::RunContext& context);
  // Nothing to learn: no units, or an outcome that is always 0 or always 1.
  bool is_settled() const { return settled_; }

  const BagData& data() const { return data_; }
  // Of a unit, as the trees stand and by the mean of its arm alone.
  float raw(std::uint32_t unit) const { return raw_[unit]; }
  float arm_raw(std::uint32_t unit) const { return arm_base_[data_.arm[unit]]; }
  // Mean loss of the units trained on, as the trees stand.
  double training_loss(core::RunContext& context) const;

  // The trees grown so far are the best yet.
  void keep();
  bool keeps_trees() const { return best_trees_ > 0; }
  // The trees kept; or the means of the arms alone.
  Bag bag() const;
  Bag arm_means_alone() const { return {arm_base_, {}}; }
  // Fall of the loss by splits on each column with a split by arm above or below: of the trees kept, on the units that
  // they were grown on.
  const std::vector<double>& arm_gains() const { return best_gains_; }

 private:
  void start();
  void weigh_arms();
  void differentiate(bool in_parallel, core::RunContext& context);
  void choose_rows(bool in_parallel, core::RunContext& context);
  std::vector<std::uint32_t> choose_columns() const;
  void add_tree(GrownTree grown, bool in_parallel, core::RunContext& context);

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
  std::vector<double> arm_gains_, best_gains_;  // of all trees, and of those kept
  std::size_t rounds_ = 0;
  std::size_t best_trees_ = 0;
  bool settled_ = false;
};

}  // namespace dfcl::boost

// SPDX-License-Identifier: Apache-2.0
//
// The bags of one outcome, grown round by round, a tree each, until the held-out loss of their mean has gained nothing
// for a while; then all keep their trees up to the best round. A mean of bags over-fits later than each of them, and
// its loss is less of an accident: bags that stop each by its own loss stop too early (docs/decisions/0150). A unit
// counts by the mean of the bags that hold it out. Memory: 24 bytes per held-out unit and one per bag of it.
#pragma once

#include <cstdint>
#include <vector>

#include "dfcl/boost/boosted_bag.h"

namespace dfcl::boost {

class BaggedOutcome {
 public:
  // All must outlive it. data: one for each bag.
  BaggedOutcome(const BinnedUnits& units, std::vector<BagData> data, const BoostOptions& options,
                core::RunContext& context);

  bool finished() const { return finished_; }
  std::vector<BoostedBag>& bags() { return bags_; }
  // After every bag has had its turn to grow a tree.
  void end_round(bool any_grown, core::RunContext& context);

  bool has_held_out() const { return !held_.empty(); }
  // Mean losses of the units trained on, and of those held out: as the trees stand, or of what is kept once finished.
  double training_loss(core::RunContext& context) const;
  double held_out_loss() const { return finished_ ? (keeps_trees() ? best_loss_ : arm_loss_) : held_loss_; }

  // Trees up to the best round; without any, the means of the arms, where those do as well on held-out units.
  std::vector<Bag> kept() const;
  // Fall of the loss by splits on each column with a split by arm above or below: of the trees kept, over all bags.
  std::vector<double> arm_gains() const;

 private:
  void find_held_out();
  // Of the loss, by what a bag says of a unit: as its trees stand, or by the mean of the arm alone.
  double held_out_mean(float (BoostedBag::*raw)(std::uint32_t) const, core::RunContext& context) const;
  bool keeps_trees() const;

  BoostOptions options_;
  std::vector<BoostedBag> bags_;
  std::vector<std::uint32_t> held_;  // units that a bag or more hold out, rising
  std::vector<float> held_weight_;
  std::vector<std::size_t> first_;     // of each of them, into holders_; and one more
  std::vector<std::uint8_t> holders_;  // bags
  double arm_loss_ = 0.0;              // by the means of the arms alone
  double held_loss_ = 0.0;
  double best_loss_ = 0.0;
  std::size_t rounds_ = 0;
  std::size_t idle_rounds_ = 0;  // since held-out units gained
  bool finished_ = false;
};

}  // namespace dfcl::boost

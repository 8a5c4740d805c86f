// SPDX-License-Identifier: Apache-2.0
//
// What the cut leaves of a budget buys cheaper increments after it. Greedy in path order is not best: with a little
// less money it may take something else and gain more. So the greedy choices for every amount of money up to what is
// left are followed at once, each for the interval of amounts that makes it, and the one that gains most is taken.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dfcl/allocate/hull.h"

namespace dfcl::allocate {

// What greedy filling takes with any amount of money from `least` up to `most`, which belongs to the next filling.
struct Filling {
  double least = 0.0;
  double most = 0.0;
  bool has_most = false;  // all of the money: there is no next filling
  double used = 0.0;
  double gained = 0.0;             // of the objective
  std::vector<std::size_t> taken;  // indices of offers
};

class Filler {
 public:
  // cut: the increment that did not fit. left: what may be spent.
  Filler(const Increment& cut, const Prices& prices, double left);

  // Increments after the cut, in path order. Stops by itself after kFillIncrements of them.
  void offer(std::span<const Increment> increments);
  // Increments that cost more than most_unused(), unseen.
  void pass_over(std::size_t count);
  // Whatever costs more than this is of no use.
  double most_unused() const { return most_unused_; }
  bool done() const;
  // The fillings that were found, the most gainful first.
  std::vector<Filling> finish();
  const Increment& offered(std::size_t index) const { return offers_[index]; }

 private:
  void take(const Increment& increment, double cost);
  bool is_open(const Increment& increment, const Filling& filling) const;
  void retire(double value_per_cost);

  const Prices& prices_;
  PathPosition cut_;
  double most_unused_;
  std::size_t passed_ = 0;         // increments, looked at or not
  std::vector<Increment> offers_;  // those that some filling took
  std::vector<Filling> fillings_;  // the least money first
  std::vector<Filling> retired_;   // can gain less than another has already
};

}  // namespace dfcl::allocate

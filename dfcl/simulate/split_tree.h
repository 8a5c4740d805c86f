// SPDX-License-Identifier: Apache-2.0
//
// A complete binary tree of fixed random splits: the regions on which the piecewise constant response family is
// constant. A look-up costs one comparison a level.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dfcl::simulate {

class SplitTree {
 public:
  // Drivers are split at thresholds drawn evenly from [low, high]; `index` names the tree within the fixed world.
  SplitTree(int depth, std::size_t num_drivers, double low, double high, std::uint64_t index);

  std::size_t num_leaves() const { return splits_.size() + 1; }
  std::size_t leaf(std::span<const double> drivers) const {
    std::size_t node = 0;
    while (node < splits_.size()) node = 2 * node + (drivers[splits_[node].driver] < splits_[node].threshold ? 1 : 2);
    return node - splits_.size();
  }

 private:
  struct Split {
    std::size_t driver;
    double threshold;
  };
  std::vector<Split> splits_;  // node n has the children 2n + 1 and 2n + 2
};

}  // namespace dfcl::simulate

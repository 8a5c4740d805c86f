// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/split_tree.h"

#include "dfcl/core/random.h"
#include "dfcl/simulate/unit_model.h"

namespace dfcl::simulate {

SplitTree::SplitTree(int depth, std::size_t num_drivers, double low, double high, std::uint64_t index) {
  core::RandomStream stream(kWorldSeed, core::stream_purpose("simulate split tree"), index);
  splits_.resize((std::size_t{1} << depth) - 1);
  for (std::size_t node = 0; node < splits_.size(); ++node) {
    Split& split = splits_[node];
    split.driver = stream.below(static_cast<std::uint32_t>(num_drivers));
    // A child does not split the driver of its parent again: its regions would often be empty.
    while (node > 0 && num_drivers > 1 && split.driver == splits_[(node - 1) / 2].driver) {
      split.driver = stream.below(static_cast<std::uint32_t>(num_drivers));
    }
    split.threshold = stream.uniform(low, high);
  }
}

}  // namespace dfcl::simulate

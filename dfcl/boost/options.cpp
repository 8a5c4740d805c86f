// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/options.h"

namespace dfcl::boost {

BoostOptions boost_options(const data::Study& study, std::uint64_t seed) {
  const data::Study::Boost& given = study.boost;
  return {.trees = static_cast<std::size_t>(given.trees),
          .leaves = static_cast<std::size_t>(given.leaves),
          .min_leaf = static_cast<std::size_t>(given.min_leaf),
          .learning_rate = given.learning_rate,
          .feature_share = given.feature_share,
          .row_share = given.row_share,
          .bags = static_cast<std::size_t>(given.bags),
          .seed = seed};
}

}  // namespace dfcl::boost

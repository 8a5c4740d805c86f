// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/options.h"

namespace dfcl::boost {
namespace {

// Few units: effects are small beside the noise, which averaging takes out, and small trees follow less of it.
constexpr std::size_t kFewUnits = 50'000;
constexpr std::size_t kManyUnits = 100'000;

std::size_t usual_leaves(std::size_t num_units) { return num_units < kManyUnits ? 8 : 15; }
std::size_t usual_bags(std::size_t num_units) { return num_units < kFewUnits ? 8 : num_units < kManyUnits ? 4 : 2; }

}  // namespace

BoostOptions boost_options(const data::Study& study, std::size_t num_training_units, std::uint64_t seed) {
  const data::Study::Boost& given = study.boost;
  return {.trees = static_cast<std::size_t>(given.trees),
          .leaves = given.leaves ? static_cast<std::size_t>(*given.leaves) : usual_leaves(num_training_units),
          .min_leaf = static_cast<std::size_t>(given.min_leaf),
          .learning_rate = given.learning_rate,
          .feature_share = given.feature_share,
          .row_share = given.row_share,
          .bags = given.bags ? static_cast<std::size_t>(*given.bags) : usual_bags(num_training_units),
          .seed = seed};
}

}  // namespace dfcl::boost

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/trees/feature_bins.h"

namespace dfcl::forest {

using trees::kMostBins;

namespace {

template <class T>
void require(bool good, const char* option, T value, const std::string& expected, core::ErrorKind kind,
             const std::string& hint = "") {
  if (good) return;
  throw core::Error({.kind = kind,
                     .field = fmt::format("forest.{}", option),
                     .what = "out of range",
                     .found = fmt::format("{}", value),
                     .expected = expected,
                     .hint = hint});
}

}  // namespace

bool enough_units(const ForestOptions& options, std::size_t num_units) {
  return static_cast<double>(options.min_leaf) <= static_cast<double>(num_units) * options.subsample;
}

void validate(const ForestOptions& options, std::size_t num_units, std::size_t num_arms) {
  constexpr core::ErrorKind usage = core::ErrorKind::usage;
  require(options.trees >= 1 && options.trees <= 100'000, "trees", options.trees, "1 to 100,000", usage);
  require(options.depth >= 1 && options.depth <= 1000, "depth", options.depth, "1 to 1,000", usage);
  require(options.min_leaf >= 2, "leaf", options.min_leaf, "2 or more: a unit to split and one to fill", usage);
  require(options.min_leaf_per_arm >= 2, "min_leaf_per_arm", options.min_leaf_per_arm,
          "2 or more: a unit to split and one to fill", usage);
  require(options.subsample > 0.0 && options.subsample <= 0.5, "subsample", options.subsample,
          "above 0, at most 0.5: each group of trees sees half of the units", usage);
  require(options.balance >= 0.0 && options.balance < 0.5, "balance", options.balance, "0 to below 0.5", usage);
  require(options.bins >= 3 && options.bins <= kMostBins, "bins", options.bins, fmt::format("3 to {}", kMostBins),
          usage);
  if (num_arms < 2 || num_arms > 255) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "a causal forest needs two arms or more",
                       .found = fmt::format("{}", num_arms)});
  }
  const double seen = static_cast<double>(num_units) * options.subsample;
  require(enough_units(options, num_units), "leaf", options.min_leaf,
          fmt::format("at most the {} units that a tree sees ({} training units x subsample {})",
                      static_cast<std::size_t>(seen), num_units, options.subsample),
          usage, fmt::format("choose smaller leaves ({}), or bring more units", core::field_name("forest.leaf")));
}

std::size_t least_of_part(const ForestOptions& options, std::size_t least) {
  return options.honest ? (least + 1) / 2 : least;
}

std::size_t features_per_node(const ForestOptions& options, std::size_t num_features) {
  return options.mtry > 0 ? std::min(options.mtry, num_features) : num_features;
}

}  // namespace dfcl::forest

// SPDX-License-Identifier: Apache-2.0
//
// What boosting yields, as plain data: bins, trees of both outcomes and what is known about them.
#pragma once

#include <string>
#include <vector>

#include "dfcl/boost/boosted_bag.h"
#include "dfcl/learn/outcome_facts.h"
#include "dfcl/trees/feature_bins.h"

namespace dfcl::boost {

struct BoostParts {
  std::vector<trees::FeatureBins> bins;
  learn::Facts facts;
  learn::Scales scales;
  // The mean of their predictions; those of cost are empty where costs are known.
  std::vector<Bag> revenue;
  std::vector<Bag> cost;
  std::vector<float> importance;  // of the features, in the splits that depend on the arm; all 0: none does
  bool operator==(const BoostParts&) const = default;

  std::size_t num_arms() const { return facts.revenue.num_arms; }
  std::size_t num_trees() const;
};

// Throws Error of kind file where the parts do not fit each other: after it, trees can be run on any units.
void require_consistent(const BoostParts& parts, const std::string& where);

}  // namespace dfcl::boost

// SPDX-License-Identifier: Apache-2.0
//
// The learner of boosted trees, behind the seam: one model of (features, arm) for each outcome that is to be learned,
// the arm a column like others (a number where arms are ordered, else a category). It minimises the prediction loss
// (eq. 4, 4b) of the set's facts; of the objective it needs nothing. Bins are fitted when it is made, and shared by its
// fits. Settings from the study's [boost].
// Stopping looks at the validation units where there are at least a tenth as many as training units; else each bag
// holds out 15 % of its own, whole clusters together.
// A finished fit is kept as a checkpoint; one that is not finished is grown anew, with the same trees.
// Time: 400,000 units of 107 features, a tree of 31 leaves: see docs/decisions/0061. Memory of a fit: 2 bytes a unit
// and feature, and 40 bytes a unit for each outcome and bag.
#pragma once

#include <memory>
#include <vector>

#include "dfcl/boost/options.h"
#include "dfcl/learn/learner.h"
#include "dfcl/trees/feature_bins.h"

namespace dfcl::boost {

class BoostLearner final : public learn::Learner {
 public:
  BoostLearner(std::vector<trees::FeatureBins> bins, const BoostOptions& options)
      : bins_(std::move(bins)), options_(options) {}

  learn::Fit fit(const learn::TrainingSet& set, const learn::Objective& objective, const learn::Stage& stage,
                 core::RunContext& context) const override;
  std::vector<std::pair<std::string, std::string>> shown() const override;

 private:
  std::vector<trees::FeatureBins> bins_;
  BoostOptions options_;
};

std::unique_ptr<learn::Learner> make_boost_learner(const learn::LearnerRequest& request, core::RunContext& context);

}  // namespace dfcl::boost

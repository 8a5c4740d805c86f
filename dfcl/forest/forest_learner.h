// SPDX-License-Identifier: Apache-2.0
//
// The learner of causal forests, behind the seam: it learns how arms differ, on a base that other predictors give
// (TrainingSet::base). It needs no objective: trees split where effects differ. Settings from the study's [forest].
// Time and memory: see forest.h; beside the records of the units, about 130 bytes a training unit at 107 features.
#pragma once

#include <memory>

#include "dfcl/forest/options.h"
#include "dfcl/learn/learner.h"

namespace dfcl::forest {

// The study's [forest]. check_settings throws as validate() does (options.h).
ForestOptions forest_options(const data::Study& study, std::uint64_t seed);
void check_settings(const data::Study& study, std::size_t num_training_units, std::size_t num_arms);

class ForestLearner final : public learn::Learner {
 public:
  // as_published: effects are differences, whatever the outcome.
  ForestLearner(const ForestOptions& options, bool as_published) : options_(options), as_published_(as_published) {}

  learn::Fit fit(const learn::TrainingSet& set, const learn::Objective& objective, const learn::Stage& stage,
                 core::RunContext& context) const override;
  bool has_enough(std::size_t num_training_units) const override;
  std::vector<std::pair<std::string, std::string>> shown() const override;

 private:
  ForestOptions options_;
  bool as_published_;
};

std::unique_ptr<learn::Learner> make_forest_learner(const learn::LearnerRequest& request, core::RunContext& context);

}  // namespace dfcl::forest

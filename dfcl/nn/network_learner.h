// SPDX-License-Identifier: Apache-2.0
//
// The learner of networks: shape and scaling from the study's [network], inputs fitted on the training units when it is
// made, then one network a fit. Time of a fit: that of its matrix products; memory: see trainer.h.
#pragma once

#include <memory>

#include "dfcl/learn/learner.h"
#include "dfcl/nn/inputs/preprocessing.h"
#include "dfcl/nn/outcome_network.h"

namespace dfcl::nn {

class NetworkLearner final : public learn::Learner {
 public:
  NetworkLearner(Preprocessing preprocessing, OutcomeNetworkOptions network, const learn::LearnerRequest& request);

  learn::Fit fit(const learn::TrainingSet& set, const learn::Objective& objective, const learn::Stage& stage,
                 core::RunContext& context) const override;

  const Preprocessing& preprocessing() const { return preprocessing_; }
  const OutcomeNetworkOptions& network() const { return network_; }

 private:
  Preprocessing preprocessing_;
  OutcomeNetworkOptions network_;
  learn::Steps steps_;
  std::uint64_t seed_;
};

// Throws Error of kind usage that names the key of [network], or says what of a starting model differs.
std::unique_ptr<learn::Learner> make_network_learner(const learn::LearnerRequest& request, core::RunContext& context);

// A starting model's preprocessing for the codes of another trial: levels keep their inputs by name, and levels that
// the model has not seen get what it gives to unseen ones. columns: what the trial has in the place of `known`.
Preprocessing recoded(const Preprocessing& preprocessing, const std::vector<data::FeatureColumn>& known,
                      const std::vector<data::FeatureColumn>& columns);

// Throws Error of kind usage where a starting model's outcomes are not those to learn.
void require_same_outcomes(const learn::Facts& wanted, const learn::Facts& found);

}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
//
// Training that starts from a model instead of random weights: fine-tuning with a decision loss, or going on with new
// data. Weights mean something only behind the inputs and scales they were learned with, so the starting model's
// preprocessing, kinds and scales of outcomes are kept; arms, features and network must be the same. No cost to speak
// of.
#pragma once

#include <vector>

#include "dfcl/data/trial.h"
#include "dfcl/model/model.h"

namespace dfcl::train {

// Throws Error of kind usage that says which arms or features differ.
void require_same_schema(const data::Trial& trial, const model::Model& start);

// The starting model's preprocessing for the codes of this trial: levels keep their inputs by name, and levels that the
// model has not seen get what it gives to unseen ones.
model::Preprocessing recoded_preprocessing(const model::Model& start, const std::vector<data::FeatureColumn>& columns);

// Throws Error of kind usage that says what differs from the network that the study and the method ask for.
void require_same_network(const nn::OutcomeNetworkOptions& wanted, const model::Model& start);

}  // namespace dfcl::train

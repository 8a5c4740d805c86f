// SPDX-License-Identifier: Apache-2.0
//
// Training that starts from a model instead of random weights: fine-tuning with a decision loss, or going on with new
// data. Weights mean something only behind the inputs and scales they were learned with, so the starting model's
// encodings, kinds and scales of outcomes are kept; arms, features and the form of the learner must be the same. No
// cost to speak of.
#pragma once

#include <vector>

#include "dfcl/data/trial.h"
#include "dfcl/model/model.h"

namespace dfcl::train {

// Throws Error of kind usage that says which arms or features differ, or that no training can start from this model.
void require_same_schema(const data::Trial& trial, const model::Model& start);

}  // namespace dfcl::train

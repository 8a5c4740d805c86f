// SPDX-License-Identifier: Apache-2.0
//
// What a model, or any other source, expects each unit to earn and cost under each arm, and what is known of these
// numbers: their arms and control, whether the revenue is money or an index, which model made them. Memory: 8 bytes x
// units x arms, and the ids.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/data/arms.h"
#include "dfcl/data/batch.h"
#include "dfcl/data/evaluated_plans.h"
#include "dfcl/data/ids.h"

namespace dfcl::data {

// What a prediction is, without its numbers. Travels with it in memory and in its file (prediction_facts.h).
struct PredictionFacts {
  Arms arms = {};
  bool control_is_guessed = false;  // nobody said which arm is control: it was told by its label, or it is the first
  bool is_index = false;            // revenue ranks units by efficiency and is no money
  bool index_is_guessed = false;    // nobody said whether it is an index: taken for money
  std::string model = {};           // fingerprint of the model; "": not made by one of ours
  std::string method = {};          // of the model; "": unknown
  std::string trained_on = {};      // units of the model, a sketch as text (model/trained_units.h); "": unknown
  // Per arm, the exact known cost per unit, of which the costs are the float32 nearest to it; empty: costs are
  // predicted.
  std::vector<double> price = {};
  // What plans of the model were worth on units that it had not seen; none: not known.
  std::optional<EvaluatedPlans> evaluated = {};
  // How to speak of the figures: [report] of the study; "": nothing is said.
  std::string currency = {};
  std::string unit = {};
  bool revenue_is_count = false;        // of something that is worth money, and no money itself
  std::vector<std::string> carry = {};  // columns that travel with the predictions into plans

  bool operator==(const PredictionFacts&) const = default;
};

struct Prediction : PredictionFacts {
  Ids ids;
  core::Matrix<float> revenue;  // units x arms
  core::Matrix<float> cost;     // units x arms
  ExtraColumns extra = {};      // carried from the units; may be empty

  std::size_t num_units() const { return revenue.rows(); }
};

}  // namespace dfcl::data

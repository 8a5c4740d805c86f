// SPDX-License-Identifier: Apache-2.0
//
// One line of the training record: what a round of learning (an epoch of a network) reached.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace dfcl::learn {

struct EpochRecord {
  std::size_t member = 0;
  std::size_t epoch = 0;  // from 1
  bool decides = false;   // a decision loss took part
  double prediction_loss = 0.0;
  double decision_loss = 0.0;
  std::optional<double> validation_loss;   // of prediction (of the scores, for efficiencies)
  std::optional<double> validation_value;  // net value at the budgets' prices, in revenue per unit
  bool went_back = false;                  // the decision epochs lost value: the model is that of the warm start
  bool kept = false;                       // the model is that of this epoch, of all that its fit ran
  std::vector<double> multipliers;         // unscaled
};

}  // namespace dfcl::learn

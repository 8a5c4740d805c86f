// SPDX-License-Identifier: Apache-2.0
//
// What training yields and prediction needs: the columns, the preprocessing, one or more networks of one shape, what
// their outputs mean, for a forest its trees, and how all of it was made. Plain data; predict.h uses it, model_file.h
// keeps it. Memory: 4 bytes a parameter and member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/data/features.h"
#include "dfcl/data/trial.h"
#include "dfcl/forest/forest.h"
#include "dfcl/model/preprocessing.h"
#include "dfcl/model/trained_units.h"
#include "dfcl/nn/outcome_network.h"

namespace dfcl::model {

// The way from scaled predictions back to the study's currency: center + scale x prediction (section 4 of
// docs/method.md).
struct OutcomeScale {
  double center = 0.0;
  double scale = 1.0;
  bool operator==(const OutcomeScale&) const = default;
};

// What the revenue head's outputs are: revenue, or the scores of a method that learns efficiencies (dfcl/loss/
// efficiency.h), one for each step between neighbouring arms. Revenue is then an index, made of efficiencies and
// predicted costs: it ranks decisions and is no forecast.
enum class RevenueForm : std::uint8_t { outcome, drm_scores, drp_scores, dpm_scores };

// The price of money at a budget, on the training data.
struct BudgetMultiplier {
  std::string budget;              // as the study said it: "per_unit 0.5", "share_of_max 0.2"
  double budget_per_unit = 0.0;    // currency, control's cost included
  double multiplier = 0.0;         // revenue a unit of cost, in the study's currencies
  double scaled_multiplier = 0.0;  // of scaled outcomes, as the losses saw it
  bool operator==(const BudgetMultiplier&) const = default;
};

struct Model {
  std::string version;  // of dfcl
  std::string method;   // as users type it
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> options;  // those that change the result, in the order to show them
  std::string study;                                         // the study file as text

  data::Arms arms;
  std::vector<data::FeatureColumn> features;  // with levels
  std::string id_column;                      // "": row numbers
  std::vector<double> missing;                // codes that mean missing

  Preprocessing preprocessing;
  nn::OutcomeNetworkOptions network;        // of every member
  std::vector<std::vector<float>> members;  // parameters; predictions are averaged over members
  OutcomeScale revenue;
  OutcomeScale cost;
  RevenueForm revenue_form = RevenueForm::outcome;
  double efficiency_cost_scale = 1.0;  // what the loss multiplied costs by (eq. 13, 14)
  // With a forest the networks give only the base of a unit, the mean over arms of their predictions; the arms are the
  // forest's.
  std::optional<forest::Forest> forest;

  std::vector<BudgetMultiplier> multipliers;
  TrainedUnits trained;
  std::string record;  // of the training, a JSON list with an object for each epoch

  bool is_index() const { return revenue_form != RevenueForm::outcome; }
};

// What a network may have: layers of at most this width, and this many inputs and hidden units in all, which bounds the
// memory of a tile of rows at 256 MiB or so a thread, whatever a file says.
inline constexpr std::size_t kMostWidth = 8192;
inline constexpr std::size_t kMostNeurons = std::size_t{1} << 18;

// Inputs and hidden units. Throws Error of kind usage where the outcomes' options contradict themselves.
std::size_t num_neurons(const nn::OutcomeNetworkOptions& network);

// Features by falling importance to a forest's effects, with their shares; empty for networks.
std::vector<std::pair<std::string, double>> feature_importance(const Model& model);

// Throws Error of kind file where the parts do not fit each other; `where` names the model.
void require_consistent(const Model& model, const std::string& where);

}  // namespace dfcl::model

// SPDX-License-Identifier: Apache-2.0
//
// What training yields and prediction needs: the columns and arms, the predictors whose weighted mean is the
// prediction, and how all of it was made. Plain data; predict.h uses it, model_file.h keeps it. Memory: that of the
// predictors, which copies of a model share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/data/budgets.h"
#include "dfcl/data/cost_facts.h"
#include "dfcl/data/evaluated_plans.h"
#include "dfcl/data/features.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/calibration.h"
#include "dfcl/learn/mean_effect.h"
#include "dfcl/learn/predictor.h"
#include "dfcl/model/feature_summary.h"
#include "dfcl/model/trained_units.h"
#include "dfcl/model/training_facts.h"

namespace dfcl::model {

// The price of money at a budget, on the training data.
struct BudgetMultiplier {
  std::string budget;                                        // as the study said it: "per_unit 0.5", "share_of_max 0.2"
  double budget_per_unit = 0.0;                              // currency, in its basis
  double multiplier = 0.0;                                   // revenue a unit of cost, in the study's currencies
  double scaled_multiplier = 0.0;                            // of scaled outcomes, as the losses saw it
  data::BudgetBasis basis = data::BudgetBasis::incremental;  // of budget_per_unit
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

  // Predictions are made in this order: the mean of the predictors, the mean effect, the calibration, known costs.
  std::vector<learn::WeightedPredictor> predictors;
  std::optional<learn::MeanEffect> mean_effect;  // of a stack where that member has weight
  std::optional<learn::Calibration> calibration;
  // Prices or rates that are facts: predicted cost is made of them (dfcl/learn/known_costs.h).
  data::CostFacts cost_facts;

  std::vector<BudgetMultiplier> multipliers;
  TrainedUnits trained;
  std::vector<FeatureSummary> summaries;  // of the features of the training units; none in models of earlier versions
  std::optional<Stack> stack;             // how it was weighed, where it is one
  std::optional<HeldOut> held_out;        // where there were units to judge by
  // What its plans were worth on units that it had not seen, where there were enough of them.
  std::optional<data::EvaluatedPlans> evaluated;
  std::string record;  // of the training, a JSON list with an object for each epoch

  learn::Schema schema() const { return {arms, features}; }
  // Revenue ranks decisions and is no forecast.
  bool is_index() const;
};

// Throws Error of kind file where the parts do not fit each other; `where` names the model.
void require_consistent(const Model& model, const std::string& where);

}  // namespace dfcl::model

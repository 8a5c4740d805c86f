// SPDX-License-Identifier: Apache-2.0
//
// Why this arm: what each feature adds to the net score of a unit's arm over that of its second best, in one way for
// every predictor. A unit's features are replaced one after the other by typical values, drawn from what the model
// keeps of its training units; the change of the score at each replacement is what the feature added. The mean over
// several such walks, in orders of which each is followed by its reverse, is a Shapley value by sampling, and what is
// typical plus what all features add is the score itself, up to rounding (eq. 27 of docs/method.md).
//
// Features that decide little are replaced together, as one. Costs num_paths x num_features predictions of a unit at
// most, less where values are typical anyway. Memory: a few tiles of units a thread. The answer of a unit depends on
// nothing but its features, the model and the prices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/model/model.h"

namespace dfcl::model {

// score of an arm = revenue x its revenue - cost x its cost - its own price.
struct ScorePrices {
  double revenue = 1.0;
  double cost = 0.0;
  std::vector<double> arm = {};  // per arm, of limits on units; empty: none
};

struct ExplainOptions {
  std::size_t num_paths = 8;      // walks, of other typical values each; even
  std::size_t num_features = 12;  // those told apart; the rest are replaced together
};

inline constexpr std::size_t kReasons = 3;
inline constexpr std::uint32_t kNoFeature = 0xFFFFFFFFu;

struct Explanation {
  double score = 0.0;    // of the arm, over that of the second best
  double typical = 0.0;  // the same, of a typical unit
  // The features that add most, by what they add; kNoFeature where fewer add anything.
  std::array<std::uint32_t, kReasons> feature = {kNoFeature, kNoFeature, kNoFeature};
  std::array<double, kReasons> adds = {};
  double others = 0.0;  // what all other features add: score = typical + adds + others
};

class Explainer {
 public:
  // The model must outlive it. Throws Error of kind usage where the model keeps no summaries of its features.
  Explainer(const Model& model, ScorePrices prices, const ExplainOptions& options, core::RunContext& context);
  ~Explainer();

  // features: units x features; arm and second: of each unit; out: as many.
  void explain(core::MatrixView<const float> features, std::span<const std::uint8_t> arm,
               std::span<const std::uint8_t> second, std::span<Explanation> out, core::RunContext& context) const;

 private:
  struct Impl;
  Explanation explanation(std::span<const double> score, std::span<const double> adds, std::size_t arm,
                          std::size_t second) const;

  const Model& model_;
  ScorePrices prices_;
  std::unique_ptr<Impl> impl_;
};

// Of each feature, the mean size of what it adds to the net scores of arms over control, as a share of all, over
// typical units at the price of the model's middle budget; by falling share. Empty where the model keeps no summaries.
std::vector<std::pair<std::string, double>> feature_importance(const Model& model, core::RunContext& context);

}  // namespace dfcl::model

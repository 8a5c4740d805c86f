// SPDX-License-Identifier: Apache-2.0
//
// A causal forest on the base of other predictors, behind the seam for learners: the base says what a unit earns and
// costs on the whole (the mean over arms of its predictions), the forest how the arms differ. Memory: the forest and
// the base.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/forest/forest.h"
#include "dfcl/forest/predict.h"
#include "dfcl/learn/part.h"
#include "dfcl/learn/predictor.h"

namespace dfcl::forest {

class ForestPredictor final : public learn::Predictor {
 public:
  ForestPredictor(Forest forest, learn::Facts facts, std::vector<learn::WeightedPredictor> base)
      : forest_(std::move(forest)), facts_(facts), base_(std::move(base)) {}

  const Forest& forest() const { return forest_; }
  const learn::Facts& facts() const { return facts_; }
  const std::vector<learn::WeightedPredictor>& base() const { return base_; }

  const char* kind() const override { return "forest"; }
  void predict(const learn::FeatureTile& units, learn::Outcomes out, core::RunContext& context) const override;
  void require_standard_errors() const override;
  void standard_errors(const learn::FeatureTile& units, learn::Outcomes out, core::RunContext& context) const override;
  std::vector<double> importance() const override;
  learn::Description describe(const learn::Schema& schema) const override;
  void require_fits(const learn::Schema& schema, const std::string& where) const override;
  void save(learn::PartWriter part) const override;
  learn::GraphOutcomes add_to_graph(io::OnnxGraph& graph, const learn::Schema& schema,
                                    const std::vector<double>& missing) const override;

  ForestRunner runner() const { return {forest_, arm_rules(facts_.revenue), arm_rules(facts_.cost)}; }

 private:
  Forest forest_;
  learn::Facts facts_;
  std::vector<learn::WeightedPredictor> base_;
};

// The reverse of save, for the list of learners. Throws Error of kind file.
std::unique_ptr<learn::Predictor> load_forest(const learn::PartReader& part);

}  // namespace dfcl::forest

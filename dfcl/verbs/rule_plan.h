// SPDX-License-Identifier: Apache-2.0
//
// A model's plan as a policy tree over the features of its units (dfcl/policy): fitted to a sample of them, its arms
// chosen by the predicted costs of all. The units are read again, once for the sample and once for each plan, so
// features are never held but those of the sample. Memory: 2 bytes a unit, its arms open once more, and the sample.
// Internal to verbs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/plan_rule.h"
#include "dfcl/data/prediction.h"
#include "dfcl/model/model.h"
#include "dfcl/policy/policy_tree.h"

namespace dfcl::verbs {

// A plan of one arm for every unit, as the solver hands out plans.
struct RulePlan {
  data::PlanRule rule;
  core::Matrix<std::uint8_t> open;  // units x arms: only the arm of the rule
  std::unique_ptr<allocate::PlanPath> path;
  allocate::PathPlan plan;
};

class RuleUnits {
 public:
  // keys: per unit, hashes of the ids. All must outlive this.
  RuleUnits(const model::Model& model, std::string path, const data::Prediction& prediction,
            std::span<const std::uint64_t> keys, core::RunContext& context);

  // best: the solution of the same problem without a rule. Its bound holds for the rule too.
  RulePlan follow(const allocate::Problem& problem, const allocate::Solution& best, core::RunContext& context) const;

 private:
  const model::Model& model_;
  std::string path_;
  const data::Prediction& prediction_;
  core::Matrix<float> features_;  // of the sample, in an order that is not that of the units
  core::Matrix<float> revenue_;
  core::Matrix<float> cost_;
};

}  // namespace dfcl::verbs

// SPDX-License-Identifier: Apache-2.0
//
// What a plan says of each unit beside its arm, where it is asked to explain itself: predicted uplift and extra cost,
// the second-best arm, the distance to the cut in money, and the features that speak most for the arm. The units are
// read once more, in pieces. Memory: a piece of units. Internal to verbs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/plan.h"
#include "dfcl/model/model.h"

namespace dfcl::verbs {

// What the plan at `multiplier` costs, by multiplier: how far a price is from the cut, in money.
class CutDistances {
 public:
  // points: by rising spend. spend: the plan's.
  CutDistances(const allocate::Curve& curve, double spend);
  // How much less could be spent before an increment that is worth its cost up to this multiplier is given up; below
  // zero: how much more it takes to buy it.
  double at(double multiplier) const;

 private:
  std::vector<double> multiplier_, spend_;  // by falling multiplier
  double planned_;
};

class PlanReasons {
 public:
  // units: path. The rest must outlive it. Throws Error of kind usage where the model cannot explain itself.
  PlanReasons(const model::Model& model, const std::string& units, const allocate::Rules& rules,
              const allocate::Solution& solution, const allocate::Curve& curve, core::RunContext& context);
  ~PlanReasons();

  // Adds columns to the plan of the units that follow; units come in the order of the file.
  void add(const allocate::PlannedUnits& planned, data::Plan& piece);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dfcl::verbs

// SPDX-License-Identifier: Apache-2.0
//
// From multipliers to a plan that keeps to every limit: each unit takes its best score, then single changes of arm that
// lose least score for the excess they remove, then changes that gain value with what is left. Some tens of
// passes over the units, linear each; the same for any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "dfcl/allocate/coupled_model.h"
#include "dfcl/core/run_context.h"

namespace dfcl::allocate {

// A plan and what it uses of each limit.
class PlanState {
 public:
  PlanState(const CoupledModel& model, std::vector<std::uint8_t> arms, core::RunContext& context);

  const std::vector<std::uint8_t>& arms() const { return arms_; }
  std::size_t arm(std::size_t unit) const { return arms_[unit]; }
  const CoupledModel& model() const { return model_; }
  // Sum over the limits of the use beyond them, in typical uses of one unit.
  double excess() const;
  // How the excess changes if the unit changes its arm.
  double change_of_excess(std::size_t unit, std::size_t arm) const;
  void move(std::size_t unit, std::size_t arm);
  // Sums the uses anew: moves leave rounding behind.
  void recount(core::RunContext& context);

 private:
  double excess_of(std::size_t limit, double use) const;

  const CoupledModel& model_;
  std::vector<std::uint8_t> arms_;
  std::vector<double> use_;  // per limit
};

// Each unit's best score; the lower arm among equals.
std::vector<std::uint8_t> best_scores(const CoupledModel& model, const std::vector<double>& multipliers,
                                      core::RunContext& context);

// Removes the excess if it can; true if none is left.
bool repair(PlanState& state, const std::vector<double>& multipliers, core::RunContext& context);

// Raises the gain of a plan without excess by single changes of arm.
void improve(PlanState& state, const std::vector<double>& multipliers, core::RunContext& context);

}  // namespace dfcl::allocate

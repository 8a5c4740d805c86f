// SPDX-License-Identifier: Apache-2.0
//
// The Hajek estimate of a plan (eq. 16), beside the doubly robust one that the verdict rests on: it needs no nuisance,
// so where the two are far apart the nuisance is to be looked at. Intervals come from influence functions. Two passes
// over the rows for each plan; memory: 16 bytes a row or cluster.
#pragma once

#include <cstdint>
#include <span>

#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/estimators/influence.h"

namespace dfcl::evaluate {

struct HajekFigures {  // per unit
  Interval incremental_revenue;
  Interval incremental_cost;  // without ends where arms have known prices
};

class HajekBeside {
 public:
  // rows must outlive it. free_control: it is a fact that control costs nothing.
  HajekBeside(const TrialRows& rows, bool free_control, double level, core::RunContext& context);

  // plan: the arm chosen for each row.
  HajekFigures figures(std::span<const std::uint8_t> plan, core::RunContext& context) const;

 private:
  struct Means {
    double revenue = 0.0;
    double cost = 0.0;
  };
  Means means_of(std::span<const std::uint8_t> plan, core::RunContext& context) const;

  Rewards rewards_;
  double level_;
  Means control_;
  PlanSeries control_series_;
};

}  // namespace dfcl::evaluate

// SPDX-License-Identifier: Apache-2.0
//
// The area under the cost curve of one treated arm against control (eq. 17): as published, by levels of cost, and
// exactly, by trapezoids. Rows that neither earned nor cost anything change nothing on the curve and are not sorted,
// unless a step of the curve jumps over a level (levels are then caught up by the rows that follow). Time: one pass and
// a sort of the other rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/areas/ranking.h"
#include "dfcl/evaluate/curves/path_values.h"

namespace dfcl::evaluate {

struct CurveRows {
  std::span<const double> score;          // rows are ranked by it, falling; equal scores in row order
  std::span<const std::uint8_t> treated;  // 1: the treated arm, 0: control, other: not of this curve
  std::span<const float> revenue;
  std::span<const float> cost;
  std::span<const double> weight = {};  // 1 / propensity; empty: all rows alike
};

struct Aucc {
  double published = 0.0;          // random is 0.5; NaN where a total is zero
  double area = 0.0;               // of the curve from (0, 0) to (1, 1); random is 0.5; NaN likewise
  double unnormalised_area = 0.0;  // revenue x cost, per unit
  double revenue_total = 0.0;      // treated mean less control mean
  double cost_total = 0.0;
  std::size_t levels_missed = 0;     // levels of cost that no row reached
  std::size_t levels_caught_up = 0;  // taken by a later row than the one that first reached them
  bool jumped = false;               // whether some row went over more than one level at once
};

// Throws Error of kind data where one of the two arms has no row.
Aucc aucc(const CurveRows& rows, std::size_t num_levels, core::RunContext& context);

// The rows of a curve in its order, for resampling: those that earned or cost something.
struct CurveStep {
  double revenue;  // times 1 / propensity, as the cost
  double cost;
  std::uint64_t key;  // of the row's group, which draws its weights; inside aucc() 0
  std::uint32_t row;
  std::uint8_t arm;           // received; inside aucc() 1 for the treated arm, 0 for control
  std::uint16_t rows_behind;  // that change nothing, before the next step; they take levels that steps jumped over
};
// exact_gaps: rows_behind are counted, by a sort of all rows; else each step gets its share of them.
std::vector<CurveStep> curve_steps(const CurveRows& rows, const TrialRows& trial_rows, bool exact_gaps,
                                   core::RunContext& context);

struct AuccLanes {
  Lanes published{};
  Lanes area{};
  Lanes unnormalised_area{};
  Lanes revenue_total{};
  Lanes cost_total{};
};
// The same figures in a block of resamples; arm: the treated one.
AuccLanes aucc_lanes(const ResampleBlock& block, const BlockTotals& totals, std::span<const CurveStep> steps,
                     std::size_t arm, std::size_t control, std::size_t num_levels);

}  // namespace dfcl::evaluate

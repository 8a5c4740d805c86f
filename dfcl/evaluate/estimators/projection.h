// SPDX-License-Identifier: Apache-2.0
//
// Influences where propensities are estimated. To first order an estimate then moves with a unit by what the unit's
// score (data/propensity_scores.h) leaves of its influence: the residual of a projection. Where the propensities were
// fitted on more draws than are evaluated, a share r of them, only the share r of what the projection explains is gone,
// which is the residual with the factor 1 - sqrt(1 - r). The scores' information is (diag(p) - p p') x the covariance
// of the columns, as it is where arms hardly differ; the degrees of freedom that the projection takes are given back.
// Shares, covariance and scores count units by sample weight, as the propensities' fit does.
// Time: two passes over the draws, columns x arms each; a draw's columns are made once a pass. Memory: 16 bytes a draw,
// and 64 partial sums of arms x columns.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/estimators/influence.h"

namespace dfcl::evaluate {

// Does nothing where the rows' propensities are known.
void project_on_scores(const TrialRows& rows, PlanSeries& series, core::RunContext& context);

// The scores of the rows' draws, and the slopes of influences on them. For rows with propensity_scores only.
class ScoreProjection {
 public:
  // What is kept of one draw while it is looked at; one for each thread.
  struct Draw {
    std::vector<float> columns;
    std::vector<double> probability;
    std::vector<double> surplus;   // per arm: sum over its rows of (1[t = j] - p_j) / units of the draw
    std::vector<double> weighted;  // the same with sample weights, as the model was fitted
  };

  explicit ScoreProjection(const TrialRows& rows);

  std::size_t num_draws() const { return rows_.draws.begin.size() - 1; }
  // What is drawn as one in a resample; all draws of a group stand together.
  std::size_t group(std::size_t draw) const { return rows_.group(rows_.draws.row[rows_.draws.begin[draw]]); }
  std::size_t size() const { return rows_.num_arms() * width_; }  // of products and slopes: arms x (1 + columns)
  // False where there are too few rows for so many columns: the wider interval stays.
  bool is_possible() const { return is_possible_; }
  double factor() const { return factor_; }    // of what is subtracted
  double freedom() const { return freedom_; }  // factor of a standard error

  Draw new_draw() const;
  void look_at(std::size_t draw, Draw& found) const;
  // Adds influence x score to products; surplus: of the draw, one of the two.
  void add(const Draw& draw, const std::vector<double>& surplus, double influence, double* products) const;
  // Products to slopes, in place: divides by the information of the scores.
  void divide(std::span<double> products) const;
  // Slopes x the draw's score, by sample weight.
  double score(const Draw& draw, const double* slopes) const;

 private:
  const TrialRows& rows_;
  const data::PropensityScores& scores_;
  std::size_t width_;          // the intercept and the columns
  std::vector<double> share_;  // per arm, by sample weight
  double evaluated_draws_ = 0.0;
  double factor_ = 0.0;
  double freedom_ = 1.0;
  bool is_possible_ = false;
};

}  // namespace dfcl::evaluate

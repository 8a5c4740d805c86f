// SPDX-License-Identifier: Apache-2.0
//
// What plans are worth: any predictions, and rows of a trial on which they were not fitted, to figures with intervals.
// Never sees a model. Deployed plans are made from predictions alone and held fixed in every resample; matched plans
// look at the outcomes, as published, and no coverage is claimed for them. Formulas: section 6 of docs/method.md.
// Time: for each model one sort of its path and, for each 16 resamples, one walk along it and one pass over the rows.
// Memory beside the inputs: about 100 bytes a row and arm, for one model at a time, and 2 KB a resample.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dfcl/allocate/allocate.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/budgets.h"
#include "dfcl/data/question_tree.h"
#include "dfcl/evaluate/areas/ranking.h"
#include "dfcl/evaluate/estimators/estimators.h"
#include "dfcl/evaluate/estimators/resample.h"
#include "dfcl/evaluate/estimators/trial_rows.h"
#include "dfcl/evaluate/evaluation.h"
#include "dfcl/evaluate/words.h"

namespace dfcl::evaluate {

// A tree of questions, and the leaf of each row.
struct LeafRows {
  data::QuestionTree tree;
  std::vector<std::uint8_t> leaf_of_row;
};

// A plan as a short rule. Fitted to predictions for rows that are not evaluated.
struct JudgedTree {
  LeafRows rows;
  std::vector<std::uint8_t> arm_of_leaf;
  double multiplier = 0.0;  // price of cost in the scores that it was fitted to
};

struct JudgedModel {
  std::string name;
  std::string method = {};
  bool is_index = false;
  Outcomes prediction = {};                        // rows x arms, in the order of the rows and arms of the trial
  std::vector<FeatureImportance> importance = {};  // passed on
  bool is_alternative = false;     // a setting tried beside others: never launched, no burden on what others must show
  std::vector<double> price = {};  // the known price of each arm, which the predicted costs are; empty: none
  std::span<const std::uint64_t> keys = {};  // break ties, per row; empty: the keys of the rows
  std::vector<JudgedTree> trees = {};        // per budget, as given; empty: none
};

// Mean outcomes of every arm, from rows that are not evaluated: what baselines are made of.
struct ArmMeans {
  std::vector<double> revenue;  // per arm, per unit
  std::vector<double> cost;
  bool from_other_rows = true;  // false: from the evaluated rows, which flatters the baselines
};
// Over the units of a trial outside a split; over all where it leaves none of some arm, or where none is named.
ArmMeans arm_means(const data::Trial& trial, std::optional<data::Split> evaluated, core::RunContext& context);

// What the study states of costs; intervals keep to it.
struct CostLimits {
  bool control_is_free = false;
  bool non_negative = false;
  bool rises_with_arm = false;
};

struct SegmentColumn {
  std::string name;
  std::vector<std::uint32_t> value_of_row;  // index into values
  std::vector<std::string> values;
};

struct EvaluationOptions {
  Estimator estimator = Estimator::doubly_robust;
  std::vector<double> budgets_per_unit = {};                  // in the basis
  data::BudgetBasis budget_basis = data::BudgetBasis::total;  // incremental: above everyone in control
  std::size_t num_resamples = 1000;                           // 0: no intervals by resampling
  bool analytic = false;  // intervals of plans from influence functions; areas get none
  Weights weights = Weights::poisson;
  double level = 0.95;
  bool areas = true;             // AUCC, Qini and AUUC, which take about half of the time
  bool heterogeneity = true;     // uplift by decile and effects by segment
  std::size_t num_levels = 200;  // Q of eq. 17
  Ranking ranking = Ranking::angle;
  std::size_t num_curve_points = 41;
  std::optional<double> value_per_revenue = {};  // of one unit of revenue, in the currency of cost; none: not known
  CostLimits cost_limits = {};
  Words words = {};
  std::string unfit_because = {};  // what is wrong with the trial; "": nothing
  bool is_adjusted = false;        // the propensities of the rows are estimated, for the arms are a little imbalanced
  std::string not_pre_declared = {};  // what is done otherwise than the study declares; "": nothing
};

struct EvaluationInput {
  const TrialRows& rows;
  std::vector<JudgedModel> models;
  Outcomes nuisance = {};          // for doubly robust only
  std::string nuisance_name = {};  // in words
  Outcomes truth = {};             // true expected outcomes; empty: not known
  std::vector<SegmentColumn> segments = {};
  std::optional<LeafRows> segment_tree = {};  // segments found on rows that are not evaluated
  std::string no_trees_because = {};          // where there are neither trees nor a segment tree: why
  // What plans keep to, as allocate does; the control is that of the trial.
  allocate::Rules rules = {};
  core::MatrixView<const std::uint8_t> eligible = {};  // rows x arms, 0: the row may not get the arm; empty: all may
  std::optional<ArmMeans> arm_means = {};              // none: of the rows themselves
  std::span<const std::uint8_t> rule = {};             // per row, the arm of today's rule; empty: none
  // The model that all others are compared with; none: the one with the best estimates, whatever the order of the
  // models.
  std::optional<std::size_t> reference = {};
};

// Throws Error of kind usage for options that make no sense.
Evaluation evaluate(const EvaluationInput& input, const EvaluationOptions& options, core::RunContext& context);

}  // namespace dfcl::evaluate

// SPDX-License-Identifier: Apache-2.0
//
// Where effects are large, for whom, and what a short rule would earn: figures of an evaluation, described for results
// files in report/evaluation/heterogeneity_description.cpp. Everything is per unit. Size does not grow with the rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/data/question_tree.h"
#include "dfcl/evaluate/estimators/intervals.h"

namespace dfcl::evaluate {

// A tenth of the units, by falling predicted uplift.
struct UpliftDecile {
  std::size_t num_units = 0;
  double predicted = 0.0;              // mean predicted uplift
  Interval uplift;                     // estimated
  Interval difference_in_means;        // treated less control; NaN for a plan's own ranking
  double predicted_cost = 0.0;         // over control
  Interval cost;                       // estimated, over control; without ends where prices are known
  std::optional<double> planned = {};  // share of these units that the plan treats; of a plan's own ranking
};

// A point of a curve that follows a ranking, beside a ranking at random.
struct RankedPoint {
  double x = 0.0;
  double value = 0.0;
  double random = 0.0;
};

// One ranking of the units: by the predicted uplift of an arm over control, or by what the plan at a budget goes by,
// the net score of the best treated arm.
struct UpliftFigures {
  std::string arm;                             // label; "": the plan's own ranking
  std::optional<double> budget_per_unit = {};  // of the plan's own ranking
  std::vector<UpliftDecile> deciles;           // most predicted uplift first
  double predicted = 0.0;                      // of all units, as the next
  Interval uplift;
  // Of the estimated effects of units on the predicted ones: 1 as predicted, 0 no relation. NaN where all predictions
  // are the same.
  Interval calibration_slope;
  std::string sentence;
  std::vector<RankedPoint> qini_curve = {};  // x: share of the ranking; of an arm, as the next
  std::vector<RankedPoint> cost_curve = {};  // x: cost over control
};

// One arm against control in one segment.
struct ArmEffect {
  std::string arm;
  std::size_t num_treated = 0;  // units that received the arm
  std::size_t num_control = 0;
  Interval revenue;  // over control; NaN where there are too few units
  double simultaneous_low = Interval::kNone;
  double simultaneous_high = Interval::kNone;
  Interval cost;       // over control
  std::string answer;  // yes: the arm earns more; no: less; not_shown; too_few
};
struct SegmentEffect {
  std::string value;
  std::size_t num_units = 0;
  double share = 0.0;
  std::vector<ArmEffect> arms;  // treated ones
};
struct SegmentEffects {
  std::string column;  // "" for segments that a tree found, and for all units
  std::string found;   // all, column, tree
  std::vector<SegmentEffect> values;
  std::vector<data::QuestionNode> nodes = {};  // of the tree; its leaves are the values
};

struct PolicyLeaf {
  std::string units;  // in words: "region is north and orders more than 2"
  std::string arm;
  std::size_t num_units = 0;
  double share = 0.0;
  double predicted_revenue = 0.0;  // over control, as the next three
  double predicted_cost = 0.0;
  Interval revenue;
  Interval cost;
};

// The plan at a budget as a short rule, fitted to predictions for rows that are not evaluated.
struct PolicyTreeFigures {
  double budget_per_unit = 0.0;
  double multiplier = 0.0;  // price of cost in the scores that it was fitted to
  std::vector<data::QuestionNode> nodes;
  std::vector<PolicyLeaf> leaves;
  Interval incremental_revenue;  // over everyone in control
  Interval incremental_cost;
  Interval spend_over_budget;
  double predicted_cost = 0.0;  // over everyone in control
  // Tree less plan: revenue - price x cost at a common price (eq. 20), and the parts.
  double price = 0.0;
  Interval net_difference;
  Interval revenue_difference;
  Interval cost_difference;
  std::string answer;  // yes: better than the plan; no: worse; not_shown
  std::string sentence;
};

}  // namespace dfcl::evaluate

// SPDX-License-Identifier: Apache-2.0
//
// What an evaluation says: plain figures, each with its interval; evaluate.h makes it, report/evaluation describes it
// for results files. Everything is per unit. Size does not grow with the rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/evaluate/effects/fit.h"
#include "dfcl/evaluate/estimators/intervals.h"
#include "dfcl/evaluate/heterogeneity/heterogeneity_figures.h"

namespace dfcl::evaluate {

// What a plan does to a further outcome, of which more is worse.
struct GuardrailFigures {
  std::string name;
  Interval control;    // mean of everyone in control, per unit
  Interval increment;  // over that, per unit
  Interval relative;   // share of it; NaN where it is zero
  // The ends of the increment that hold for all guardrails, plans that may be launched and baselines at once.
  double simultaneous_low = Interval::kNone;
  double simultaneous_high = Interval::kNone;
  std::string harmed = {};  // yes: it rises; no: it does not; not_shown
  std::string sentence = {};
};

// What a plan at a budget is estimated to earn and cost.
struct JudgedPlan {
  double budget_per_unit = 0.0;  // in the basis of the evaluation
  double multiplier = 0.0;
  bool feasible = true;  // false: even the cheapest plan is predicted (matched: found) to spend more
  Interval revenue;
  Interval incremental_revenue;  // over everyone in control
  Interval cost;                 // control's included; without ends where prices are known
  Interval incremental_cost;     // over everyone in control
  Interval return_per_cost;      // incremental revenue per incremental cost; NaN where it is not defined
  Interval spend_over_budget;    // cost less budget, both in the budget's basis
  // Where it is known what revenue is worth: worth x incremental revenue - incremental cost, and that per cost.
  std::optional<Interval> incremental_profit = {};
  std::optional<Interval> roi = {};
  // Beside the doubly robust figures, deployed plans only: the same by Hajek, which needs no nuisance.
  std::optional<Interval> hajek_incremental_revenue = {};
  std::optional<Interval> hajek_incremental_cost = {};
  // With ends that hold for all plans that may be launched and all baselines at once; deployed plans only.
  Interval simultaneous_increment = {};
  std::optional<Interval> simultaneous_profit = {};
  std::string pays_back = {};  // yes, no, not_shown; depends: a gain is shown, what revenue is worth is not known
  std::string note = {};       // why a return is not defined, where a fact cut an interval; "": nothing
  double predicted_revenue = 0.0;
  double predicted_cost = 0.0;
  std::vector<double> share_per_arm;
  std::vector<GuardrailFigures> guardrails = {};  // deployed plans and baselines only
  // With a truth only.
  std::optional<double> true_revenue = {};
  std::optional<double> true_cost = {};
  std::optional<double> share_of_oracle = {};  // of the oracle's increment at the same true spend
};

struct CurvePointFigures {
  double budget_per_unit = 0.0;
  double multiplier = 0.0;
  Interval cost;
  Interval revenue;
  Interval incremental_revenue;
  std::vector<double> share_per_arm;
  std::optional<Interval> incremental_profit = {};
};

// Of one treated arm against control.
struct AuccFigures {
  std::string arm;
  Interval published;
  std::size_t levels = 0;
  Interval area;
  Interval unnormalised_area;
  std::string note;  // why there is no interval, levels that were skipped, totals with the wrong sign
};

struct QiniFigures {
  std::string arm;
  Interval qini;       // share of the best ranking's area; NaN where that is not above zero
  Interval qini_area;  // per unit
  Interval auuc;
};

struct SegmentValue {
  std::string value;
  std::size_t num_units = 0;
  std::vector<std::vector<double>> share_per_arm;  // per budget
  std::vector<double> cost_per_unit;               // per budget
  std::vector<double> revenue_per_unit;            // per budget
};
struct SegmentFigures {
  std::string column;
  std::vector<SegmentValue> values;
};

struct FitFigures {
  OutcomeFit revenue;
  OutcomeFit cost;
  std::vector<CalibrationGroup> revenue_calibration;
  std::vector<CalibrationGroup> cost_calibration;
};

// How much a feature decides about the effects: its share of all.
struct FeatureImportance {
  std::string feature;
  double share = 0.0;
};

struct ModelFigures {
  std::string name;
  std::string method;                // "" where it is not known
  bool is_index = false;             // efficiencies, not outcomes
  bool is_alternative = false;       // a setting that is tried beside others: never the one to launch
  std::vector<JudgedPlan> deployed;  // per budget
  std::vector<JudgedPlan> matched;   // per budget
  std::vector<CurvePointFigures> curve;
  std::vector<AuccFigures> aucc;  // per treated arm
  std::vector<QiniFigures> qini;  // per treated arm
  std::optional<FitFigures> fit;
  std::vector<SegmentFigures> segments;
  std::vector<FeatureImportance> importance = {};    // falling; where the model knows it
  std::vector<UpliftFigures> uplift = {};            // per treated arm, then the plan's own ranking at each budget
  std::vector<PolicyTreeFigures> policy_trees = {};  // per budget; empty: none could be fitted
};

// Deployed revenue of a model less that of another, the reference, at one budget.
struct DifferenceFigures {
  std::string model;
  std::string reference;
  double budget_per_unit = 0.0;
  Interval revenue;
  // Over all models and budgets, of models that may be launched over those alone; NaN where there is none.
  double simultaneous_low = 0.0;
  double simultaneous_high = 0.0;
  Interval relative;  // share of the reference's revenue
  Interval cost;
  double p_value = 1.0;
  std::string sentence;
};

struct AuccDifferenceFigures {
  std::string model;
  std::string reference;
  std::string arm;
  Interval published;
  Interval area;
  double p_value = 1.0;  // of the area; NaN where there is no interval
  std::string sentence;
};

// What plans are compared with: plans that need no model.
struct BaselineFigures {
  std::string kind;                      // random, single_arm, control, rule
  std::vector<std::string> names;        // in words, per budget: "arm '10' for everyone"
  std::vector<JudgedPlan> plans;         // per budget
  std::vector<CurvePointFigures> curve;  // of random only
};

// A model's deployed plan less a baseline's, at one budget, on the same resamples.
struct BaselineDifferenceFigures {
  std::string model;
  std::string baseline;  // its kind
  double budget_per_unit = 0.0;
  double price = 0.0;  // revenue per cost at which the difference in spend is charged (eq. 20)
  Interval net;        // difference in revenue - price x difference in cost
  double simultaneous_low = 0.0;
  double simultaneous_high = 0.0;
  Interval revenue;  // differences as they stand
  Interval cost;
  double plan_cost = 0.0;  // spends as they stand
  double baseline_cost = 0.0;
  std::optional<Interval> profit = {};
  std::string answer;  // yes: the model beats it; no: it is beaten; not_shown
  std::string sentence;
};

struct OraclePoint {
  double budget_per_unit = 0.0;
  double cost = 0.0;
  double revenue = 0.0;
  double incremental_revenue = 0.0;
};
struct OracleFigures {
  std::vector<OraclePoint> curve;
  std::vector<OraclePoint> at_budgets;
};

struct Verdict {
  std::string status;  // launch, roll_out, pays_back, keep_rule, harms, gain_shown, not_shown, loses, unfit
  std::string sentence;
  std::vector<std::string> details;
  // Of an evaluation: its two answers, and the plan that they are about.
  std::string pays_back = {};     // yes, no, not_shown, depends
  std::string beats_random = {};  // yes, no, not_shown
  std::string model = {};
  double budget_per_unit = Interval::kNone;
  std::string not_pre_declared = {};  // what was done otherwise than the study declares; "": nothing
};

struct TrialArm {
  std::string label;
  bool is_control = false;
  std::size_t num_units = 0;
};

struct Evaluation {
  std::vector<TrialArm> arms;
  std::size_t num_units = 0;
  std::size_t num_clusters = 0;  // 0: none declared
  std::string estimator;
  std::string nuisance;   // in words
  std::string intervals;  // bootstrap or analytic
  std::size_t num_resamples = 0;
  double level = 0.95;
  Interval control_revenue;
  Interval control_cost;
  std::vector<double> budgets_per_unit;
  std::string budget_basis = "total";            // or incremental: above everyone in control
  bool cost_is_known = false;                    // arms have prices: the cost of a plan is a fact, not an estimate
  std::optional<double> value_per_revenue = {};  // what one unit of revenue is worth, in the currency of cost
  std::vector<ModelFigures> models;
  std::size_t reference = 0;  // of `models`: what the others are compared with
  std::vector<DifferenceFigures> differences;
  std::vector<AuccDifferenceFigures> aucc_differences;
  std::vector<BaselineFigures> baselines;                       // random first
  std::vector<BaselineDifferenceFigures> baseline_differences;  // per model, baseline and budget
  std::optional<OracleFigures> oracle;
  std::vector<SegmentEffects> effects = {};  // all units first
  Verdict verdict;
  std::vector<std::string> how;  // in words: how it was made, and its limits
};

}  // namespace dfcl::evaluate

// SPDX-License-Identifier: Apache-2.0
//
// Is this trial fit to learn from? Describes the arms, tests the sample ratio and the balance of the features, and
// looks for missing, constant, duplicated and post-treatment data; the verdict is in words. Use it before any training.
// Formulas: docs/check.md. Time: three passes over the features, one covariance of at most 250,000 draws, one sort of
// 64-bit hashes. Memory beside the trial: 8 bytes a unit for duplicated ids; where units form groups (a cluster, or an
// id that comes back over time) up to 32 bytes a unit; at most 16 matrices of columns x columns for the covariance.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/core/interval.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/report_words.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

using core::Interval;  // of 95 %; low and high are NaN where no spread can be estimated

struct Difference {  // from control
  Interval interval;
  double p = 1.0;
};

struct ArmSummary {
  std::string label;
  std::size_t num_units = 0;
  std::size_t num_clusters = 0;  // with units in this arm; 0 where no cluster is declared
  double share = 0.0;            // of the units
  std::optional<double> designed_share;
  Interval revenue;                              // mean per unit
  Interval cost;                                 // mean per unit
  std::optional<Difference> revenue_difference;  // none for control
  std::optional<Difference> cost_difference;
  std::size_t num_with_revenue = 0;  // units whose revenue is not 0
};

// What received its arm in one draw of the randomisation, as far as the data show it.
enum class Drawn { unit, cluster, cluster_and_time };
std::string_view to_text(Drawn drawn);

struct SampleRatioTime {
  std::string time;
  std::size_t num_draws = 0;
  double chi_square = 0.0;
  double p = 1.0;
  bool reliable = false;  // false where fewer than 5 draws are expected in some arm: p is then a rough guide
};

struct SampleRatio {
  bool run = false;
  std::string why_not;
  std::vector<std::size_t> observed;  // draws per arm
  std::vector<double> expected;       // draws per arm
  double chi_square = 0.0;
  double degrees = 0.0;
  double p = 1.0;
  std::vector<SampleRatioTime> times;  // empty where no time is declared
  // The chi-squares of the times added up; only where each time has draws of its own.
  bool pooled_run = false;
  double pooled_chi_square = 0.0;
  double pooled_degrees = 0.0;
  double pooled_p = 1.0;
};

struct FeatureBalance {
  std::string name;
  bool tested = false;      // false where too few units differ from the rest (docs/check.md)
  double difference = 0.0;  // largest standardised mean difference from control, over arms, signed, cut at +-100
  std::string arm;          // where it is largest
  std::string what;         // "value", "missing" or "= level": which aspect of the feature
  double p = 1.0;           // of no difference between any arms, for this feature alone
};

enum class BalanceMethod { joint, smallest_p };

struct Balance {
  bool run = false;
  std::string why_not;
  // joint: one statistic of all columns. smallest_p: the smallest p of the features times their number (Bonferroni),
  // where propensities vary between units of an arm or there are too many columns for a joint statistic.
  BalanceMethod method = BalanceMethod::joint;
  double statistic = 0.0;                // joint only
  double degrees = 0.0;                  // joint only
  double p = 1.0;                        // of all features together; suspects are left out, here and below
  double smallest_p = 1.0;               // of a single feature, times the number of features
  std::size_t num_columns = 0;           // independent numeric columns the features were turned into
  std::vector<FeatureBalance> features;  // in the trial's order
};

struct ColumnSummary {
  std::string name;
  bool categorical = false;
  double missing_share = 0.0;
  std::vector<double> missing_share_per_arm;
  bool constant = false;  // one value everywhere, or none at all
};

// A further outcome, reported for every plan later.
struct GuardrailSummary {
  std::string name;
  std::vector<double> mean;  // per arm, weighted as revenue is
};

struct Duplicates {
  std::string key;                  // "id" or "id and time"; "" where the trial has no id column
  std::size_t num_ids = 0;          // keys that occur more than once
  std::size_t num_rows = 0;         // rows beyond the first of their key
  std::size_t num_in_two_arms = 0;  // keys with more than one arm
  std::vector<std::string> examples;
};

enum class SuspectOf { arm, revenue };  // what a feature tells

struct Suspect {
  std::string name;
  std::string why;
  std::string hint;
  SuspectOf of = SuspectOf::arm;
};

// balanced: learn from it as it is. adjustable: the features differ between arms beyond chance, but by less than 0.1
// standard deviations, and the sample ratio is in order: weight by estimated propensities (propensities.h) and read
// with care. unfit: there are problems.
enum class Grade { balanced, adjustable, unfit };
std::string_view to_text(Grade grade);

struct Finding {
  std::string kind;  // one word for machines: sample-ratio, balance, suspect, duplicates, ...
  std::string text;
  std::string hint;
};

struct CheckResult {
  std::size_t num_units = 0;
  std::size_t num_features = 0;
  std::size_t num_clusters = 0;
  std::size_t num_times = 0;
  std::string control;  // label
  Drawn drawn = Drawn::unit;
  std::size_t num_draws = 0;
  std::size_t num_mixed_groups = 0;  // clusters that hold more than one arm
  bool weighted = false;             // means are weighted by 1 / propensity
  bool has_sample_weights = false;   // means and balance are weighted by them; counts of units are not
  std::vector<ArmSummary> arms;
  SampleRatio sample_ratio;
  Balance balance;
  std::vector<ColumnSummary> columns;
  std::vector<GuardrailSummary> guardrails;
  Duplicates duplicates;
  std::vector<Suspect> suspects;
  bool fit = true;  // no problems
  Grade grade = Grade::balanced;
  double largest_difference = 0.0;  // largest standardised difference of a feature that is no suspect, in size
  std::vector<Finding> problems;    // each makes the trial unfit
  std::vector<Finding> warnings;
  std::vector<std::string> notes;  // the trial's own: what reading did
  data::ReportWords words;         // of the study
};

struct CheckOptions {
  double unfit_p = 0.001;                  // sample ratio, joint balance, and (over the features' number) suspects
  double suspect_difference = 0.5;         // standardised mean difference that no randomisation yields
  double adjustable_difference = 0.1;      // standardised mean differences below it can be adjusted
  double suspect_explained = 0.95;         // share of the revenue's variance that no feature from before explains
  double suspect_missing = 0.05;           // difference between arms in the missing share
  double unfit_duplicates = 0.01;          // share of rows that repeat an id
  std::size_t max_levels = 30;             // of a category, most frequent first, that are compared one by one
  std::size_t max_columns = 1000;          // beyond it the joint statistic gives way to the smallest p
  std::size_t covariance_draws = 250'000;  // sampled for the covariance of the columns
  std::size_t quantile_rows = 100'000;     // sampled for the limits and levels of the columns
};

CheckResult check_trial(const data::Trial& trial, const data::Study& study, core::RunContext& context,
                        const CheckOptions& options = {});

}  // namespace dfcl::check

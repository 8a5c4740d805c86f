// SPDX-License-Identifier: Apache-2.0
//
// The rows of a trial that an evaluation looks at: one split, without the features, in the order of their keys. A key
// is a hash of id (and time), so neither the order of a file's rows nor how a trial is cut into files shows in any
// result: sums run, ties are broken and resamples are drawn by key. Without ids the row number is the key. Checked on
// the way: every arm has units, and something was earned. Memory: about 33 bytes a row, 8 more with sample weights and
// 8 more with estimated propensities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dfcl/data/trial.h"

namespace dfcl::evaluate {

struct GuardedOutcome {
  std::string name;
  std::vector<float> value;  // per row
};

// Rows by what was drawn into an arm as one; the draws of a cluster stand together.
struct DrawnRows {
  std::vector<std::uint32_t> row;
  std::vector<std::uint32_t> begin;  // per draw, and the end
  double evaluated = 0.0;            // draws, each by the share of its units that are rows
};

struct TrialRows {
  data::Arms arms;
  data::Ids ids;
  std::vector<std::size_t> trial_row;  // per row, its place in the trial
  std::vector<std::uint64_t> key;      // per row, rising
  std::vector<std::uint8_t> arm;       // received
  std::vector<float> revenue;
  std::vector<float> cost;
  data::CostFacts cost_facts;              // prices or rates of the arms, where the study knows them
  std::vector<double> weight;              // 1 / probability of the arm received (w of section 1)
  bool has_propensity = false;             // else the weights are N / N_j, by sample weight
  std::vector<double> sample;              // sample weight, of mean 1; empty: every row counts alike
  std::vector<std::uint32_t> cluster;      // dense index among these rows; empty: every row is its own
  std::vector<std::uint64_t> cluster_key;  // per cluster: the smallest key of its units in the whole trial
  std::size_t num_clusters = 0;            // 0: none declared
  std::vector<std::size_t> arm_units;      // per arm
  std::vector<double> arm_weight;          // per arm, the sum of sample weights

  std::vector<GuardedOutcome> guardrails = {};
  // Where propensities were estimated: by what, and the trial whose units the rows are, which must outlive this.
  std::shared_ptr<const data::PropensityScores> propensity_scores = {};
  DrawnRows draws = {};  // empty without propensity_scores
  const data::Trial* trial = nullptr;

  // The price of each arm; empty unless every unit costs its arm's price.
  std::span<const double> prices() const {
    return cost_facts.kind == data::CostKind::price ? std::span<const double>(cost_facts.per_arm)
                                                    : std::span<const double>();
  }
  // The share of revenue that each arm costs; empty unless that is how costs come about.
  std::span<const double> rates() const {
    return cost_facts.kind == data::CostKind::rate ? std::span<const double>(cost_facts.per_arm)
                                                   : std::span<const double>();
  }
  // How many units of the population a row stands for, 1 on average.
  double sample_weight(std::size_t row) const { return sample.empty() ? 1.0 : sample[row]; }
  // Times 1 / probability of its arm.
  double total_weight(std::size_t row) const { return sample_weight(row) * weight[row]; }
  std::size_t size() const { return arm.size(); }
  std::size_t num_arms() const { return arms.size(); }
  // What is drawn as one in a resample.
  std::size_t group(std::size_t row) const { return cluster.empty() ? row : cluster[row]; }
  // Draws its weights.
  std::uint64_t group_key(std::size_t row) const { return cluster.empty() ? key[row] : cluster_key[cluster[row]]; }
  std::size_t num_groups() const { return cluster.empty() ? size() : num_clusters; }
};

// split: none means all units. Throws Error of kind data where the split is empty, an arm has fewer than two units (or
// clusters) in it, or nobody earned anything.
TrialRows rows_of(const data::Trial& trial, std::optional<data::Split> split);

// Chosen units; `name` is what errors call them.
TrialRows rows_of(const data::Trial& trial, std::vector<std::size_t> units, const std::string& name);

}  // namespace dfcl::evaluate

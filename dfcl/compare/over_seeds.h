// SPDX-License-Identifier: Apache-2.0
//
// What training again with another seed changes: means and standard deviations over the seeds of a comparison, and
// differences from the reference by pairs of equal seeds, with t-intervals. These say how much the luck of training
// matters; intervals over test units (dfcl/evaluate) say how much the luck of the trial matters. Neither holds the
// other. Needs an evaluation of all models; time and memory grow with its figures.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/interval.h"
#include "dfcl/evaluate/evaluation.h"

namespace dfcl::compare {

using core::Interval;

// One figure of one entry.
struct SeedFigure {
  std::string figure;  // revenue, cost, matched_revenue, gain, share_of_oracle, aucc, revenue_mse, revenue_log_loss ...
  double budget_per_unit = std::numeric_limits<double>::quiet_NaN();  // NaN: over all budgets, or without one
  std::string arm = {};                                               // of aucc
  std::vector<std::uint64_t> seeds = {};
  std::vector<double> values = {};  // one for each seed
  double mean = 0.0;
  double sd = std::numeric_limits<double>::quiet_NaN();  // NaN with one seed
  core::Interval difference = {};  // of the mean from the reference's, over pairs of seeds; ends NaN with one pair
};

// The mean over the seeds, with its t-interval where there are several.
Interval mean_interval(const SeedFigure& figure, double level);

struct SeedEntry {
  std::string name;
  std::vector<SeedFigure> figures;
};

// Which model of an evaluation belongs to which entry and seed.
struct TrainedModel {
  std::size_t entry = 0;
  std::uint64_t seed = 0;
};

// `trained` is as evaluation.models; entry 0 is the reference. Entries without a model have no figures.
std::vector<SeedEntry> over_seeds(const evaluate::Evaluation& evaluation, std::span<const TrainedModel> trained,
                                  std::span<const std::string> names, double level);

}  // namespace dfcl::compare

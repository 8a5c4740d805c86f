// SPDX-License-Identifier: Apache-2.0
//
// A randomised trial in memory: what was known of each unit, the arm it got, what it earned and cost. Memory:
// 4 x units x features bytes for the features, about 30 bytes a unit for the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/column.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/arms.h"
#include "dfcl/data/cost_facts.h"
#include "dfcl/data/features.h"
#include "dfcl/data/ids.h"
#include "dfcl/data/propensity_scores.h"

namespace dfcl::data {

enum class Split : std::uint8_t { train = 0, validation = 1, test = 2 };

// A further outcome, reported for every plan and never optimised.
struct Guardrail {
  std::string name;           // of its column
  core::Column<float> value;  // per unit
};

struct Trial {
  Arms arms;
  Features features;               // units x features
  Ids ids;                         // row numbers (the first is 1) where the study names no id column
  core::Column<std::uint8_t> arm;  // index into arms
  core::Column<float> revenue;     // per unit, currency of the study
  core::Column<float> cost;        // per unit; made from the facts where they are known
  CostFacts cost_facts;            // prices or rates of the arms, where the study knows them
  core::Column<float> propensity;  // of the arm received; empty: the arm shares
  std::shared_ptr<const PropensityScores> propensity_scores = {};  // null: propensities were not estimated
  // Sample weight, above 0: how many units a row stands for. Only proportions count, so equal ones are left out.
  core::Column<float> weight;           // empty: every row counts alike
  core::Column<std::uint32_t> cluster;  // dense index; empty: every unit is its own
  std::size_t num_clusters = 0;         // 0: none declared
  // Per cluster, the hash of its label, rising; empty where a trial was not read from a table (unit_key.h).
  core::Column<std::uint64_t> cluster_key;
  core::Column<std::uint32_t> time;  // index into times; empty: none declared
  std::vector<std::string> times;    // in rising order: as numbers if all are, else as text
  core::Column<Split> split;         // per unit
  std::vector<Guardrail> guardrails;
  // Of everything above but the split and the guardrails; independent of the file format and of how rows are cut into
  // files and, where units have ids, of the order of the rows.
  std::uint64_t fingerprint = 0;
  std::vector<std::string> notes;  // what reading did that the user should know: winsorised, pooled, dropped

  std::size_t num_units() const { return arm.size(); }
  double sample_weight(std::size_t unit) const { return weight.empty() ? 1.0 : static_cast<double>(weight[unit]); }
  bool has_time() const { return !times.empty(); }
  bool has_clusters() const { return num_clusters > 0; }
};

// The fingerprint of the trial's contents (see Trial::fingerprint). One pass over memory.
std::uint64_t fingerprint_of(const Trial& trial, core::RunContext& context);

}  // namespace dfcl::data

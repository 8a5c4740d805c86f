// SPDX-License-Identifier: Apache-2.0
//
// Which columns are outcomes: revenue differs between arms, cost is zero in control and not elsewhere. Evidence from
// the arms counts first, the shape of a column and its name decide between the rest. A column that is non-zero only
// where another is ("conversion" within "visit") comes after it. Time: a few passes per candidate.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/check/roles/arm_choice.h"
#include "dfcl/check/roles/arm_difference.h"
#include "dfcl/data/table_sample.h"

namespace dfcl::check {

// What is known of the columns once the arm is.
struct ColumnEvidence {
  std::vector<ArmDifference> differences;  // per column
  std::vector<bool> taken;                 // per column: has a role, or is a name of something
  double num_tested = 1.0;                 // columns that were looked at: p-values are multiplied by it

  double corrected_p(std::size_t column) const;
};

struct RoleChoice {
  std::optional<std::size_t> column;
  bool is_sure = false;
  std::string reason;
};

RoleChoice choose_revenue(const data::TableSample& sample, const ColumnEvidence& evidence);

// revenue: none where it was not found.
RoleChoice choose_cost(const data::TableSample& sample, const ColumnEvidence& evidence, const ArmChoice& arm);
// An outcome that stands for the cost where nothing is zero in control: visits, clicks.
RoleChoice choose_stand_in(const data::TableSample& sample, const ColumnEvidence& evidence, std::size_t revenue);

// Rates by which the cost is a multiple of revenue, per arm; empty where it is none.
std::vector<double> exact_rates(const data::TableSample& sample, const ArmChoice& arm, std::size_t revenue,
                                std::size_t cost);

// Every non-zero row of `inner` is one of `outer`, which has a smaller probability than `by_chance` if they have
// nothing to do with each other.
bool is_within(const data::SampledColumn& inner, const data::SampledColumn& outer, double by_chance = 1e-6);

// The share of zeros, and of values below zero, among those there are.
double zero_share(const data::SampledColumn& column);
double negative_share(const data::SampledColumn& column);

std::string p_words(double p);  // "p = 0.03", "p < 1e-9"

}  // namespace dfcl::check

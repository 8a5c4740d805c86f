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

// What a column of an outcome holds, from the least to the most like money.
enum class OutcomeKind { flag, count, amount };
OutcomeKind outcome_kind(const data::SampledColumn& column);

// Its name says that more of it is a loss (churn, refunds), and not that it was measured before.
bool is_loss(const std::string& name);

// An amount before a count before a flag; never what is a loss.
RoleChoice choose_revenue(const data::TableSample& sample, const ColumnEvidence& evidence);

// Outcomes that are a loss, in the order of the columns: to be watched, never earned.
std::vector<RoleChoice> choose_guardrails(const data::TableSample& sample, const ColumnEvidence& evidence,
                                          std::optional<std::size_t> revenue);

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

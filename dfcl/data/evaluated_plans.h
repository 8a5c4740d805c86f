// SPDX-License-Identifier: Apache-2.0
//
// What plans of a model were worth on units of its trial that it had not seen, by spend: the check on what a plan
// promises. Kept in the model, and in predictions made by it, so that allocate can put it beside any plan. All amounts
// are per unit and over everyone in control, so they carry over to another number of units of the same kind. At most
// kMostEvaluatedPlans plans of seven numbers each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/interval.h"

namespace dfcl::data {

inline constexpr std::size_t kMostEvaluatedPlans = 64;

// Per unit, over everyone in control; errors are standard errors.
struct EvaluatedPlan {
  double spend = 0.0;      // as predicted: what allocate counts
  double predicted = 0.0;  // incremental revenue, as predicted for these units
  double revenue = 0.0;    // incremental revenue, as evaluated (eq. 16)
  double revenue_error = 0.0;
  double cost = 0.0;  // incremental cost, as evaluated
  double cost_error = 0.0;
  double covariance = 0.0;  // of revenue and cost
  bool operator==(const EvaluatedPlan&) const = default;
};

// Units that the predictions behind the plans had not seen.
enum class UnseenUnits : std::uint8_t {
  out_of_fold,  // training and validation units, each predicted by a fit without it
  validation,   // validation units, which only stopped or calibrated training
};
const char* to_text(UnseenUnits units);  // out_of_fold, validation

struct EvaluatedPlans {
  UnseenUnits units = UnseenUnits::out_of_fold;
  std::size_t num_units = 0;
  bool chose_members = false;        // the same units chose the members of a stack: figures are before that selection
  std::vector<EvaluatedPlan> plans;  // by strictly rising spend, at least one
  bool operator==(const EvaluatedPlans&) const = default;
};

// Whether all of it makes sense: numbers that are finite, errors that are not negative, spends that rise.
bool is_sound(const EvaluatedPlans& evaluated);

// A plan at a spend per unit: between two evaluated plans the mixture of both, whose error is at most the mixture of
// their errors. None where the spend lies outside of what was evaluated by more than kSpendMargin of that range.
inline constexpr double kSpendMargin = 0.1;
struct EvaluatedValue {
  core::Interval revenue;
  core::Interval cost;
  core::Interval profit;  // worth x revenue - cost
};
std::optional<EvaluatedValue> value_at(const EvaluatedPlans& evaluated, double spend, double worth, double level);

// In one line of text, as prediction files keep it, and back; none for any other text.
std::string to_line(const EvaluatedPlans& evaluated);
std::optional<EvaluatedPlans> evaluated_plans_of(const std::string& line);

}  // namespace dfcl::data

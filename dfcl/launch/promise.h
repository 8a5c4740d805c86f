// SPDX-License-Identifier: Apache-2.0
//
// What a plan promises beside what such plans were worth on units that the model had not seen. A plan is chosen by its
// own predictions, so they promise too much of it (the winner's curse); the evaluated figure does not. A few
// operations.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "dfcl/core/interval.h"
#include "dfcl/data/evaluated_plans.h"

namespace dfcl::launch {

inline constexpr double kPromiseLevel = 0.95;

// Predicted, in all, over everyone in control: of the units that get what is best for them.
struct PlannedIncrement {
  std::size_t units = 0;
  double revenue = 0.0;
  double cost = 0.0;
  bool is_index = false;  // revenue is no money
};

enum class PromiseStatus {
  within,         // predicted revenue lies in the evaluated interval
  above,          // the plan promises more
  below,          // the plan promises less
  index,          // predictions are an index: nothing is promised
  not_evaluated,  // no figure applies to the plan
};
const char* to_text(PromiseStatus status);

struct Promise {
  PromiseStatus status = PromiseStatus::not_evaluated;
  std::string reason = {};  // why it is not evaluated
  PlannedIncrement planned = {};
  // Evaluated, in all, for the same number of units.
  core::Interval revenue = {};
  core::Interval cost = {};
  std::optional<core::Interval> profit = {};  // where it is known what revenue is worth
  // The units it was evaluated on.
  data::UnseenUnits unseen = data::UnseenUnits::out_of_fold;
  std::size_t unseen_units = 0;
  bool chose_members = false;

  bool is_evaluated() const { return status != PromiseStatus::not_evaluated; }
  bool differs() const { return status == PromiseStatus::above || status == PromiseStatus::below; }
};

// worth: of one unit of revenue, in the currency of cost.
Promise promise_of(const PlannedIncrement& planned, const data::EvaluatedPlans& evaluated, std::optional<double> worth);
// Of a plan to which no figure applies.
Promise not_evaluated(const PlannedIncrement& planned, std::string reason);

}  // namespace dfcl::launch

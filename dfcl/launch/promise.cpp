// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/promise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace dfcl::launch {
namespace {

// Sums of predictions are exact to less than this share of them.
constexpr double kPrecision = 1e-6;

PromiseStatus status_of(const PlannedIncrement& planned, const core::Interval& revenue) {
  if (planned.is_index) return PromiseStatus::index;
  const double rounding = kPrecision * std::max(std::abs(planned.revenue), std::abs(revenue.value));
  if (planned.revenue > revenue.high + rounding) return PromiseStatus::above;
  if (planned.revenue < revenue.low - rounding) return PromiseStatus::below;
  return PromiseStatus::within;
}

}  // namespace

const char* to_text(PromiseStatus status) {
  switch (status) {
    case PromiseStatus::within: return "within";
    case PromiseStatus::above: return "above";
    case PromiseStatus::below: return "below";
    case PromiseStatus::index: return "index";
    case PromiseStatus::not_evaluated: break;
  }
  return "not_evaluated";
}

Promise not_evaluated(const PlannedIncrement& planned, std::string reason) {
  return {.reason = std::move(reason), .planned = planned};
}

Promise promise_of(const PlannedIncrement& planned, const data::EvaluatedPlans& evaluated,
                   std::optional<double> worth) {
  if (planned.units == 0) return not_evaluated(planned, "it plans for nobody");
  const auto units = static_cast<double>(planned.units);
  const double spend = planned.cost / units;
  const auto value = data::value_at(evaluated, spend, worth.value_or(1.0), kPromiseLevel);
  if (!value) {
    return not_evaluated(planned, fmt::format("it spends {:.4g} per unit above control; evaluated were {:.4g} to "
                                              "{:.4g}",
                                              spend, evaluated.plans.front().spend, evaluated.plans.back().spend));
  }
  Promise promise{.planned = planned,
                  .revenue = value->revenue.scaled(units),
                  .cost = value->cost.scaled(units),
                  .unseen = evaluated.units,
                  .unseen_units = evaluated.num_units,
                  .chose_members = evaluated.chose_members};
  if (worth) promise.profit = value->profit.scaled(units);
  promise.status = status_of(planned, promise.revenue);
  return promise;
}

}  // namespace dfcl::launch

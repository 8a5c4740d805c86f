// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "dfcl/io/trial/trial_builder.h"

namespace dfcl::io {

void TrialBuilder::winsorize() {
  for (const auto& [outcome, quantile] : study_.columns.winsorize) {
    core::Column<float>& values = outcome == "revenue" ? trial_.revenue : trial_.cost;
    core::Column<float> sorted = values;
    const auto rank = static_cast<std::ptrdiff_t>(quantile * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
    const float limit = sorted[static_cast<std::size_t>(rank)];
    const auto above = std::count_if(values.begin(), values.end(), [=](float value) { return value > limit; });
    for (float& value : values) value = std::min(value, limit);
    trial_.notes.push_back(fmt::format("{} of {} units is winsorised at {:g}, its {:g} quantile", outcome, above,
                                       static_cast<double>(limit), quantile));
  }
}

// Winsorising, then costs that the study knows by arm or by rate: a rate is one of the revenue that is evaluated.
void TrialBuilder::settle_outcomes() {
  winsorize();
  const data::CostFacts& facts = trial_.cost_facts = data::resolve_cost_facts(study_, trial_.arms);
  if (facts.is_known()) {
    trial_.cost.resize(trial_.num_units());
    for (std::size_t unit = 0; unit < trial_.num_units(); ++unit) {
      double times = 1.0;
      if (facts.kind == data::CostKind::rate) times = static_cast<double>(trial_.revenue[unit]);
      if (facts.kind == data::CostKind::price_if) times = static_cast<double>(trial_.cost[unit]);
      trial_.cost[unit] = static_cast<float>(facts.per_arm[trial_.arm[unit]] * times);
    }
  }
  if (rows_without_outcome_ > 0) {
    trial_.notes.push_back(
        fmt::format("{} of {} rows have no outcome and are left out", rows_without_outcome_, rows_seen_));
  }
}

// Only proportions count: weights that are all alike are as good as none.
void TrialBuilder::settle_weights() {
  core::Column<float>& weight = trial_.weight;
  if (rows_of_no_weight_ > 0) {
    trial_.notes.push_back(
        fmt::format("{} of {} rows have a sample weight of 0 and are left out", rows_of_no_weight_, rows_seen_));
  }
  if (weight.empty()) return;
  const auto [low, high] = std::minmax_element(weight.begin(), weight.end());
  if (*low == *high) weight = core::Column<float>();
}

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/launch_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/launch/readout.h"

namespace dfcl::launch {
namespace {

core::Interval sum(const core::Interval& a, const core::Interval& b) {
  return {a.value + b.value, a.low + b.low, a.high + b.high};
}

}  // namespace

std::optional<double> LaunchLine::roi() const {
  if (!profit || !(cost.value > 0.0)) return std::nullopt;
  return profit->value / cost.value;
}

LaunchLine line_of(const Readout& readout, std::string name) {
  return {std::move(name),          readout.units_per_role[0], readout.total_spend, readout.incremental_revenue,
          readout.incremental_cost, readout.incremental_profit};
}

LaunchLine total_of(const std::vector<LaunchLine>& launches, std::size_t count) {
  LaunchLine total;
  for (std::size_t i = 0; i < count; ++i) {
    const LaunchLine& launch = launches[i];
    total.units += launch.units;
    total.spend += launch.spend;
    total.revenue = i == 0 ? launch.revenue : sum(total.revenue, launch.revenue);
    total.cost = i == 0 ? launch.cost : sum(total.cost, launch.cost);
    if (i == 0) {
      total.profit = launch.profit;
    } else if (total.profit && launch.profit) {
      total.profit = sum(*total.profit, *launch.profit);
    } else {
      total.profit.reset();
    }
  }
  return total;
}

std::vector<LaunchLine> with_launch(std::vector<LaunchLine> earlier, LaunchLine launch, const std::string& where) {
  const bool is_there = std::any_of(earlier.begin(), earlier.end(), [&](const LaunchLine& one) {
    return one.units == launch.units && one.spend == launch.spend && one.revenue.value == launch.revenue.value;
  });
  if (is_there) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = fmt::format("the launch '{}' is counted already", launch.name),
                       .where = where,
                       .expected = "the readout of the launch before this one"});
  }
  earlier.push_back(std::move(launch));
  return earlier;
}

}  // namespace dfcl::launch

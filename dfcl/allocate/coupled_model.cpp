// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/coupled_model.h"

#include <algorithm>
#include <cmath>

#include "dfcl/allocate/validate.h"
#include "dfcl/core/error.h"

namespace dfcl::allocate {
namespace {

constexpr std::size_t kMostLimits = 600;

double mean_magnitude(const core::MatrixView<const float>& matrix) {
  double sum = 0.0;
  for (std::size_t i = 0; i < matrix.size(); ++i) sum += std::abs(static_cast<double>(matrix.data[i]));
  const double mean = sum / std::max(1.0, static_cast<double>(matrix.size()));
  return std::isfinite(mean) && mean > 0.0 ? mean : 1.0;
}

}  // namespace

CoupledModel::CoupledModel(const Problem& problem, double budget) : problem_(problem) {
  const Prices prices(problem.rules);
  scale_ = prices.profit ? prices.margin : 1.0;
  floor_ = std::max(problem.rules.min_roi, prices.profit ? 1.0 / prices.margin : 0.0);
  const double cost = mean_magnitude(problem.cost);
  if (budget < kNoBudget) total = add_limit(budget, cost);
  if (has_second_resource(problem) && problem.second.budget < kNoBudget) {
    second = add_limit(problem.second.budget, mean_magnitude(problem.second.cost));
  }
  const auto num_units = static_cast<std::int64_t>(problem.num_units());
  for (const std::int64_t most : problem.max_units) {
    upper.push_back(most < num_units ? add_limit(static_cast<double>(most), 1.0) : kNone);
  }
  for (const std::int64_t least : problem.min_units) {
    lower.push_back(least > 0 ? add_limit(-static_cast<double>(least), 1.0) : kNone);
  }
  for (const double segment_budget : problem.segments.budgets) {
    segment.push_back(segment_budget < kNoBudget ? add_limit(segment_budget, cost) : kNone);
  }
  if (num_limits() > kMostLimits) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "too many segment budgets together with other constraints",
                       .found = std::to_string(num_limits()),
                       .expected = "at most " + std::to_string(kMostLimits) + " limits"});
  }
}

std::size_t CoupledModel::add_limit(double limit, double typical_use) {
  limit_.push_back(limit);
  typical_use_.push_back(typical_use);
  return limit_.size() - 1;
}

}  // namespace dfcl::allocate

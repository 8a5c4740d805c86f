// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"

namespace dfcl::allocate {
namespace {

[[noreturn]] void refuse(std::string what, std::string found, std::string expected) {
  throw core::Error({.kind = core::ErrorKind::usage,
                     .what = std::move(what),
                     .found = std::move(found),
                     .expected = std::move(expected)});
}

template <class T>
void require_shape(const char* name, const core::MatrixView<T>& matrix, const Problem& problem) {
  if (matrix.rows == problem.num_units() && matrix.cols == problem.num_arms()) return;
  refuse(fmt::format("the {} matrix has another shape than revenue", name),
         fmt::format("{} x {}", matrix.rows, matrix.cols),
         fmt::format("{} x {} (units x arms)", problem.num_units(), problem.num_arms()));
}

void validate_unit_limits(const char* name, const std::vector<std::int64_t>& limits, std::size_t num_arms) {
  if (!limits.empty() && limits.size() != num_arms) {
    refuse(fmt::format("{} does not have one number per arm", name), fmt::format("{}", limits.size()),
           fmt::format("{}", num_arms));
  }
  for (const std::int64_t limit : limits) {
    if (limit < 0) refuse(fmt::format("{} is negative", name), fmt::format("{}", limit), "0 or more");
  }
}

void validate_segments(const Segments& segments, std::size_t num_units) {
  if (segments.of_unit.empty() && segments.budgets.empty()) return;
  if (segments.of_unit.size() != num_units) {
    refuse("segments do not name one segment per unit", fmt::format("{}", segments.of_unit.size()),
           fmt::format("{}", num_units));
  }
  for (const double budget : segments.budgets) validate_budget(budget);
  const auto largest = std::max_element(segments.of_unit.begin(), segments.of_unit.end());
  if (largest != segments.of_unit.end() && *largest >= segments.budgets.size()) {
    refuse("a unit's segment has no budget", fmt::format("segment {}", *largest),
           fmt::format("below {}", segments.budgets.size()));
  }
}

}  // namespace

void validate(const Rules& rules, std::size_t num_arms) {
  if (num_arms == 0 || num_arms > kMaxArms) {
    refuse("number of arms", fmt::format("{}", num_arms), fmt::format("1 to {}", kMaxArms));
  }
  if (rules.control >= num_arms) {
    refuse("control is not one of the arms", fmt::format("arm {}", rules.control), fmt::format("below {}", num_arms));
  }
  if (rules.objective == Objective::profit && !(rules.margin > 0.0 && std::isfinite(rules.margin))) {
    refuse("margin", fmt::format("{}", rules.margin), "a number above 0");
  }
  if (!(rules.min_roi >= 0.0 && std::isfinite(rules.min_roi))) {
    refuse("min_roi", fmt::format("{}", rules.min_roi), "0 or more");
  }
  if (!rules.price.empty() && rules.price.size() != num_arms) {
    refuse("the prices are not one per arm", fmt::format("{}", rules.price.size()), fmt::format("{}", num_arms));
  }
  for (const double price : rules.price) {
    if (!std::isfinite(price)) refuse("a price is not finite", fmt::format("{}", price), "a number");
  }
}

void validate_budget(double budget) {
  if (std::isnan(budget)) refuse("budget", "NaN", "a number, or infinity for no budget");
}

void validate(const Problem& problem) {
  validate(problem.rules, problem.num_arms());
  if (problem.num_units() > 0x7fffffffu) {
    refuse("number of units", fmt::format("{}", problem.num_units()), "below 2^31");
  }
  require_shape("cost", problem.cost, problem);
  if (!problem.keys.empty() && problem.keys.size() != problem.num_units()) {
    refuse("the keys are not one per unit", fmt::format("{}", problem.keys.size()),
           fmt::format("{}", problem.num_units()));
  }
  if (problem.eligible.data != nullptr) require_shape("eligibility", problem.eligible, problem);
  if (has_second_resource(problem)) require_shape("second cost", problem.second.cost, problem);
  validate_budget(problem.second.budget);
  validate_unit_limits("min_units", problem.min_units, problem.num_arms());
  validate_unit_limits("max_units", problem.max_units, problem.num_arms());
  validate_segments(problem.segments, problem.num_units());
}

bool has_unit_limits(const Problem& problem) { return !problem.min_units.empty() || !problem.max_units.empty(); }

void require_path_only(const Problem& problem, const char* function) {
  if (has_unit_limits(problem) || has_segments(problem) || has_second_resource(problem)) {
    refuse(fmt::format("{} takes rules and eligibility only", function), "coupled constraints", "none");
  }
}

}  // namespace dfcl::allocate

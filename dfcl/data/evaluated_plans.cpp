// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/evaluated_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace dfcl::data {
namespace {

constexpr std::size_t kNumbers = 7;  // of a plan

std::array<double, kNumbers> numbers_of(const EvaluatedPlan& plan) {
  return {plan.spend, plan.predicted, plan.revenue, plan.revenue_error, plan.cost, plan.cost_error, plan.covariance};
}

bool is_sound(const EvaluatedPlan& plan) {
  const auto numbers = numbers_of(plan);
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); }) &&
         plan.revenue_error >= 0.0 && plan.cost_error >= 0.0;
}

double profit_error(const EvaluatedPlan& plan, double worth) {
  const double variance = worth * worth * plan.revenue_error * plan.revenue_error + plan.cost_error * plan.cost_error -
                          2.0 * worth * plan.covariance;
  return variance > 0.0 ? std::sqrt(variance) : 0.0;
}

// Cuts off the part before the separator, or all of the text.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && problem == std::errc() && rest == text.data() + text.size();
}

std::optional<EvaluatedPlan> plan_of(std::string_view text) {
  std::array<double, kNumbers> numbers{};
  for (double& number : numbers) {
    if (!read(take(text, ','), number)) return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return EvaluatedPlan{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]};
}

}  // namespace

const char* to_text(UnseenUnits units) { return units == UnseenUnits::out_of_fold ? "out_of_fold" : "validation"; }

bool is_sound(const EvaluatedPlans& evaluated) {
  const auto& plans = evaluated.plans;
  return evaluated.num_units > 0 && !plans.empty() && plans.size() <= kMostEvaluatedPlans &&
         std::all_of(plans.begin(), plans.end(), [](const EvaluatedPlan& plan) { return is_sound(plan); }) &&
         std::adjacent_find(plans.begin(), plans.end(), [](const EvaluatedPlan& a, const EvaluatedPlan& b) {
           return !(a.spend < b.spend);
         }) == plans.end();
}

std::optional<EvaluatedValue> value_at(const EvaluatedPlans& evaluated, double spend, double worth, double level) {
  const auto& plans = evaluated.plans;
  const double least = plans.front().spend, most = plans.back().spend;
  const double margin = kSpendMargin * (most > least ? most - least : std::abs(most));
  if (!(spend >= least - margin && spend <= most + margin)) return std::nullopt;
  const double inside = std::clamp(spend, least, most);
  const auto upper = std::lower_bound(plans.begin(), plans.end(), inside,
                                      [](const EvaluatedPlan& plan, double at) { return plan.spend < at; });
  const EvaluatedPlan& b = *upper;
  const EvaluatedPlan& a = upper == plans.begin() ? b : *(upper - 1);
  const double t = b.spend > a.spend ? (inside - a.spend) / (b.spend - a.spend) : 1.0;
  const auto mixed = [&](double of_a, double of_b) { return of_a + t * (of_b - of_a); };
  const auto interval = [&](double value_a, double error_a, double value_b, double error_b) {
    return core::normal_interval(mixed(value_a, value_b), mixed(error_a, error_b), level);
  };
  return EvaluatedValue{
      interval(a.revenue, a.revenue_error, b.revenue, b.revenue_error),
      interval(a.cost, a.cost_error, b.cost, b.cost_error),
      interval(worth * a.revenue - a.cost, profit_error(a, worth), worth * b.revenue - b.cost, profit_error(b, worth))};
}

std::string to_line(const EvaluatedPlans& evaluated) {
  std::string line = fmt::format("{} {} {}", to_text(evaluated.units), evaluated.num_units,
                                 evaluated.chose_members ? "chose_members" : "chose_nothing");
  for (const EvaluatedPlan& plan : evaluated.plans) line += fmt::format(";{}", fmt::join(numbers_of(plan), ","));
  return line;
}

std::optional<EvaluatedPlans> evaluated_plans_of(const std::string& line) {
  std::string_view rest = line;
  std::string_view head = take(rest, ';');
  EvaluatedPlans evaluated;
  const std::string_view units = take(head, ' ');
  if (units == to_text(UnseenUnits::validation))
    evaluated.units = UnseenUnits::validation;
  else if (units != to_text(UnseenUnits::out_of_fold))
    return std::nullopt;
  if (!read(take(head, ' '), evaluated.num_units)) return std::nullopt;
  evaluated.chose_members = head == "chose_members";
  if (!evaluated.chose_members && head != "chose_nothing") return std::nullopt;
  while (!rest.empty() && evaluated.plans.size() < kMostEvaluatedPlans) {
    const std::optional<EvaluatedPlan> plan = plan_of(take(rest, ';'));
    if (!plan) return std::nullopt;
    evaluated.plans.push_back(*plan);
  }
  if (!rest.empty() || !is_sound(evaluated)) return std::nullopt;
  return evaluated;
}

}  // namespace dfcl::data

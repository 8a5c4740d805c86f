// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/join_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/exact_total.h"
#include "dfcl/core/suggest.h"
#include "dfcl/data/prediction_facts.h"

namespace dfcl::launch {
namespace {

using data::Role;

std::optional<double> parse_number(const std::string& text) {
  double number = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_earlier(const std::string& a, const std::string& b) {
  const auto x = parse_number(a), y = parse_number(b);
  return x && y ? *x < *y : a < b;
}

std::vector<std::uint8_t> arm_places(const std::vector<std::string>& some, const std::vector<std::string>& labels) {
  std::vector<std::uint8_t> places;
  for (const std::string& label : some)
    places.push_back(static_cast<std::uint8_t>(std::find(labels.begin(), labels.end(), label) - labels.begin()));
  return places;
}

// What outcomes leave out, the plan must know.
void require_said(const io::PlanFile& plan, const io::OutcomeTable& outcomes, const JoinOptions& options) {
  if (!outcomes.role.empty() || plan.plan.has_roles()) return;
  throw core::data_error(options.outcomes_path, "no column 'role', and the plan has no roles", "",
                         "plan, holdout or explore for each unit",
                         "plans with a hold-out know the roles of their units");
}

// The known price of each arm, where outcomes do not say what units cost.
std::vector<double> arm_prices(const io::PlanFile& plan, const std::vector<std::string>& arms,
                               const JoinOptions& options) {
  std::vector<double> prices;
  for (const std::string& arm : arms) {
    const std::optional<double> price = parse_number(plan.option(data::kPriceOption + arm));
    if (!price || !std::isfinite(*price)) {
      throw core::data_error(options.outcomes_path, "no column 'cost', and the plan knows no price of every arm",
                             fmt::format("no price of '{}'", arm), "what each unit cost");
    }
    prices.push_back(*price);
  }
  return prices;
}

void require_later(const io::PlanFile& plan, const io::OutcomeTable& outcomes, std::size_t unit, std::size_t row,
                   const JoinOptions& options, const std::string& launch_time) {
  const std::string& planned = plan.time.empty() ? launch_time : plan.time[unit];
  if (planned.empty() || outcomes.time[row].empty() || !is_earlier(outcomes.time[row], planned)) return;
  throw core::data_error(fmt::format("{}, unit '{}', column 'time'", options.outcomes_path, outcomes.ids.text(row)),
                         "an outcome from before the plan", outcomes.time[row], fmt::format("{} or later", planned),
                         "outcomes of the launch only");
}

}  // namespace

std::vector<std::string> launch_arms(const std::vector<std::string>& planned, const std::vector<std::string>& seen) {
  std::vector<std::string> labels = planned;
  labels.insert(labels.end(), seen.begin(), seen.end());
  const bool all_numbers =
      std::all_of(labels.begin(), labels.end(), [](const auto& l) { return parse_number(l).has_value(); });
  std::sort(labels.begin(), labels.end(), [&](const std::string& a, const std::string& b) {
    if (!all_numbers || *parse_number(a) == *parse_number(b)) return a < b;
    return *parse_number(a) < *parse_number(b);
  });
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  if (labels.size() > 256) throw core::data_error("", "too many arms", fmt::format("{}", labels.size()), "at most 256");
  return labels;
}

std::size_t find_control(const std::vector<std::string>& arms, const std::vector<std::size_t>& held,
                         const std::string& planned, const JoinOptions& options) {
  const auto place = [&](const std::string& label) {
    return static_cast<std::size_t>(std::find(arms.begin(), arms.end(), label) - arms.begin());
  };
  if (!options.control.empty()) {
    if (place(options.control) < arms.size()) return place(options.control);
    throw core::Error({.kind = core::ErrorKind::usage,
                       .field = "control",
                       .what = fmt::format("no arm '{}'", options.control),
                       .hint = core::suggest(options.control, arms)});
  }
  for (const std::string& label : {planned, std::string("0")}) {
    if (!label.empty() && place(label) < arms.size()) return place(label);
  }
  return static_cast<std::size_t>(std::max_element(held.begin(), held.end()) - held.begin());
}

void require_joined(std::size_t joined, std::size_t units_in_plan, const JoinOptions& options) {
  if (2 * joined >= units_in_plan) return;
  throw core::data_error(fmt::format("{}, {}", options.plan_path, options.outcomes_path),
                         "plan and outcomes do not join",
                         fmt::format("{} of {} planned units have an outcome", joined, units_in_plan),
                         "most of them, by id", "are the ids those of the plan?");
}

Launch join_launch(const io::PlanFile& file, const io::OutcomeTable& outcomes, const JoinOptions& options) {
  require_said(file, outcomes, options);
  Launch launch = join_part(file, outcomes, options, launch_arms(file.plan.arms, outcomes.arms));
  require_joined(launch.units_joined, launch.units_in_plan, options);
  std::vector<std::size_t> held(launch.arms.size());
  for (std::size_t unit = 0; unit < launch.num_units(); ++unit) {
    if (launch.role[unit] == Role::holdout) ++held[launch.received_arm[unit]];
  }
  launch.control = find_control(launch.arms, held, file.option("control"), options);
  return launch;
}

Launch join_part(const io::PlanFile& file, const io::OutcomeTable& outcomes, const JoinOptions& options,
                 std::vector<std::string> arms) {
  const data::Plan& plan = file.plan;
  Launch launch;
  launch.arms = std::move(arms);
  const std::vector<std::uint8_t> place_of_planned = arm_places(plan.arms, launch.arms);
  const std::vector<std::uint8_t> place_of_seen = arm_places(outcomes.arms, launch.arms);
  launch.units_in_plan = plan.num_units();
  launch.units_in_outcomes = outcomes.ids.size();
  launch.seen_per_role.assign(data::kNumRoles, 0);
  if (plan.has_roles()) launch.planned_per_role.assign(data::kNumRoles, 0);
  for (const std::string& name : options.guardrails) launch.guardrails.push_back({name, {}});
  std::unordered_map<std::uint64_t, std::size_t> row_of_hash;
  row_of_hash.reserve(outcomes.ids.size());
  for (std::size_t row = 0; row < outcomes.ids.size(); ++row) row_of_hash.emplace(outcomes.ids.hash(row), row);

  if (plan.num_units() > 0 && outcomes.ids.size() > 0) require_said(file, outcomes, options);
  const std::vector<double> price_of_arm =
      outcomes.cost.empty() && outcomes.ids.size() > 0 ? arm_prices(file, launch.arms, options) : std::vector<double>();
  const std::string launch_time = options.launch_time.empty() ? file.option("launch") : options.launch_time;
  const bool has_control = !plan.control_revenue.empty();
  for (std::size_t unit = 0; unit < plan.num_units(); ++unit) {
    launch.planned_spend_of_all.add(static_cast<double>(plan.cost[unit]));
    if (plan.has_roles()) ++launch.planned_per_role[static_cast<std::size_t>(plan.role[unit])];
    const auto found = row_of_hash.find(plan.ids.hash(unit));
    if (found == row_of_hash.end()) continue;
    const std::size_t row = found->second;
    ++launch.units_joined;
    if (!outcomes.weight.empty() && outcomes.weight[row] == 0.0) continue;
    if (!outcomes.time.empty()) require_later(file, outcomes, unit, row, options, launch_time);
    const Role role = plan.has_roles() ? plan.role[unit] : outcomes.role[row];
    const Role seen = outcomes.role.empty() ? role : outcomes.role[row];
    if (role != seen) ++launch.role_conflicts;
    ++launch.seen_per_role[static_cast<std::size_t>(seen)];
    launch.role.push_back(role);
    launch.planned_arm.push_back(place_of_planned[plan.arm[unit]]);
    launch.received_arm.push_back(outcomes.arm.empty() ? launch.planned_arm.back() : place_of_seen[outcomes.arm[row]]);
    launch.planned_revenue.push_back(plan.revenue[unit]);
    launch.planned_cost.push_back(plan.cost[unit]);
    if (has_control) launch.control_revenue.push_back(plan.control_revenue[unit]);
    if (has_control) launch.control_cost.push_back(plan.control_cost[unit]);
    launch.revenue.push_back(outcomes.revenue[row]);
    launch.cost.push_back(outcomes.cost.empty() ? price_of_arm[launch.received_arm.back()] : outcomes.cost[row]);
    if (!outcomes.weight.empty()) launch.weight.push_back(outcomes.weight[row]);
    for (std::size_t i = 0; i < outcomes.guardrails.size(); ++i)
      launch.guardrails[i].value.push_back(outcomes.guardrails[i][row]);
  }
  return launch;
}

}  // namespace dfcl::launch

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/serve/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dfcl/core/error_makers.h"
#include "dfcl/io/tensors/strict_json.h"

namespace dfcl::serve {
namespace {

using core::field_error;
using Json = nlohmann::json;

constexpr int kMostLevels = 4;
constexpr double kMostAmount = 1e18;
constexpr std::int64_t kMostUnits = 1'000'000'000'000;

// Strict JSON; whatever is wrong with it is the caller's mistake.
Json parse_request(const std::string& text) {
  try {
    return io::parse_strictly(text, kMostLevels, "");
  } catch (const core::Error& error) {
    throw field_error("request", error.details().what, error.details().found);
  }
}

// Null: no limit.
double read_amount(const Json& value, const char* key, double least) {
  if (value.is_null()) return allocate::kNoBudget;
  if (!value.is_number()) throw field_error(key, "is no number");
  const double amount = value.get<double>();
  if (!std::isfinite(amount) || amount < least || amount > kMostAmount)
    throw field_error(key, "out of range", fmt::format("{}", amount));
  return amount;
}

double read_number(const Json& value, const char* key, double least, bool or_equal) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!(or_equal ? number >= least : number > least) || number > kMostAmount)
    throw field_error(key, "out of range", value.is_number() ? fmt::format("{}", number) : "no number");
  return number;
}

bool read_flag(const Json& value, const char* key) {
  if (!value.is_boolean()) throw field_error(key, "is neither true nor false");
  return value.get<bool>();
}

const Json::array_t& read_list(const Json& value, const char* key, std::size_t size) {
  if (!value.is_array() || value.size() != size)
    throw field_error(key, "wrong number of entries", "", fmt::format("{}", size));
  return value.get_ref<const Json::array_t&>();
}

// Null: `unset`. A list that limits nothing is none.
std::vector<std::int64_t> read_units(const Json& value, const char* key, std::size_t num_arms, std::int64_t unset) {
  std::vector<std::int64_t> units;
  for (const Json& one : read_list(value, key, num_arms)) {
    if (one.is_null()) {
      units.push_back(unset);
    } else if (one.is_number_integer() && one.get<double>() >= 0.0 && one.get<double>() <= kMostUnits) {
      units.push_back(one.get<std::int64_t>());
    } else {
      throw field_error(key, "is no number of units");
    }
  }
  const bool limits = std::any_of(units.begin(), units.end(), [&](std::int64_t one) { return one != unset; });
  return limits ? units : std::vector<std::int64_t>{};
}

std::vector<double> read_budgets(const Json& value, std::size_t num_segments) {
  std::vector<double> budgets;
  for (const Json& one : read_list(value, "segment_budgets", num_segments))
    budgets.push_back(read_amount(one, "segment_budgets", -kMostAmount));
  const bool limits =
      std::any_of(budgets.begin(), budgets.end(), [](double one) { return one != allocate::kNoBudget; });
  return limits ? budgets : std::vector<double>{};
}

void read_key(const std::string& key, const Json& value, const Scope& scope, SolveRequest& request) {
  Settings& settings = request.settings;
  if (key == "budget") {
    settings.budget = read_amount(value, "budget", -kMostAmount);
  } else if (key == "objective") {
    if (value != "revenue" && value != "profit") throw field_error("objective", "is neither revenue nor profit");
    settings.objective = value == "profit" ? allocate::Objective::profit : allocate::Objective::revenue;
  } else if (key == "worth") {
    settings.worth = read_number(value, "worth", 0.0, false);
  } else if (key == "min_roi") {
    settings.min_roi = read_number(value, "min_roi", 0.0, true);
  } else if (key == "min_units") {
    settings.min_units = read_units(value, "min_units", scope.num_arms, 0);
  } else if (key == "max_units") {
    settings.max_units = read_units(value, "max_units", scope.num_arms, -1);
  } else if (key == "segment_budgets") {
    settings.segment_budgets = read_budgets(value, scope.num_segments);
  } else if (key == "second_budget" && scope.has_second) {
    settings.second_budget = read_amount(value, "second_budget", 0.0);
  } else if (key == "keep_eligibility") {
    settings.keep_eligibility = read_flag(value, "keep_eligibility");
  } else if (key == "pin") {
    request.pin = read_flag(value, "pin");
  } else {
    throw field_error("request", "unknown key");
  }
}

}  // namespace

SolveRequest read_request(const std::string& text, const Scope& scope) {
  if (text.size() > kMostRequestBytes) throw field_error("request", "too long");
  const Json json = parse_request(text);
  if (!json.is_object()) throw field_error("request", "is no JSON object");
  SolveRequest request;
  for (const auto& [key, value] : json.items()) read_key(key, value, scope, request);
  return request;
}

}  // namespace dfcl::serve

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/allocate_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tensors/safetensors.h"

namespace dfcl::verbs {
namespace {

core::Error usage_error(std::string where, std::string what, std::string hint = "") {
  return core::Error(
      {.kind = core::ErrorKind::usage, .what = std::move(what), .where = std::move(where), .hint = std::move(hint)});
}

std::size_t arm_named(const std::string& label, const std::vector<std::string>& arms, const std::string& flag) {
  const auto found = std::find(arms.begin(), arms.end(), label);
  if (found == arms.end()) throw usage_error(flag, fmt::format("no arm '{}'", label), core::suggest(label, arms));
  return static_cast<std::size_t>(found - arms.begin());
}

void check_limits(const AllocateRequest& request) {
  const int kinds = (request.totals.empty() ? 0 : 1) + (request.per_unit.empty() ? 0 : 1) +
                    (request.share_of_max.empty() ? 0 : 1) + (request.multiplier ? 1 : 0) +
                    (request.curve_points > 0 ? 1 : 0);
  const bool unlimited = request.min_roi || request.objective == "profit" || !request.segment_budgets.empty();
  if (kinds > 1 || (kinds == 0 && !unlimited)) {
    throw usage_error("", kinds > 1 ? "more than one way to say how much may be spent" : "how much may be spent?",
                      "give one of --budget, --per-unit, --share-of-max, --multiplier, --curve; or --min-roi alone");
  }
  if (request.segment.empty() != request.segment_budgets.empty()) {
    throw usage_error("", "--segment and --segment-budgets go together");
  }
  if (request.second_cost.empty() != !request.second_budget)
    throw usage_error("", "--second-cost and --second-budget go together");
  if (request.is_coupled() && (request.stream || request.multiplier || request.curve_points > 0)) {
    throw usage_error("", "segments, a second budget and limits on units need all predictions in memory and a budget",
                      "leave out --stream, --multiplier or --curve");
  }
  if (request.stream && (!request.eligible.empty() || request.curve_points > 0)) {
    throw usage_error("--stream", "cannot be combined with --eligible or --curve",
                      "put eligible_<arm> columns into the prediction file");
  }
  if (request.stream && !request.output.empty() && io::format_of_name(request.output) == io::FileFormat::arrow_file) {
    throw usage_error("--stream", "writes .parquet or .csv");
  }
}

void check_numbers(const AllocateRequest& request) {
  if (request.multiplier && !(*request.multiplier >= 0.0 && std::isfinite(*request.multiplier))) {
    throw usage_error("--multiplier", fmt::format("found {}, expected a number of 0 or more", *request.multiplier));
  }
  if (request.margin && request.objective != "profit") {
    throw usage_error("--margin", "has no meaning for revenue", "add --objective profit");
  }
  if (request.margin && !(*request.margin > 0.0 && std::isfinite(*request.margin))) {
    throw usage_error("--margin", fmt::format("found {}, expected a number above 0", *request.margin));
  }
}

// A plan must not replace what it was made from.
void check_output(const AllocateRequest& request) {
  if (request.output.empty()) return;
  if (request.curve_points == 0) {
    (void)io::format_of_name(request.output);
  } else if (!request.output.ends_with(".csv") && !request.output.ends_with(".json")) {
    throw usage_error(request.output, "unknown file ending", "a curve is written as .csv or .json");
  }
  for (const std::string& input : {request.predictions, request.units, request.eligible, request.segment_budgets,
                                   request.second_cost, request.previous}) {
    std::error_code absent;
    if (std::filesystem::equivalent(input, request.output, absent))
      throw usage_error(request.output, "is an input of this run", "choose another name");
  }
}

// A model needs units; predictions must not have them.
void check_inputs(const AllocateRequest& request) {
  if (request.prediction != nullptr || request.model != nullptr) return;
  if (!std::filesystem::exists(request.predictions) && !request.units.empty())
    throw core::Error({.kind = core::ErrorKind::file, .what = "no such file", .where = request.predictions});
  const bool is_model = io::is_safetensors(request.predictions);
  if (is_model && request.units.empty())
    throw usage_error(request.predictions, "is a model: plan for which units?", "dfcl allocate MODEL UNITS ...");
  if (!is_model && !request.units.empty())
    throw usage_error(request.predictions, "is not a model, so it takes no units");
  if (is_model && (request.stream || !request.segment.empty())) {
    throw usage_error("--stream, --segment", "work on a prediction file", "dfcl predict writes one");
  }
}

void check_launch(const AllocateRequest& request) {
  launch::validate({.holdout = request.holdout, .explore = request.explore});
  if (request.curve_points > 0 && (request.has_roles() || !request.previous.empty())) {
    throw usage_error("--curve", "is no plan", "leave out --holdout, --explore and --previous");
  }
  if (!request.holdout_salt.empty() && request.holdout == 0.0)
    throw usage_error("--holdout-salt", "has no meaning without --holdout");
}

}  // namespace

allocate::Rules rules_of(const AllocateRequest& request, const std::vector<std::string>& arms) {
  allocate::Rules rules;
  if (!request.control.empty()) {
    rules.control = arm_named(request.control, arms, "--control");
  } else if (const auto zero = std::find(arms.begin(), arms.end(), "0"); zero != arms.end()) {
    rules.control = static_cast<std::size_t>(zero - arms.begin());
  }
  if (request.objective == "profit") rules.objective = allocate::Objective::profit;
  rules.margin = request.margin.value_or(1.0);
  rules.min_roi = request.min_roi.value_or(0.0);
  return rules;
}

launch::LaunchDesign design_of(const AllocateRequest& request, const allocate::Rules& rules, std::uint64_t seed) {
  return {request.holdout, request.explore, request.holdout_salt, seed, rules.control};
}

std::vector<std::int64_t> limits_of(const std::vector<std::string>& entries, std::int64_t unset,
                                    const std::vector<std::string>& arms, const std::string& flag) {
  if (entries.empty()) return {};
  std::vector<std::int64_t> limits(arms.size(), unset);
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.rfind('=');
    std::int64_t units = 0;
    const char* const end = entry.data() + entry.size();
    const auto [rest, problem] = std::from_chars(std::min(entry.data() + equals + 1, end), end, units);
    if (equals == std::string::npos || problem != std::errc() || rest != end || units < 0) {
      throw usage_error(fmt::format("{} {}", flag, entry), "cannot read the limit",
                        fmt::format("{} ARM=N, for example {} 20=1000", flag, flag));
    }
    std::int64_t& limit = limits[arm_named(entry.substr(0, equals), arms, flag)];
    if (limit != unset) throw usage_error(fmt::format("{} {}", flag, entry), "a second limit for the same arm");
    limit = units;
  }
  return limits;
}

void check_request(const AllocateRequest& request) {
  check_limits(request);
  check_numbers(request);
  check_output(request);
  check_inputs(request);
  check_launch(request);
}

}  // namespace dfcl::verbs

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/allocate_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/suggest.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/verbs/memory_limit.h"
#include "dfcl/verbs/outputs.h"
#include "dfcl/verbs/revenue_value.h"

namespace dfcl::verbs {
namespace {

using core::field_error;
using core::field_name;

std::size_t arm_named(const std::string& label, const std::vector<std::string>& arms, const char* field) {
  const auto found = std::find(arms.begin(), arms.end(), label);
  if (found == arms.end())
    throw field_error(field, fmt::format("no arm '{}'", label), "", "", core::suggest(label, arms));
  return static_cast<std::size_t>(found - arms.begin());
}

// The second of two fields that were given, for a message about both.
const char* second_budget_field(const AllocateRequest& request) {
  std::vector<const char*> given;
  if (!request.totals.empty()) given.push_back("budget");
  if (!request.per_unit.empty()) given.push_back("per_unit");
  if (!request.share_of_max.empty()) given.push_back("share_of_max");
  if (request.multiplier) given.push_back("multiplier");
  if (request.curve) given.push_back("curve");
  return given.size() > 1 ? given[1] : "budget";
}

void check_limits(const AllocateRequest& request) {
  const int kinds = (request.totals.empty() ? 0 : 1) + (request.per_unit.empty() ? 0 : 1) +
                    (request.share_of_max.empty() ? 0 : 1) + (request.multiplier ? 1 : 0) + (request.curve ? 1 : 0);
  const bool unlimited =
      request.min_roi || request.objective == allocate::Objective::profit || request.segment_budgets.has_value();
  if (kinds > 1 || (kinds == 0 && !unlimited)) {
    throw field_error(
        second_budget_field(request),
        kinds > 1 ? "more than one way to say how much may be spent" : "how much may be spent?", "", "",
        fmt::format("give one of {}, {}, {}, {}, {}; or {} alone", field_name("budget"), field_name("per_unit"),
                    field_name("share_of_max"), field_name("multiplier"), field_name("curve"), field_name("min_roi")));
  }
  if (!request.segment != !request.segment_budgets) {
    throw field_error(
        !request.segment ? "segment_budgets" : "segment",
        fmt::format("goes together with {}", field_name(!request.segment ? "segment" : "segment_budgets")));
  }
  if (!request.second_cost != !request.second_budget)
    throw field_error(
        !request.second_cost ? "second_budget" : "second_cost",
        fmt::format("goes together with {}", field_name(!request.second_cost ? "second_cost" : "second_budget")));
  if (request.is_coupled() && (request.stream || request.multiplier || request.curve)) {
    throw field_error(
        request.stream       ? "stream"
        : request.multiplier ? "multiplier"
                             : "curve",
        "segments, a second budget and limits on units need all predictions in memory and a budget", "", "",
        fmt::format("leave out {}, {} or {}", field_name("stream"), field_name("multiplier"), field_name("curve")));
  }
  if (!request.elsewhere) return;
  const char* const tied = request.second_cost          ? "second_cost"
                           : !request.min_units.empty() ? "min_units"
                           : !request.max_units.empty() ? "max_units"
                           : request.previous           ? "previous"
                           : request.eligible           ? "eligible"
                           : request.output             ? "output"
                                                        : nullptr;
  if (tied != nullptr) {
    throw field_error(tied, "needs all units on one machine", "", "",
                      request.eligible ? "put eligible_<arm> columns beside the predictions" : "");
  }
}

void check_stream(const AllocateRequest& request) {
  if (request.stream && request.eligible) {
    throw field_error("stream", fmt::format("cannot be combined with {}", field_name("eligible")), "", "",
                      "put eligible_<arm> columns into the prediction file");
  }
}

void require_least(const char* field, double number, double least, bool or_equal) {
  if (std::isfinite(number) && (number > least || (or_equal && number == least))) return;
  throw field_error(field, "out of range", fmt::format("{}", number),
                    or_equal ? fmt::format("a number of {} or more", least) : fmt::format("a number above {}", least));
}

// Less than nothing may be spent above control: there may be cheaper arms.
void require_finite(const char* field, const std::vector<double>& amounts) {
  for (const double amount : amounts) {
    if (!std::isfinite(amount)) throw field_error(field, "out of range", fmt::format("{}", amount), "a number");
  }
}

void check_numbers(const AllocateRequest& request) {
  require_finite("budget", request.totals);
  require_finite("per_unit", request.per_unit);
  for (const double share : request.share_of_max) require_least("share_of_max", share, 0.0, true);
  if (request.multiplier) require_least("multiplier", *request.multiplier, 0.0, true);
  if (request.second_budget) require_least("second_budget", *request.second_budget, 0.0, true);
  if (request.min_roi) require_least("min_roi", *request.min_roi, 0.0, true);
  require_value(request.margin, request.per_revenue);
  constexpr std::int64_t kMostPoints = 100'000;
  if (request.curve && (*request.curve < 2 || *request.curve > kMostPoints))
    throw field_error("curve", "out of range", fmt::format("{}", *request.curve),
                      fmt::format("2 to {} points", kMostPoints));
}

// A plan must not replace what it was made from.
void check_output(const AllocateRequest& request, const core::RunContext& context) {
  if (!request.output) return;
  if (!request.curve) {
    require_table_ending("output", *request.output);
  } else if (!request.output->ends_with(".csv") && !request.output->ends_with(".json")) {
    throw field_error("output", "unknown file ending", *request.output, "a curve, .csv or .json");
  }
  const std::size_t count =
      std::max<std::size_t>(1, request.totals.size() + request.per_unit.size() + request.share_of_max.size());
  for (std::size_t i = 0; i < count; ++i) {
    require_output(
        "output", plan_name(*request.output, i, count),
        {request.predictions, request.units.value_or(""), request.eligible.value_or(""),
         request.segment_budgets.value_or(""), request.second_cost.value_or(""), request.previous.value_or("")},
        context);
  }
}

// A model needs units; predictions must not have them.
void check_inputs(const AllocateRequest& request) {
  if (request.prediction != nullptr && request.segment.has_value() && request.segment_labels == nullptr &&
      !request.units)
    throw field_error("segment", "predictions in memory have no such column", *request.segment, "",
                      fmt::format("{} gives a table with id and this column", field_name("units")));
  if (request.prediction != nullptr && !request.segment && request.units.has_value())
    throw field_error("units", fmt::format("predictions take units only for {}", field_name("segment")));
  if (request.prediction != nullptr || request.model != nullptr) return;
  if (!std::filesystem::exists(request.predictions) && request.units.has_value())
    throw core::Error({.kind = core::ErrorKind::file, .what = "no such file", .where = request.predictions});
  const bool is_model = io::is_safetensors(request.predictions);
  if (is_model && !request.units)
    throw field_error("units", fmt::format("{} is a model: plan for which units?", request.predictions));
  if (!is_model && request.units.has_value())
    throw field_error("units", fmt::format("{} is not a model, so it takes no units", request.predictions));
  if (is_model && request.stream)
    throw field_error("stream", "works on a prediction file", "", "", "dfcl predict writes one");
}

// A rule needs features, and gives all units of a leaf the same arm.
void check_rule(const AllocateRequest& request) {
  if (request.rule == PlanRule::none) return;
  const bool of_model = request.prediction == nullptr && request.units.has_value() &&
                        (request.model != nullptr || io::is_safetensors(request.predictions));
  if (!of_model)
    throw field_error("rule", "a rule needs the features of the units", "predictions", "a model and units");
  const char* const other = request.curve                ? "curve"
                            : request.eligible           ? "eligible"
                            : request.segment            ? "segment"
                            : request.second_cost        ? "second_cost"
                            : !request.min_units.empty() ? "min_units"
                            : !request.max_units.empty() ? "max_units"
                            : request.explore > 0.0      ? "explore"
                            : request.holdout > 0.0      ? "holdout"
                                                         : nullptr;
  if (other != nullptr)
    throw field_error("rule", fmt::format("cannot be combined with {}", field_name(other)), "", "",
                      "a rule gives every unit of a leaf the same arm");
}

// Reasons are made of features, which only a model and its units know, at one price for all units.
void check_explain(const AllocateRequest& request) {
  if (!request.explain) return;
  if (!request.units || request.prediction != nullptr)
    throw field_error("explain", "is for a model and units: predictions know no features", "", "",
                      "dfcl allocate MODEL UNITS");
  if (request.is_coupled() || request.curve)
    throw field_error("explain", fmt::format("cannot be combined with {}, {}, {}, {} or {}", field_name("segment"),
                                             field_name("second_cost"), field_name("min_units"),
                                             field_name("max_units"), field_name("curve")));
  if (request.rule != PlanRule::none)
    throw field_error("explain", fmt::format("cannot be combined with {}", field_name("rule")), "", "",
                      "a rule explains itself");
  if (!request.output && !request.keep_plans)
    throw field_error("explain", "adds columns to a plan that is not written", "",
                      fmt::format("with {}", field_name("output")));
}

void check_launch(const AllocateRequest& request) {
  launch::validate({.holdout = request.holdout, .explore = request.explore});
  if (request.curve && (request.has_roles() || request.previous)) {
    throw field_error(
        "curve", "is no plan", "", "",
        fmt::format("leave out {}, {} and {}", field_name("holdout"), field_name("explore"), field_name("previous")));
  }
  if (request.holdout_salt.has_value() && request.holdout == 0.0)
    throw field_error("holdout_salt", fmt::format("has no meaning without {}", field_name("holdout")));
}

}  // namespace

data::PredictionFacts facts_of(const AllocateRequest& request, data::PredictionFacts facts) {
  data::apply_said(
      {.control = request.control.value_or(""), .is_index = request.index ? std::optional(true) : std::nullopt}, facts);
  return facts;
}

allocate::Rules make_rules(const AllocateRequest& request, const data::PredictionFacts& facts) {
  allocate::Rules rules;
  rules.control = facts.arms.control;
  rules.objective = request.objective;
  rules.margin = request.margin ? *request.margin : request.per_revenue.value_or(1.0);
  rules.min_roi = request.min_roi.value_or(0.0);
  rules.price = facts.price;
  return rules;
}

launch::LaunchDesign make_design(const AllocateRequest& request, const allocate::Rules& rules, std::uint64_t seed) {
  return {request.holdout, request.explore, request.holdout_salt.value_or(""), seed, rules.control};
}

std::vector<std::int64_t> read_limits(const std::vector<std::string>& entries, std::int64_t unset,
                                      const std::vector<std::string>& arms, const char* field) {
  if (entries.empty()) return {};
  std::vector<std::int64_t> limits(arms.size(), unset);
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.rfind('=');
    std::int64_t units = 0;
    const char* const end = entry.data() + entry.size();
    const auto [rest, problem] = std::from_chars(std::min(entry.data() + equals + 1, end), end, units);
    if (equals == std::string::npos || problem != std::errc() || rest != end || units < 0) {
      throw field_error(field, "cannot read the limit", fmt::format("'{}'", entry),
                        "ARM=N, an arm and a number of units: 20=1000");
    }
    std::int64_t& limit = limits[arm_named(entry.substr(0, equals), arms, field)];
    if (limit != unset) throw field_error(field, "a second limit for the same arm", fmt::format("'{}'", entry));
    limit = units;
  }
  return limits;
}

void check_request(const AllocateRequest& request, const core::RunContext& context) {
  for (const auto& [field, text] :
       {std::pair{"units", &request.units}, std::pair{"output", &request.output},
        std::pair{"control", &request.control}, std::pair{"eligible", &request.eligible},
        std::pair{"segment", &request.segment}, std::pair{"segment_budgets", &request.segment_budgets},
        std::pair{"second_cost", &request.second_cost}, std::pair{"previous", &request.previous}}) {
    require_text(field, *text);
  }
  require_kept_text("holdout_salt", request.holdout_salt);
  require_kept_text("launch", request.launch);
  if (request.memory) (void)parse_memory(*request.memory);
  check_limits(request);
  check_stream(request);
  check_numbers(request);
  check_output(request, context);
  check_inputs(request);
  check_explain(request);
  check_launch(request);
  check_rule(request);
}

std::string plan_name(const std::string& output, std::size_t index, std::size_t count) {
  if (output.empty() || count == 1) return output;
  const std::size_t slash = output.find_last_of('/');
  const std::size_t dot = output.find('.', slash == std::string::npos ? 0 : slash);
  return fmt::format("{}-{}{}", output.substr(0, dot), index + 1, output.substr(dot));
}

}  // namespace dfcl::verbs

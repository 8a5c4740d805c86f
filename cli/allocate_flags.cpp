// SPDX-License-Identifier: Apache-2.0
#include "cli/allocate_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/session.h"
#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"
#include "dfcl/io/file_format.h"
#include "dfcl/model/safetensors.h"

namespace dfcl::cli {
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

void check_limits(const AllocateFlags& flags) {
  const int kinds = (flags.totals.empty() ? 0 : 1) + (flags.per_unit.empty() ? 0 : 1) +
                    (flags.share_of_max.empty() ? 0 : 1) + (flags.multiplier ? 1 : 0) +
                    (flags.curve_points > 0 ? 1 : 0);
  const bool unlimited = flags.min_roi || flags.objective == "profit" || !flags.segment_budgets.empty();
  if (kinds > 1 || (kinds == 0 && !unlimited)) {
    throw usage_error("", kinds > 1 ? "more than one way to say how much may be spent" : "how much may be spent?",
                      "give one of --budget, --per-unit, --share-of-max, --multiplier, --curve; or --min-roi alone");
  }
  if (flags.segment.empty() != flags.segment_budgets.empty()) {
    throw usage_error("", "--segment and --segment-budgets go together");
  }
  if (flags.second_cost.empty() != !flags.second_budget)
    throw usage_error("", "--second-cost and --second-budget go together");
  const bool coupled =
      !flags.segment.empty() || !flags.second_cost.empty() || !flags.min_units.empty() || !flags.max_units.empty();
  if (coupled && (flags.stream || flags.multiplier || flags.curve_points > 0)) {
    throw usage_error("", "segments, a second budget and limits on units need all predictions in memory and a budget",
                      "leave out --stream, --multiplier or --curve");
  }
  if (flags.stream && (!flags.eligible.empty() || flags.curve_points > 0)) {
    throw usage_error("--stream", "cannot be combined with --eligible or --curve",
                      "put eligible_<arm> columns into the prediction file");
  }
  if (flags.stream && !flags.output.empty() && io::format_of_name(flags.output) == io::FileFormat::arrow_file) {
    throw usage_error("--stream", "writes .parquet or .csv");
  }
}

void check_numbers(const AllocateFlags& flags) {
  if (flags.multiplier && !(*flags.multiplier >= 0.0 && std::isfinite(*flags.multiplier))) {
    throw usage_error("--multiplier", fmt::format("found {}, expected a number of 0 or more", *flags.multiplier));
  }
  if (flags.margin && flags.objective != "profit") {
    throw usage_error("--margin", "has no meaning for revenue", "add --objective profit");
  }
  if (flags.margin && !(*flags.margin > 0.0 && std::isfinite(*flags.margin))) {
    throw usage_error("--margin", fmt::format("found {}, expected a number above 0", *flags.margin));
  }
}

// A plan must not replace what it was made from.
void check_output(const AllocateFlags& flags) {
  if (flags.output.empty()) return;
  if (flags.curve_points == 0) {
    (void)io::format_of_name(flags.output);
  } else if (!flags.output.ends_with(".csv") && !flags.output.ends_with(".json")) {
    throw usage_error(flags.output, "unknown file ending", "a curve is written as .csv or .json");
  }
  for (const std::string& input :
       {flags.predictions, flags.units, flags.eligible, flags.segment_budgets, flags.second_cost, flags.previous}) {
    std::error_code absent;
    if (std::filesystem::equivalent(input, flags.output, absent))
      throw usage_error(flags.output, "is an input of this run", "choose another name");
  }
}

// A model needs units; predictions must not have them.
void check_inputs(const AllocateFlags& flags) {
  const bool is_model = model::is_safetensors(flags.predictions);
  if (is_model && flags.units.empty())
    throw usage_error(flags.predictions, "is a model: plan for which units?", "dfcl allocate MODEL UNITS ...");
  if (!is_model && !flags.units.empty()) throw usage_error(flags.predictions, "is not a model, so it takes no units");
  if (is_model && (flags.stream || !flags.segment.empty())) {
    throw usage_error("--stream, --segment", "work on a prediction file", "dfcl predict writes one");
  }
}

void check_launch(const AllocateFlags& flags) {
  experiment::validate({.holdout = flags.holdout, .explore = flags.explore});
  if (flags.curve_points > 0 && (flags.has_roles() || !flags.previous.empty())) {
    throw usage_error("--curve", "is no plan", "leave out --holdout, --explore and --previous");
  }
  if (!flags.holdout_salt.empty() && flags.holdout == 0.0)
    throw usage_error("--holdout-salt", "has no meaning without --holdout");
}

void add_launch(CLI::App& verb, const std::shared_ptr<AllocateFlags>& flags) {
  verb.add_option("--holdout", flags->holdout,
                  "share of the units that get control, chosen by a hash of the id\n"
                  "The same units every day. The plan gains role and propensity, and dfcl readout can measure it.");
  verb.add_option("--holdout-salt", flags->holdout_salt, "any text: another one gives another hold-out");
  verb.add_option("--explore", flags->explore,
                  "share of the units that get an arm at random\nAnother --seed chooses other units and arms.");
  verb.add_option("--launch", flags->launch, "when the plan starts: kept in the plan, for dfcl readout");
  verb.add_option("--previous", flags->previous, "the plan before this one: tells what changes");
}

void add_constraints(CLI::App& verb, const std::shared_ptr<AllocateFlags>& flags) {
  verb.add_option("--min-roi", flags->min_roi,
                  "no increment that earns less revenue per cost than this\n"
                  "Without a budget: spend until the marginal return falls to it.");
  verb.add_option("--eligible", flags->eligible,
                  "file that says which arms a unit may get\n"
                  "Columns id and eligible_<arm> (0/1, yes/no). The prediction file may have such columns itself.");
  verb.add_option("--segment", flags->segment, "column of the prediction file that names each unit's segment");
  verb.add_option("--segment-budgets", flags->segment_budgets, "file with columns segment and budget");
  verb.add_option("--second-cost", flags->second_cost,
                  "file with columns id and cost_<arm>: another thing that arms use up");
  verb.add_option("--second-budget", flags->second_budget, "how much of it there is in all");
  verb.add_option("--min-units", flags->min_units, "at least N units in an arm: ARM=N; may be repeated");
  verb.add_option("--max-units", flags->max_units, "at most N units in an arm: ARM=N; may be repeated");
}

}  // namespace

allocate::Rules rules_of(const AllocateFlags& flags, const std::vector<std::string>& arms) {
  allocate::Rules rules;
  if (!flags.control.empty()) {
    rules.control = arm_named(flags.control, arms, "--control");
  } else if (const auto zero = std::find(arms.begin(), arms.end(), "0"); zero != arms.end()) {
    rules.control = static_cast<std::size_t>(zero - arms.begin());
  }
  if (flags.objective == "profit") rules.objective = allocate::Objective::profit;
  rules.margin = flags.margin.value_or(1.0);
  rules.min_roi = flags.min_roi.value_or(0.0);
  return rules;
}

experiment::LaunchDesign design_of(const AllocateFlags& flags, const allocate::Rules& rules, std::uint64_t seed) {
  return {flags.holdout, flags.explore, flags.holdout_salt, seed, rules.control};
}

std::vector<std::int64_t> limits_of(const std::vector<std::string>& entries, std::int64_t unset,
                                    const std::vector<std::string>& arms, const std::string& flag) {
  if (entries.empty()) return {};
  std::vector<std::int64_t> limits(arms.size(), unset);
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.rfind('=');
    std::int64_t units = 0;
    if (equals == std::string::npos || !CLI::detail::lexical_cast(entry.substr(equals + 1), units) || units < 0) {
      throw usage_error(fmt::format("{} {}", flag, entry), "cannot read the limit",
                        fmt::format("{} ARM=N, for example {} 20=1000", flag, flag));
    }
    std::int64_t& limit = limits[arm_named(entry.substr(0, equals), arms, flag)];
    if (limit != unset) throw usage_error(fmt::format("{} {}", flag, entry), "a second limit for the same arm");
    limit = units;
  }
  return limits;
}

void check_flags(const AllocateFlags& flags) {
  check_limits(flags);
  check_numbers(flags);
  check_output(flags);
  check_inputs(flags);
  check_launch(flags);
}

void add_allocate_options(CLI::App& verb, const std::shared_ptr<AllocateFlags>& flags) {
  verb.add_option("PREDICTIONS", flags->predictions,
                  "predictions, or a model\nPredictions: csv, csv.gz, parquet or arrow; a glob or a folder.")
      ->required();
  verb.add_option("UNITS", flags->units, "for a model: the units to predict and plan for");
  verb.add_option("-o,--output", flags->output,
                  "the plan to write: id, arm, revenue, cost\n"
                  "With several budgets: plan-1.parquet, plan-2.parquet, ... With --curve: the curve, .csv or .json.");
  verb.add_option("--budget", flags->totals, "total spend allowed, control's cost included; several as 100,200")
      ->delimiter(',');
  verb.add_option("--per-unit", flags->per_unit, "the budget as spend per unit; several as 0.1,0.2")->delimiter(',');
  verb.add_option("--share-of-max", flags->share_of_max,
                  "the budget as a share of what the costliest arm would cost for all\nSeveral as 0.1,0.2.")
      ->delimiter(',');
  verb.add_option("--multiplier", flags->multiplier, "no budget: apply a known price of money, such as yesterday's");
  verb.add_option("--curve", flags->curve_points, "no plan: N points of the whole curve of spend and value")
      ->check(CLI::Range(2, 100'000));
  verb.add_option("--control", flags->control,
                  "the arm that gains are counted against\nDefault: the arm 0, else the first.");
  verb.add_option("--objective", flags->objective, "what to maximise: revenue, or margin x revenue - cost")
      ->check(one_of({"revenue", "profit"}));
  verb.add_option("--margin", flags->margin, "share of revenue that is earned, for --objective profit");
  add_constraints(verb, flags);
  add_launch(verb, flags);
  verb.add_flag("--stream", flags->stream,
                "read the predictions in batches, a few times: for files larger than memory");
}

}  // namespace dfcl::cli

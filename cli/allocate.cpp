// SPDX-License-Identifier: Apache-2.0
//
// dfcl allocate: from predictions and a budget to a plan.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/allocate/allocate.h"
#include "dfcl/allocate/costliest_arm.h"
#include "dfcl/allocate/stream.h"
#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"
#include "dfcl/core/version.h"
#include "dfcl/data/prediction_fingerprint.h"
#include "dfcl/io/atomic_file.h"
#include "dfcl/io/batch_reader.h"
#include "dfcl/io/file_format.h"
#include "dfcl/io/plan_file.h"
#include "dfcl/io/prediction_file.h"
#include "dfcl/io/prediction_stream.h"
#include "dfcl/report/plan_report.h"

namespace dfcl::cli {
namespace {

struct AllocateFlags {
  std::string predictions;
  std::string output;
  std::vector<double> totals;
  std::vector<double> per_unit;
  std::vector<double> share_of_max;
  std::optional<double> multiplier;
  std::size_t curve_points = 0;
  std::string control;
  std::string objective = "revenue";
  std::optional<double> margin;
  std::optional<double> min_roi;
  std::string eligible;
  std::string segment;
  std::string segment_budgets;
  std::string second_cost;
  std::optional<double> second_budget;
  std::vector<std::string> min_units;
  std::vector<std::string> max_units;
  bool stream = false;
};

core::Error usage_error(std::string where, std::string what, std::string hint = "") {
  return core::Error({.kind = core::ErrorKind::usage, .what = std::move(what), .where = std::move(where), .hint = std::move(hint)});
}

class Clock {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::size_t arm_named(const std::string& label, const std::vector<std::string>& arms, const std::string& flag) {
  const auto found = std::find(arms.begin(), arms.end(), label);
  if (found == arms.end()) throw usage_error(flag, fmt::format("no arm '{}'", label), core::suggest(label, arms));
  return static_cast<std::size_t>(found - arms.begin());
}

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

std::vector<std::int64_t> limits_of(const std::vector<std::string>& entries, std::int64_t unset,
                                    const std::vector<std::string>& arms, const std::string& flag) {
  if (entries.empty()) return {};
  std::vector<std::int64_t> limits(arms.size(), unset);
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.rfind('=');
    std::int64_t units = 0;
    if (equals == std::string::npos || !CLI::detail::lexical_cast(entry.substr(equals + 1), units) || units < 0) {
      throw usage_error(fmt::format("{} {}", flag, entry), "cannot read the limit", fmt::format("{} ARM=N, for example {} 20=1000", flag, flag));
    }
    std::int64_t& limit = limits[arm_named(entry.substr(0, equals), arms, flag)];
    if (limit != unset) throw usage_error(fmt::format("{} {}", flag, entry), "a second limit for the same arm");
    limit = units;
  }
  return limits;
}

void check_flags(const AllocateFlags& flags) {
  const int kinds = (flags.totals.empty() ? 0 : 1) + (flags.per_unit.empty() ? 0 : 1) + (flags.share_of_max.empty() ? 0 : 1) +
                    (flags.multiplier ? 1 : 0) + (flags.curve_points > 0 ? 1 : 0);
  const bool unlimited = flags.min_roi || flags.objective == "profit" || !flags.segment_budgets.empty();
  if (kinds > 1 || (kinds == 0 && !unlimited)) {
    throw usage_error("", kinds > 1 ? "more than one way to say how much may be spent" : "how much may be spent?",
                      "give one of --budget, --per-unit, --share-of-max, --multiplier, --curve; or --min-roi alone");
  }
  if (flags.segment.empty() != flags.segment_budgets.empty()) {
    throw usage_error("", "--segment and --segment-budgets go together");
  }
  if (flags.second_cost.empty() != !flags.second_budget) throw usage_error("", "--second-cost and --second-budget go together");
  const bool coupled = !flags.segment.empty() || !flags.second_cost.empty() || !flags.min_units.empty() || !flags.max_units.empty();
  if (coupled && (flags.stream || flags.multiplier || flags.curve_points > 0)) {
    throw usage_error("", "segments, a second budget and limits on units need all predictions in memory and a budget",
                      "leave out --stream, --multiplier or --curve");
  }
  if (flags.stream && (!flags.eligible.empty() || flags.curve_points > 0)) {
    throw usage_error("--stream", "cannot be combined with --eligible or --curve", "put eligible_<arm> columns into the prediction file");
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
  for (const std::string& input : {flags.predictions, flags.eligible, flags.segment_budgets, flags.second_cost}) {
    std::error_code absent;
    if (std::filesystem::equivalent(input, flags.output, absent)) throw usage_error(flags.output, "is an input of this run", "choose another name");
  }
}

// The totals that the budget flags mean; one entry of kNoBudget where there is no budget.
std::vector<double> total_budgets(const AllocateFlags& flags, const allocate::CostliestArm& most) {
  if (!flags.totals.empty()) return flags.totals;
  std::vector<double> totals;
  for (const double amount : flags.per_unit) totals.push_back(amount * static_cast<double>(most.num_units));
  for (const double share : flags.share_of_max) totals.push_back(share * most.spend);
  return totals.empty() ? std::vector<double>{allocate::kNoBudget} : totals;
}

// The name of the i-th of several plans: plan.parquet, plan-2.parquet, ...
std::string plan_name(const std::string& output, std::size_t index, std::size_t count) {
  if (output.empty() || count == 1) return output;
  const std::size_t slash = output.find_last_of('/');
  const std::size_t dot = output.find('.', slash == std::string::npos ? 0 : slash);
  return fmt::format("{}-{}{}", output.substr(0, dot), index + 1, output.substr(dot));
}

data::Provenance provenance_of(const AllocateFlags& flags, const allocate::Rules& rules, const std::vector<std::string>& arms) {
  data::Provenance provenance{"plan", core::version(), "allocate", {}};
  provenance.options = {{"control", arms[rules.control]}, {"objective", flags.objective}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) provenance.options.emplace_back(name, value);
  };
  if (flags.objective == "profit") add("margin", fmt::format("{}", rules.margin));
  if (flags.min_roi) add("min_roi", fmt::format("{}", *flags.min_roi));
  add("segment", flags.segment);
  add("min_units", fmt::format("{}", fmt::join(flags.min_units, ",")));
  add("max_units", fmt::format("{}", fmt::join(flags.max_units, ",")));
  if (flags.second_budget) add("second_budget", fmt::format("{}", *flags.second_budget));
  return provenance;
}

std::vector<std::pair<std::string, std::string>> figures_of(const report::PlanFigures& figures, std::uint64_t fingerprint) {
  auto metadata = report::plan_metadata(figures);
  metadata.emplace_back("predictions", fmt::format("{:016x}", fingerprint));
  return metadata;
}

void write_plan(const io::PredictionTable& table, const std::vector<std::uint8_t>& arm, const data::Provenance& provenance,
                const report::PlanFigures& figures, std::uint64_t fingerprint) {
  data::Plan plan;
  plan.arms = table.prediction.arms;
  plan.ids = table.prediction.ids;
  plan.arm = arm;
  plan.revenue.resize(arm.size());
  plan.cost.resize(arm.size());
  for (std::size_t unit = 0; unit < arm.size(); ++unit) {
    plan.revenue[unit] = table.prediction.revenue(unit, arm[unit]);
    plan.cost[unit] = table.prediction.cost(unit, arm[unit]);
  }
  io::PlanWriter writer(figures.file, plan.ids.texts() == nullptr, provenance);
  writer.write(plan);
  writer.commit(figures_of(figures, fingerprint));
}

// Everything a problem points at, in memory.
struct LoadedProblem {
  io::PredictionTable table;
  core::Matrix<float> second;
  allocate::Problem problem;
};

LoadedProblem load_problem(const AllocateFlags& flags, core::RunContext& context) {
  LoadedProblem loaded;
  loaded.table = io::read_prediction(flags.predictions, flags.segment, context);
  const data::Prediction& prediction = loaded.table.prediction;
  allocate::Problem& problem = loaded.problem;
  problem.revenue = prediction.revenue.view();
  problem.cost = prediction.cost.view();
  problem.rules = rules_of(flags, prediction.arms);
  if (!flags.eligible.empty()) loaded.table.eligible = io::read_eligibility(flags.eligible, prediction.arms, prediction.ids, context);
  if (loaded.table.eligible.rows() > 0) problem.eligible = std::as_const(loaded.table.eligible).view();
  problem.min_units = limits_of(flags.min_units, 0, prediction.arms, "--min-units");
  problem.max_units = limits_of(flags.max_units, static_cast<std::int64_t>(prediction.num_units()), prediction.arms, "--max-units");
  if (!flags.segment_budgets.empty()) {
    const auto budgets = io::read_segment_budgets(flags.segment_budgets, context);
    problem.segments.of_unit = loaded.table.segment;
    for (const std::string& segment : loaded.table.segments) {
      const auto budget = budgets.find(segment);
      problem.segments.budgets.push_back(budget == budgets.end() ? allocate::kNoBudget : budget->second);
      if (budget == budgets.end()) context.warn(fmt::format("segment '{}' has no budget of its own in {}", segment, flags.segment_budgets));
    }
  }
  if (flags.second_budget) {
    loaded.second = io::read_second_cost(flags.second_cost, prediction.arms, prediction.ids, context);
    problem.second = {std::as_const(loaded.second).view(), *flags.second_budget};
  }
  return loaded;
}

// A unit that the solver refuses is named by its place; the user knows its id.
template <class IdOf, class Solve>
auto naming_units(IdOf&& id_of, Solve&& solve) {
  try {
    return solve();
  } catch (const core::Error& error) {
    core::ErrorDetails details = error.details();
    if (!details.where.starts_with("unit ")) throw;
    details.where = fmt::format("unit '{}'", id_of(std::stoull(details.where.substr(5))));
    throw core::Error(details);
  }
}

int finish(const std::vector<report::PlanFigures>& plans, bool as_json) {
  fmt::print("{}", as_json ? report::plans_json(plans) : report::plans_text(plans));
  const bool all = std::all_of(plans.begin(), plans.end(), [](const auto& plan) { return plan.solution.has_plan(); });
  return all ? 0 : static_cast<int>(core::ErrorKind::infeasible);
}

int run_curve(const AllocateFlags& flags, const LoadedProblem& loaded, bool as_json, core::RunContext& context) {
  const std::vector<std::string>& arms = loaded.table.prediction.arms;
  const auto id_of = [&](std::size_t unit) { return loaded.table.prediction.ids.text(unit); };
  const allocate::Curve curve = naming_units(id_of, [&] {
    return allocate::allocate_curve(loaded.problem, flags.curve_points, context);
  });
  const bool json_file = flags.output.ends_with(".json");
  if (!flags.output.empty()) io::write_text_file(flags.output, json_file ? report::curve_json(curve, arms) : report::curve_csv(curve, arms));
  fmt::print("{}", as_json ? report::curve_json(curve, arms) : report::curve_text(curve, arms));
  return 0;
}

int run_in_memory(const AllocateFlags& flags, bool as_json, core::RunContext& context) {
  Clock clock;
  const LoadedProblem loaded = load_problem(flags, context);
  const data::Prediction& prediction = loaded.table.prediction;
  if (flags.curve_points > 0) return run_curve(flags, loaded, as_json, context);
  const std::vector<double> totals = total_budgets(flags, allocate::costliest_arm(loaded.problem.cost, context));
  const std::uint64_t fingerprint = flags.output.empty() ? 0 : data::fingerprint_of(prediction, context);
  const double read_seconds = clock.lap();
  const data::Provenance provenance = provenance_of(flags, loaded.problem.rules, prediction.arms);
  const auto id_of = [&](std::size_t unit) { return prediction.ids.text(unit); };

  std::vector<report::PlanFigures> plans;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    report::PlanFigures figures{{}, prediction.num_units(), prediction.arms, loaded.table.segments, loaded.problem.rules,
                                flags.second_budget.has_value(), {}, ""};
    figures.seconds.read = read_seconds;
    clock.lap();
    figures.solution = naming_units(id_of, [&] {
      return flags.multiplier ? allocate::apply_multiplier(loaded.problem, *flags.multiplier, context)
                              : allocate::allocate(loaded.problem, totals[i], context);
    });
    figures.seconds.solve = clock.lap();
    if (!flags.output.empty() && figures.solution.has_plan()) {
      figures.file = plan_name(flags.output, i, totals.size());
      write_plan(loaded.table, figures.solution.arm, provenance, figures, fingerprint);
    }
    figures.seconds.write = clock.lap();
    figures.solution.arm = {};
    plans.push_back(std::move(figures));
  }
  return finish(plans, as_json);
}

// The id of a unit by its place, read again from the start: for messages.
std::string id_in_stream(data::BatchSource& source, std::size_t id_column, std::size_t unit) {
  source.rewind();
  data::Batch batch;
  for (std::size_t first = 0; source.next(batch); first += batch.num_rows) {
    if (unit < first + batch.num_rows) return data::ids_of_batch(batch, id_column, first).text(unit - first);
  }
  return std::to_string(unit);
}

int run_stream(const AllocateFlags& flags, bool as_json, core::RunContext& context) {
  const std::vector<std::string> arms = io::arms_of_columns(io::column_names(flags.predictions), flags.predictions);
  const allocate::Rules rules = rules_of(flags, arms);
  data::FingerprintedSource source(io::open_prediction(flags.predictions, arms, context), arms);
  const std::size_t id_column = source.columns().back().name == "id" ? source.columns().size() - 1 : source.columns().size();
  Clock clock;
  allocate::CostliestArm most;
  if (!flags.per_unit.empty() || !flags.share_of_max.empty()) most = allocate::costliest_arm(source, arms, context);
  const std::vector<double> totals = total_budgets(flags, most);

  std::vector<report::PlanFigures> plans;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    report::PlanFigures figures{{}, 0, arms, {}, rules, false, {}, ""};
    figures.seconds.read = clock.lap();
    std::optional<io::PlanWriter> writer;
    const std::string file = plan_name(flags.output, i, totals.size());
    const auto sink = [&](const allocate::PlannedBatch& planned) {
      figures.num_units += planned.batch.num_rows;
      if (file.empty()) return;
      data::Plan piece;
      piece.arms = arms;
      piece.ids = data::ids_of_batch(planned.batch, id_column, planned.first_unit);
      piece.arm.assign(planned.arm.begin(), planned.arm.end());
      piece.revenue.assign(planned.revenue.begin(), planned.revenue.end());
      piece.cost.assign(planned.cost.begin(), planned.cost.end());
      if (!writer) writer.emplace(file, piece.ids.texts() == nullptr, provenance_of(flags, rules, arms));
      writer->write(piece);
    };
    const auto id_of = [&](std::size_t unit) { return id_in_stream(source, id_column, unit); };
    figures.solution = naming_units(id_of, [&] {
      return flags.multiplier ? allocate::apply_multiplier_stream(source, arms, rules, *flags.multiplier, sink, context)
                              : allocate::allocate_stream(source, arms, rules, totals[i], sink, context);
    });
    figures.seconds.solve = clock.lap();
    if (writer) {
      figures.file = file;
      writer->commit(figures_of(figures, source.fingerprint()));
    }
    figures.seconds.write = clock.lap();
    plans.push_back(std::move(figures));
  }
  return finish(plans, as_json);
}

int run_allocate(const AllocateFlags& flags, bool as_json, core::RunContext& context) {
  check_flags(flags);
  check_numbers(flags);
  check_output(flags);
  return flags.stream ? run_stream(flags, as_json, context) : run_in_memory(flags, as_json, context);
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
  verb.add_option("--second-cost", flags->second_cost, "file with columns id and cost_<arm>: another thing that arms use up");
  verb.add_option("--second-budget", flags->second_budget, "how much of it there is in all");
  verb.add_option("--min-units", flags->min_units, "at least N units in an arm: ARM=N; may be repeated");
  verb.add_option("--max-units", flags->max_units, "at most N units in an arm: ARM=N; may be repeated");
}

}  // namespace

void add_allocate(Session& session) {
  const auto flags = std::make_shared<AllocateFlags>();
  CLI::App& verb = session.add_verb(
      "allocate",
      "who gets what: the best plan for a budget, with proof of how good it is\n"
      "Any file with columns id, revenue_<arm> and cost_<arm> will do as predictions. Exit code 6: the budget cannot be met.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --truth predictions.parquet\n"
      "dfcl allocate predictions.parquet --share-of-max 0.2 -o plan.parquet\n"
      "dfcl allocate predictions.parquet --curve 10 -o curve.csv",
      [flags, &session](core::RunContext& context) { return run_allocate(*flags, session.json(), context); });
  verb.add_option("PREDICTIONS", flags->predictions, "csv, csv.gz, parquet or arrow; a glob or a folder")->required();
  verb.add_option("-o,--output", flags->output,
                  "the plan to write: id, arm, revenue, cost\n"
                  "With several budgets: plan-1.parquet, plan-2.parquet, ... With --curve: the curve, .csv or .json.");
  verb.add_option("--budget", flags->totals, "total spend allowed, control's cost included; several as 100,200")->delimiter(',');
  verb.add_option("--per-unit", flags->per_unit, "the budget as spend per unit; several as 0.1,0.2")->delimiter(',');
  verb.add_option("--share-of-max", flags->share_of_max,
                  "the budget as a share of what the costliest arm would cost for all\nSeveral as 0.1,0.2.")
      ->delimiter(',');
  verb.add_option("--multiplier", flags->multiplier, "no budget: apply a known price of money, such as yesterday's");
  verb.add_option("--curve", flags->curve_points, "no plan: N points of the whole curve of spend and value")->check(CLI::Range(2, 100'000));
  verb.add_option("--control", flags->control, "the arm that gains are counted against\nDefault: the arm 0, else the first.");
  verb.add_option("--objective", flags->objective, "what to maximise: revenue, or margin x revenue - cost")->check(one_of({"revenue", "profit"}));
  verb.add_option("--margin", flags->margin, "share of revenue that is earned, for --objective profit");
  add_constraints(verb, flags);
  verb.add_flag("--stream", flags->stream, "read the predictions in batches, a few times: for files larger than memory");
}

}  // namespace dfcl::cli

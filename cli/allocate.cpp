// SPDX-License-Identifier: Apache-2.0
//
// dfcl allocate: from predictions and a budget to a plan.
#include "dfcl/allocate/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "cli/allocate_flags.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/allocate/costliest_arm.h"
#include "dfcl/allocate/stream.h"
#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"
#include "dfcl/core/version.h"
#include "dfcl/data/prediction_fingerprint.h"
#include "dfcl/experiment/launch_design.h"
#include "dfcl/experiment/launch_source.h"
#include "dfcl/experiment/plan_changes.h"
#include "dfcl/io/atomic_file.h"
#include "dfcl/io/batch_reader.h"
#include "dfcl/io/file_format.h"
#include "dfcl/io/plan_file.h"
#include "dfcl/io/prediction_file.h"
#include "dfcl/io/prediction_stream.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/report/plan_report.h"

namespace dfcl::cli {
namespace {

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

data::Provenance provenance_of(const AllocateFlags& flags, const allocate::Rules& rules,
                               const std::vector<std::string>& arms, std::uint64_t seed) {
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
  if (flags.has_roles()) {
    add("holdout", fmt::format("{}", flags.holdout));
    add("holdout_salt", flags.holdout_salt);
    add("explore", fmt::format("{}", flags.explore));
    if (flags.explore > 0.0) add("seed", fmt::format("{}", seed));
  }
  return provenance;
}

std::vector<std::pair<std::string, std::string>> figures_of(const report::PlanFigures& figures,
                                                            std::uint64_t fingerprint) {
  auto metadata = report::plan_metadata(figures);
  metadata.emplace_back("predictions", fmt::format("{:016x}", fingerprint));
  return metadata;
}

// Everything a problem points at, in memory.
struct LoadedProblem {
  io::PredictionTable table;
  core::Matrix<std::uint8_t> launch_eligible;  // units x arms, with roles only: what the launch leaves open
  core::Matrix<float> second;
  allocate::Problem problem;
};

// Takes from the held-out and explored units every arm but theirs.
void mask_launch(const experiment::LaunchDesign& design, LoadedProblem& loaded, core::RunContext& context) {
  const data::Prediction& prediction = loaded.table.prediction;
  const core::Matrix<std::uint8_t>& eligible = loaded.table.eligible;
  loaded.launch_eligible = core::Matrix<std::uint8_t>(prediction.num_units(), prediction.arms.size());
  const std::size_t bytes = loaded.launch_eligible.view().size();
  if (eligible.rows() > 0) {
    std::copy_n(eligible.data(), bytes, loaded.launch_eligible.data());
  } else {
    std::fill_n(loaded.launch_eligible.data(), bytes, std::uint8_t{1});
  }
  experiment::mask_launch(design, prediction.ids, loaded.launch_eligible.view(), context);
  loaded.problem.eligible = std::as_const(loaded.launch_eligible).view();
}

LoadedProblem load_problem(const AllocateFlags& flags, core::RunContext& context) {
  LoadedProblem loaded;
  if (flags.units.empty()) {
    loaded.table = io::read_prediction(flags.predictions, flags.segment, context);
  } else {
    loaded.table.prediction = model::predict_file(model::read_model(flags.predictions), flags.units, context);
  }
  const data::Prediction& prediction = loaded.table.prediction;
  allocate::Problem& problem = loaded.problem;
  problem.revenue = prediction.revenue.view();
  problem.cost = prediction.cost.view();
  problem.rules = rules_of(flags, prediction.arms);
  if (!flags.eligible.empty())
    loaded.table.eligible = io::read_eligibility(flags.eligible, prediction.arms, prediction.ids, context);
  if (loaded.table.eligible.rows() > 0) problem.eligible = std::as_const(loaded.table.eligible).view();
  problem.min_units = limits_of(flags.min_units, 0, prediction.arms, "--min-units");
  problem.max_units =
      limits_of(flags.max_units, static_cast<std::int64_t>(prediction.num_units()), prediction.arms, "--max-units");
  if (!flags.segment_budgets.empty()) {
    const auto budgets = io::read_segment_budgets(flags.segment_budgets, context);
    problem.segments.of_unit = loaded.table.segment;
    for (const std::string& segment : loaded.table.segments) {
      const auto budget = budgets.find(segment);
      problem.segments.budgets.push_back(budget == budgets.end() ? allocate::kNoBudget : budget->second);
      if (budget == budgets.end())
        context.warn(fmt::format("segment '{}' has no budget of its own in {}", segment, flags.segment_budgets));
    }
  }
  if (flags.second_budget) {
    loaded.second = io::read_second_cost(flags.second_cost, prediction.arms, prediction.ids, context);
    problem.second = {std::as_const(loaded.second).view(), *flags.second_budget};
  }
  if (flags.has_roles()) mask_launch(design_of(flags, problem.rules, context.seed), loaded, context);
  return loaded;
}

void append_roles(const LoadedProblem& loaded, const allocate::Solution& solution,
                  const experiment::LaunchDesign& design, data::Plan& plan) {
  const allocate::Problem& problem = loaded.problem;
  experiment::UnitPrices prices{
      .multiplier = solution.multiplier, .arm = solution.arm_multiplier, .second = solution.second_multiplier};
  for (std::size_t unit = 0; unit < plan.num_units(); ++unit) {
    if (!solution.segment_multiplier.empty())
      prices.multiplier = solution.multiplier + solution.segment_multiplier[loaded.table.segment[unit]];
    if (problem.second.cost.rows > 0) prices.second_cost = problem.second.cost.row(unit);
    experiment::UnitRow row{problem.revenue.row(unit), problem.cost.row(unit), {}};
    if (loaded.table.eligible.rows() > 0) row.open = loaded.table.eligible.row(unit);
    experiment::append_role(design, unit, row, problem.rules, prices, plan);
  }
}

data::Plan plan_of(const LoadedProblem& loaded, const allocate::Solution& solution,
                   const experiment::LaunchDesign& design) {
  const data::Prediction& prediction = loaded.table.prediction;
  data::Plan plan;
  plan.arms = prediction.arms;
  plan.ids = prediction.ids;
  plan.arm = solution.arm;
  plan.revenue.resize(plan.arm.size());
  plan.cost.resize(plan.arm.size());
  for (std::size_t unit = 0; unit < plan.arm.size(); ++unit) {
    plan.revenue[unit] = prediction.revenue(unit, plan.arm[unit]);
    plan.cost[unit] = prediction.cost(unit, plan.arm[unit]);
  }
  if (design.is_on()) append_roles(loaded, solution, design, plan);
  return plan;
}

std::optional<io::PlanFile> previous_plan(const AllocateFlags& flags, core::RunContext& context) {
  if (flags.previous.empty()) return std::nullopt;
  return io::read_plan(flags.previous, context);
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

report::PlanFigures empty_figures(const AllocateFlags& flags, const std::vector<std::string>& arms,
                                  const allocate::Rules& rules) {
  report::PlanFigures figures{{}, 0, arms, {}, rules, flags.second_budget.has_value(), {}, ""};
  figures.launch_time = flags.launch;
  return figures;
}

// How predicted spend answers to the multiplier; only where the multiplier alone makes the plan.
template <class SpendAt>
double elasticity_of(const AllocateFlags& flags, const allocate::Solution& solution, SpendAt&& spend_at) {
  const bool coupled =
      !flags.segment.empty() || !flags.second_cost.empty() || !flags.min_units.empty() || !flags.max_units.empty();
  if (coupled || !(solution.multiplier > 0.0)) return std::nan("");
  constexpr double kStep = 1.25;
  return experiment::spend_elasticity(spend_at(solution.multiplier / kStep), spend_at(solution.multiplier * kStep),
                                      kStep * kStep);
}

int run_curve(const AllocateFlags& flags, const LoadedProblem& loaded, bool as_json, core::RunContext& context) {
  const std::vector<std::string>& arms = loaded.table.prediction.arms;
  const auto id_of = [&](std::size_t unit) { return loaded.table.prediction.ids.text(unit); };
  const allocate::Curve curve =
      naming_units(id_of, [&] { return allocate::allocate_curve(loaded.problem, flags.curve_points, context); });
  const bool json_file = flags.output.ends_with(".json");
  if (!flags.output.empty())
    io::write_text_file(flags.output, json_file ? report::curve_json(curve, arms) : report::curve_csv(curve, arms));
  fmt::print("{}", as_json ? report::curve_json(curve, arms) : report::curve_text(curve, arms));
  return 0;
}

int run_in_memory(const AllocateFlags& flags, bool as_json, core::RunContext& context) {
  Clock clock;
  const std::optional<io::PlanFile> previous = previous_plan(flags, context);
  const LoadedProblem loaded = load_problem(flags, context);
  const data::Prediction& prediction = loaded.table.prediction;
  if (flags.curve_points > 0) return run_curve(flags, loaded, as_json, context);
  const std::vector<double> totals = total_budgets(flags, allocate::costliest_arm(loaded.problem.cost, context));
  const std::uint64_t fingerprint = flags.output.empty() ? 0 : data::fingerprint_of(prediction, context);
  const double read_seconds = clock.lap();
  const data::Provenance provenance = provenance_of(flags, loaded.problem.rules, prediction.arms, context.seed);
  const experiment::LaunchDesign design = design_of(flags, loaded.problem.rules, context.seed);
  const auto id_of = [&](std::size_t unit) { return prediction.ids.text(unit); };

  std::vector<report::PlanFigures> plans;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    report::PlanFigures figures = empty_figures(flags, prediction.arms, loaded.problem.rules);
    figures.num_units = prediction.num_units();
    figures.segments = loaded.table.segments;
    figures.seconds.read = read_seconds;
    clock.lap();
    figures.solution = naming_units(id_of, [&] {
      return flags.multiplier ? allocate::apply_multiplier(loaded.problem, *flags.multiplier, context)
                              : allocate::allocate(loaded.problem, totals[i], context);
    });
    if (design.is_on() && figures.solution.has_plan()) {
      const auto spend_at = [&](double price) {
        return allocate::apply_multiplier(loaded.problem, price, context).spend;
      };
      figures.launch = {design, {}, elasticity_of(flags, figures.solution, spend_at)};
    }
    figures.seconds.solve = clock.lap();
    const bool is_looked_at = !flags.output.empty() || design.is_on() || previous;
    if (figures.solution.has_plan() && is_looked_at) {
      const data::Plan plan = plan_of(loaded, figures.solution, design);
      if (figures.launch) experiment::add_role_totals(plan, figures.launch->roles);
      if (previous) {
        experiment::PlanChanges changes(previous->plan, prediction.arms);
        changes.add(plan);
        figures.change = changes.result();
      }
      if (!flags.output.empty()) {
        figures.file = plan_name(flags.output, i, totals.size());
        io::PlanWriter writer(figures.file, plan.ids.texts() == nullptr, plan.has_roles(), provenance);
        writer.write(plan);
        writer.commit(figures_of(figures, fingerprint));
      }
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
  const experiment::LaunchDesign design = design_of(flags, rules, context.seed);
  std::unique_ptr<data::BatchSource> opened = io::open_prediction(flags.predictions, arms, context);
  const experiment::LaunchSource* launch = nullptr;
  if (design.is_on()) {
    auto designed = std::make_unique<experiment::LaunchSource>(std::move(opened), arms, design);
    launch = designed.get();
    opened = std::move(designed);
  }
  data::FingerprintedSource source(std::move(opened), arms);
  const std::optional<io::PlanFile> previous = previous_plan(flags, context);
  const std::size_t id_column =
      source.columns().back().name == "id" ? source.columns().size() - 1 : source.columns().size();
  Clock clock;
  allocate::CostliestArm most;
  if (!flags.per_unit.empty() || !flags.share_of_max.empty()) most = allocate::costliest_arm(source, arms, context);
  const std::vector<double> totals = total_budgets(flags, most);

  std::vector<report::PlanFigures> plans;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    report::PlanFigures figures = empty_figures(flags, arms, rules);
    figures.seconds.read = clock.lap();
    std::optional<io::PlanWriter> writer;
    std::optional<experiment::PlanChanges> changes;
    if (previous) changes.emplace(previous->plan, arms);
    std::vector<experiment::RoleTotals> roles(data::kNumRoles);
    const std::string file = plan_name(flags.output, i, totals.size());
    const auto sink = [&](const allocate::PlannedBatch& planned) {
      figures.num_units += planned.batch.num_rows;
      if (file.empty() && launch == nullptr && !changes) return;
      data::Plan piece;
      piece.arms = arms;
      piece.ids = data::ids_of_batch(planned.batch, id_column, planned.first_unit);
      piece.arm.assign(planned.arm.begin(), planned.arm.end());
      piece.revenue.assign(planned.revenue.begin(), planned.revenue.end());
      piece.cost.assign(planned.cost.begin(), planned.cost.end());
      if (launch != nullptr) launch->append_roles(planned.batch, rules, planned.multiplier, piece);
      experiment::add_role_totals(piece, roles);
      if (changes) changes->add(piece);
      if (file.empty()) return;
      if (!writer) {
        writer.emplace(file, piece.ids.texts() == nullptr, piece.has_roles(),
                       provenance_of(flags, rules, arms, context.seed));
      }
      writer->write(piece);
    };
    const auto id_of = [&](std::size_t unit) { return id_in_stream(source, id_column, unit); };
    figures.solution = naming_units(id_of, [&] {
      return flags.multiplier ? allocate::apply_multiplier_stream(source, arms, rules, *flags.multiplier, sink, context)
                              : allocate::allocate_stream(source, arms, rules, totals[i], sink, context);
    });
    if (launch != nullptr && figures.solution.has_plan()) {
      const auto spend_at = [&](double price) {
        const auto ignore = [](const allocate::PlannedBatch&) {};
        return allocate::apply_multiplier_stream(source, arms, rules, price, ignore, context).spend;
      };
      figures.launch = {design, roles, elasticity_of(flags, figures.solution, spend_at)};
    }
    if (changes && figures.solution.has_plan()) figures.change = changes->result();
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
  return flags.stream ? run_stream(flags, as_json, context) : run_in_memory(flags, as_json, context);
}

}  // namespace

void add_allocate(Session& session) {
  const auto flags = std::make_shared<AllocateFlags>();
  CLI::App& verb = session.add_verb(
      "allocate",
      "who gets what: the best plan for a budget, with proof of how good it is\n"
      "Any file with columns id, revenue_<arm> and cost_<arm> will do as predictions; or give a model and units. Exit "
      "code 6: the budget cannot be met.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --truth predictions.parquet\n"
      "dfcl allocate predictions.parquet --share-of-max 0.2 -o plan.parquet\n"
      "dfcl allocate predictions.parquet --curve 10 -o curve.csv",
      [flags, &session](core::RunContext& context) { return run_allocate(*flags, session.json(), context); });
  add_allocate_options(verb, flags);
}

}  // namespace dfcl::cli

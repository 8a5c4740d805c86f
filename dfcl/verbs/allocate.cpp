// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "dfcl/allocate/costliest_arm.h"
#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/suggest.h"
#include "dfcl/core/version.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/data/prediction_fingerprint.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/predictions/prediction_stream.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/batch_reader.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/launch/launch_design.h"
#include "dfcl/launch/launch_source.h"
#include "dfcl/launch/plan_changes.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/verbs/predict.h"

namespace dfcl::verbs {
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
std::vector<double> total_budgets(const AllocateRequest& request, const allocate::CostliestArm& most) {
  if (!request.totals.empty()) return request.totals;
  std::vector<double> totals;
  for (const double amount : request.per_unit) totals.push_back(amount * static_cast<double>(most.num_units));
  for (const double share : request.share_of_max) totals.push_back(share * most.spend);
  return totals.empty() ? std::vector<double>{allocate::kNoBudget} : totals;
}

// The name of the i-th of several plans: plan.parquet, plan-2.parquet, ...
std::string plan_name(const std::string& output, std::size_t index, std::size_t count) {
  if (output.empty() || count == 1) return output;
  const std::size_t slash = output.find_last_of('/');
  const std::size_t dot = output.find('.', slash == std::string::npos ? 0 : slash);
  return fmt::format("{}-{}{}", output.substr(0, dot), index + 1, output.substr(dot));
}

void warn_of_index(bool is_index, core::RunContext& context) {
  if (is_index) context.warn("these predictions rank units by revenue per cost: revenue here is an index, not money");
}

data::Provenance provenance_of(const AllocateRequest& request, const allocate::Rules& rules,
                               const data::PredictionFacts& facts, std::uint64_t seed) {
  data::Provenance provenance{"plan", core::version(), "allocate", {}};
  provenance.options = {{data::kControlOption, facts.arms.labels[rules.control]}, {"objective", std::string(core::to_word(request.objective))}};
  if (facts.is_index) provenance.options.emplace_back(data::kIndexOption, "true");
  if (!facts.model.empty()) provenance.options.emplace_back(data::kModelOption, facts.model);
  if (!facts.method.empty()) provenance.options.emplace_back(data::kMethodOption, facts.method);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) provenance.options.emplace_back(name, value);
  };
  if (request.objective == allocate::Objective::profit) add("margin", fmt::format("{}", rules.margin));
  if (request.min_roi) add("min_roi", fmt::format("{}", *request.min_roi));
  add("segment", request.segment);
  add("min_units", fmt::format("{}", fmt::join(request.min_units, ",")));
  add("max_units", fmt::format("{}", fmt::join(request.max_units, ",")));
  if (request.second_budget) add("second_budget", fmt::format("{}", *request.second_budget));
  if (request.has_roles()) {
    add("holdout", fmt::format("{}", request.holdout));
    add("holdout_salt", request.holdout_salt);
    add("explore", fmt::format("{}", request.explore));
    if (request.explore > 0.0) add("seed", fmt::format("{}", seed));
  }
  return provenance;
}

std::vector<std::pair<std::string, std::string>> figures_of(const report::PlanSummary& figures,
                                                            std::uint64_t fingerprint) {
  auto metadata = report::plan_metadata(figures);
  metadata.emplace_back("predictions", fmt::format("{:016x}", fingerprint));
  return metadata;
}

// Everything a problem points at, in memory.
struct LoadedProblem {
  std::shared_ptr<const data::Prediction> prediction;
  data::PredictionFacts facts;                 // of the prediction, with what the request says of them
  io::PredictionTable table;                   // its prediction has moved to the line above
  core::Matrix<std::uint8_t> launch_eligible;  // units x arms, with roles only: what the launch leaves open
  core::Matrix<float> second;
  std::vector<std::uint64_t> keys;  // hashes of the ids; empty without ids
  allocate::Problem problem;
};

// Takes from the held-out and explored units every arm but theirs.
void mask_launch(const launch::LaunchDesign& design, LoadedProblem& loaded, core::RunContext& context) {
  const data::Prediction& prediction = *loaded.prediction;
  const core::Matrix<std::uint8_t>& eligible = loaded.table.eligible;
  loaded.launch_eligible = core::Matrix<std::uint8_t>(prediction.num_units(), prediction.arms.size());
  const std::size_t bytes = loaded.launch_eligible.view().size();
  if (eligible.rows() > 0) {
    std::copy_n(eligible.data(), bytes, loaded.launch_eligible.data());
  } else {
    std::fill_n(loaded.launch_eligible.data(), bytes, std::uint8_t{1});
  }
  launch::mask_launch(design, prediction.ids, loaded.launch_eligible.view(), context);
  loaded.problem.eligible = std::as_const(loaded.launch_eligible).view();
}

LoadedProblem load_problem(const AllocateRequest& request, core::RunContext& context) {
  LoadedProblem loaded;
  loaded.prediction = request.prediction;
  if (loaded.prediction == nullptr) {
    data::Prediction read;
    if (request.model != nullptr) {
      read = model::predict_file(*request.model, request.units, context);
    } else if (!request.units.empty()) {
      read = model::predict_file(model::read_model(request.predictions), request.units, context);
    } else {
      loaded.table = io::read_prediction(request.predictions, request.segment, context);
      read = std::move(loaded.table.prediction);
    }
    loaded.prediction = std::make_shared<const data::Prediction>(std::move(read));
  }
  const data::Prediction& prediction = *loaded.prediction;
  const std::vector<std::string>& arms = prediction.arms.labels;
  loaded.facts = facts_of(request, prediction);
  warn_of_index(loaded.facts.is_index, context);
  allocate::Problem& problem = loaded.problem;
  problem.revenue = prediction.revenue.view();
  problem.cost = prediction.cost.view();
  problem.rules = make_rules(request, loaded.facts);
  if (!prediction.ids.are_row_numbers()) {
    loaded.keys.resize(prediction.num_units());
    core::for_each_chunk(context, loaded.keys.size(), 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t unit = begin; unit < end; ++unit) loaded.keys[unit] = prediction.ids.hash(unit);
    });
    problem.keys = loaded.keys;
  }
  if (!request.eligible.empty())
    loaded.table.eligible = io::read_eligibility(request.eligible, arms, prediction.ids, context);
  if (loaded.table.eligible.rows() > 0) problem.eligible = std::as_const(loaded.table.eligible).view();
  problem.min_units = read_limits(request.min_units, 0, arms, "min_units");
  problem.max_units =
      read_limits(request.max_units, static_cast<std::int64_t>(prediction.num_units()), arms, "max_units");
  if (!request.segment_budgets.empty()) {
    const auto budgets = io::read_segment_budgets(request.segment_budgets, context);
    problem.segments.of_unit = loaded.table.segment;
    for (const std::string& segment : loaded.table.segments) {
      const auto budget = budgets.find(segment);
      problem.segments.budgets.push_back(budget == budgets.end() ? allocate::kNoBudget : budget->second);
      if (budget == budgets.end())
        context.warn(fmt::format("segment '{}' has no budget of its own in {}", segment, request.segment_budgets));
    }
  }
  if (request.second_budget) {
    loaded.second = io::read_second_cost(request.second_cost, arms, prediction.ids, context);
    problem.second = {std::as_const(loaded.second).view(), *request.second_budget};
  }
  if (request.has_roles()) mask_launch(make_design(request, problem.rules, context.seed), loaded, context);
  return loaded;
}

void append_roles(const LoadedProblem& loaded, const allocate::Solution& solution, const launch::LaunchDesign& design,
                  data::Plan& plan) {
  const allocate::Problem& problem = loaded.problem;
  launch::UnitPrices prices{
      .multiplier = solution.multiplier, .arm = solution.arm_multiplier, .second = solution.second_multiplier};
  for (std::size_t unit = 0; unit < plan.num_units(); ++unit) {
    if (!solution.segment_multiplier.empty())
      prices.multiplier = solution.multiplier + solution.segment_multiplier[loaded.table.segment[unit]];
    if (problem.second.cost.rows > 0) prices.second_cost = problem.second.cost.row(unit);
    launch::UnitRow row{problem.revenue.row(unit), problem.cost.row(unit), {}};
    if (loaded.table.eligible.rows() > 0) row.open = loaded.table.eligible.row(unit);
    launch::append_role(design, unit, row, problem.rules, prices, plan);
  }
}

data::Plan plan_of(const LoadedProblem& loaded, const allocate::Solution& solution,
                   const launch::LaunchDesign& design) {
  const data::Prediction& prediction = *loaded.prediction;
  data::Plan plan;
  plan.arms = prediction.arms.labels;
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

std::optional<io::PlanFile> previous_plan(const AllocateRequest& request, core::RunContext& context) {
  if (request.previous.empty()) return std::nullopt;
  return io::read_plan(request.previous, context);
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

report::PlanSummary empty_figures(const AllocateRequest& request, const std::vector<std::string>& arms,
                                  const allocate::Rules& rules) {
  report::PlanSummary figures{{}, 0, arms, {}, rules, request.second_budget.has_value(), {}, ""};
  figures.launch_time = request.launch;
  return figures;
}

// How predicted spend answers to the multiplier; only where the multiplier alone makes the plan.
template <class SpendAt>
double elasticity_of(const AllocateRequest& request, const allocate::Solution& solution, SpendAt&& spend_at) {
  if (request.is_coupled() || !(solution.multiplier > 0.0)) return std::nan("");
  constexpr double kStep = 1.25;
  return launch::spend_elasticity(spend_at(solution.multiplier / kStep), spend_at(solution.multiplier * kStep),
                                  kStep * kStep);
}

allocate::Curve make_curve(const AllocateRequest& request, const LoadedProblem& loaded, core::RunContext& context) {
  const std::vector<std::string>& arms = loaded.prediction->arms.labels;
  const auto id_of = [&](std::size_t unit) { return loaded.prediction->ids.text(unit); };
  allocate::Curve curve =
      naming_units(id_of, [&] { return allocate::PlanPath(loaded.problem).curve(static_cast<std::size_t>(*request.curve), context); });
  const bool json_file = request.output.ends_with(".json");
  if (!request.output.empty())
    io::write_text_file(request.output, json_file ? report::curve_json(curve, arms) : report::curve_csv(curve, arms));
  return curve;
}

AllocateResult allocate_in_memory(const AllocateRequest& request, core::RunContext& context) {
  Clock clock;
  const std::optional<io::PlanFile> previous = previous_plan(request, context);
  const LoadedProblem loaded = load_problem(request, context);
  const data::Prediction& prediction = *loaded.prediction;
  AllocateResult result;
  result.arms = prediction.arms.labels;
  if (request.curve) {
    result.curve = make_curve(request, loaded, context);
    return result;
  }
  const std::vector<double> totals = total_budgets(request, allocate::costliest_arm(loaded.problem.cost, context));
  const bool is_kept = !request.output.empty() || request.keep_plans;
  const std::uint64_t fingerprint = is_kept ? data::fingerprint_of(prediction, context) : 0;
  const double read_seconds = clock.lap();
  const data::Provenance provenance = provenance_of(request, loaded.problem.rules, loaded.facts, context.seed);
  const launch::LaunchDesign design = make_design(request, loaded.problem.rules, context.seed);
  const auto id_of = [&](std::size_t unit) { return prediction.ids.text(unit); };
  allocate::PlanPath path(loaded.problem);

  for (std::size_t i = 0; i < totals.size(); ++i) {
    report::PlanSummary figures = empty_figures(request, prediction.arms.labels, loaded.problem.rules);
    figures.num_units = prediction.num_units();
    figures.segments = loaded.table.segments;
    figures.seconds.read = read_seconds;
    clock.lap();
    figures.solution = naming_units(id_of, [&] {
      allocate::PathPlan plan =
          request.multiplier ? path.at_multiplier(*request.multiplier, context) : path.at_budget(totals[i], context);
      if (plan.summary.arm.empty()) plan.summary.arm = path.arms(plan, context);
      return std::move(plan.summary);
    });
    if (design.is_on() && figures.solution.has_plan()) {
      const auto spend_at = [&](double price) { return path.at_multiplier(price, context).summary.spend; };
      figures.launch = {design, {}, elasticity_of(request, figures.solution, spend_at)};
    }
    figures.seconds.solve = clock.lap();
    KeptPlan kept{nullptr, provenance, {}};
    if (figures.solution.has_plan() && (is_kept || design.is_on() || previous)) {
      const auto plan = std::make_shared<const data::Plan>(plan_of(loaded, figures.solution, design));
      if (figures.launch) launch::add_role_totals(*plan, figures.launch->roles);
      if (previous) {
        launch::PlanChanges changes(previous->plan, prediction.arms.labels);
        changes.add(*plan);
        figures.change = changes.result();
      }
      if (!request.output.empty()) figures.file = plan_name(request.output, i, totals.size());
      kept = {plan, provenance, figures_of(figures, fingerprint)};
      if (!figures.file.empty()) write_plan(figures.file, kept);
    }
    figures.seconds.write = clock.lap();
    figures.solution.arm = {};
    result.plans.push_back(std::move(figures));
    if (request.keep_plans) result.kept.push_back(std::move(kept));
  }
  return result;
}

// Adds the units that follow.
void append_plan(const data::Plan& piece, data::Plan& whole) {
  const auto append = [](const auto& from, auto& to) { to.insert(to.end(), from.begin(), from.end()); };
  whole.arms = piece.arms;
  whole.ids.append(piece.ids);
  append(piece.arm, whole.arm);
  append(piece.revenue, whole.revenue);
  append(piece.cost, whole.cost);
  append(piece.role, whole.role);
  append(piece.propensity, whole.propensity);
  append(piece.control_revenue, whole.control_revenue);
  append(piece.control_cost, whole.control_cost);
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

AllocateResult allocate_streamed(const AllocateRequest& request, core::RunContext& context) {
  const data::PredictionFacts facts = facts_of(request, io::read_prediction_facts(request.predictions));
  const std::vector<std::string>& arms = facts.arms.labels;
  const allocate::Rules rules = make_rules(request, facts);
  warn_of_index(facts.is_index, context);
  const launch::LaunchDesign design = make_design(request, rules, context.seed);
  std::unique_ptr<data::BatchSource> opened = io::open_prediction(request.predictions, arms, context);
  const launch::LaunchSource* launch = nullptr;
  if (design.is_on()) {
    auto designed = std::make_unique<launch::LaunchSource>(std::move(opened), arms, design);
    launch = designed.get();
    opened = std::move(designed);
  }
  data::FingerprintedSource source(std::move(opened), arms);
  const std::optional<io::PlanFile> previous = previous_plan(request, context);
  const std::size_t id_column =
      source.columns().back().name == "id" ? source.columns().size() - 1 : source.columns().size();
  Clock clock;
  allocate::CostliestArm most;
  if (!request.per_unit.empty() || !request.share_of_max.empty()) most = allocate::costliest_arm(source, arms, context);
  const std::vector<double> totals = total_budgets(request, most);

  AllocateResult result;
  result.arms = arms;
  allocate::PlanPath path(source, arms, rules, context);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    report::PlanSummary figures = empty_figures(request, arms, rules);
    figures.seconds.read = clock.lap();
    std::optional<io::PlanWriter> writer;
    std::optional<launch::PlanChanges> changes;
    if (previous) changes.emplace(previous->plan, arms);
    std::vector<launch::RoleTotals> roles(data::kNumRoles);
    const std::string file = plan_name(request.output, i, totals.size());
    data::Plan whole;
    const auto sink = [&](const allocate::PlannedUnits& planned) {
      figures.num_units += planned.size();
      if (file.empty() && launch == nullptr && !changes && !request.keep_plans) return;
      data::Plan piece;
      piece.arms = arms;
      piece.ids = data::ids_of_batch(*planned.batch, id_column, planned.units.first_unit);
      piece.arm.assign(planned.arm.begin(), planned.arm.end());
      for (std::size_t row = 0; row < planned.size(); ++row) {
        piece.revenue.push_back(planned.revenue(row));
        piece.cost.push_back(planned.cost(row));
      }
      if (launch != nullptr) launch->append_roles(*planned.batch, rules, figures.solution.multiplier, piece);
      launch::add_role_totals(piece, roles);
      if (changes) changes->add(piece);
      if (request.keep_plans) append_plan(piece, whole);
      if (file.empty()) return;
      if (!writer) {
        writer.emplace(file, piece.ids.type(), piece.has_roles(), provenance_of(request, rules, facts, context.seed));
      }
      writer->write(piece);
    };
    const auto id_of = [&](std::size_t unit) { return id_in_stream(source, id_column, unit); };
    naming_units(id_of, [&] {
      const allocate::PathPlan plan =
          request.multiplier ? path.at_multiplier(*request.multiplier, context) : path.at_budget(totals[i], context);
      figures.solution = plan.summary;
      if (plan.summary.has_plan()) path.deliver(plan, sink, context);
    });
    if (launch != nullptr && figures.solution.has_plan()) {
      const auto spend_at = [&](double price) { return path.at_multiplier(price, context).summary.spend; };
      figures.launch = {design, roles, elasticity_of(request, figures.solution, spend_at)};
    }
    if (changes && figures.solution.has_plan()) figures.change = changes->result();
    figures.seconds.solve = clock.lap();
    if (writer) {
      figures.file = file;
      writer->commit(figures_of(figures, source.fingerprint()));
    }
    figures.seconds.write = clock.lap();
    if (request.keep_plans) {
      KeptPlan kept{nullptr, provenance_of(request, rules, facts, context.seed), {}};
      if (figures.solution.has_plan()) kept.plan = std::make_shared<const data::Plan>(std::move(whole));
      kept.figures = figures_of(figures, source.fingerprint());
      result.kept.push_back(std::move(kept));
    }
    result.plans.push_back(std::move(figures));
  }
  return result;
}

}  // namespace

bool AllocateResult::all_met() const {
  return std::all_of(plans.begin(), plans.end(), [](const auto& plan) { return plan.solution.has_plan(); });
}

AllocateResult allocate(const AllocateRequest& request, core::RunContext& context) {
  check_request(request);
  return request.stream ? allocate_streamed(request, context) : allocate_in_memory(request, context);
}

void write_plan(const std::string& path, const KeptPlan& plan) {
  io::PlanWriter writer(path, plan.plan->ids.type(), plan.plan->has_roles(), plan.provenance);
  writer.write(*plan.plan);
  writer.commit(plan.figures);
}

}  // namespace dfcl::verbs

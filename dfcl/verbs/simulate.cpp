// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/version.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/table_writer.h"
#include "dfcl/launch/simulated_launch.h"
#include "dfcl/simulate/batch_sources.h"
#include "dfcl/simulate/simulator.h"
#include "dfcl/simulate/study_text.h"
#include "dfcl/verbs/outputs.h"

namespace dfcl::verbs {
namespace {

namespace fs = std::filesystem;

// kind: trial, truth or outcomes.
data::Provenance make_provenance(const simulate::Simulator& simulator, const char* kind) {
  const simulate::SimulatorOptions& options = simulator.options();
  data::Provenance provenance{.kind = kind,
                              .version = core::version(),
                              .verb = "simulate",
                              .options = {{"preset", std::string(core::to_word(options.preset))},
                                          {"response", std::string(core::to_word(options.response))},
                                          {"rows", fmt::format("{}", options.num_rows)},
                                          {"days", fmt::format("{}", options.num_days)},
                                          {"shares", fmt::format("{}", fmt::join(simulator.shares(), ","))},
                                          {"noise", fmt::format("{}", options.noise)},
                                          {"imbalance", options.imbalance ? "true" : "false"},
                                          {"seed", fmt::format("{}", options.seed)}}};
  if (provenance.kind == "truth") {
    provenance.options.emplace_back(data::kControlOption, simulator.arms().front());
    provenance.options.emplace_back(data::kIndexOption, "false");
  }
  if (options.cost_scale != 1.0) provenance.options.emplace_back("cost_scale", fmt::format("{}", options.cost_scale));
  if (options.population_shift != 0.0)
    provenance.options.emplace_back("population_shift", fmt::format("{}", options.population_shift));
  return provenance;
}

std::uint64_t require_count(const char* field, std::int64_t count) {
  if (count < 1) throw core::field_error(field, "out of range", fmt::format("{}", count), "1 or more");
  return static_cast<std::uint64_t>(count);
}

simulate::SimulatorOptions make_options(const SimulateRequest& request, std::uint64_t seed) {
  if (request.shares && request.shares->empty()) throw core::field_error("shares", "is empty");
  return {.preset = request.preset,
          .response = request.response,
          .num_rows = require_count("rows", request.rows),
          .seed = seed,
          .num_days = request.days ? require_count("days", *request.days) : 0,
          .shares = request.shares.value_or(std::vector<double>()),
          .noise = request.noise,
          .outcome_seed = request.outcomes_of ? 1u : 0u,
          .cost_scale = request.cost_scale,
          .population_shift = request.population_shift,
          .imbalance = request.imbalance};
}

void check_outputs(const SimulateRequest& request, const core::RunContext& context) {
  require_text("study", request.study);
  if (request.output) require_table_ending("output", *request.output);
  if (request.truth) require_table_ending("truth", *request.truth);
  if (request.truth) require_other_file("truth", *request.truth, request.output.value_or(""));
  if (request.study) {
    require_other_file("study", *request.study, request.output.value_or(""));
    require_other_file("study", *request.study, request.truth.value_or(""));
    if (!request.output)
      throw core::field_error("study", "names a trial that is not written", "",
                              fmt::format("with {}", core::field_name("output")));
  }
  require_text("outcomes_of", request.outcomes_of);
  if (request.truth) require_output("truth", *request.truth, {}, context);
  if (request.study) require_output("study", *request.study, {}, context);
  if (request.output) require_output("output", *request.output, {request.outcomes_of.value_or("")}, context);
  if (!request.outcomes_of) return;
  if (request.truth || request.study || request.days) {
    throw core::field_error("outcomes_of",
                            fmt::format("cannot be combined with {}, {} or {}", core::field_name("truth"),
                                        core::field_name("study"), core::field_name("days")));
  }
}

struct Chunk {
  simulate::SimulatedRows rows;
  std::vector<simulate::ArmTotals> totals;
};

// Where simulated rows go: to files, into memory, or both.
class TrialSink {
 public:
  TrialSink(const SimulateRequest& request, const simulate::Simulator& simulator, SimulateResult& result)
      : result_(result), keep_(request.keep) {
    result.trial.provenance = make_provenance(simulator, "trial");
    result.truth.provenance = make_provenance(simulator, "truth");
    trial_ = {simulator.trial_columns(), {}};
    truth_ = {simulator.truth_columns(), {}};
    if (request.output) trial_file_.emplace(*request.output, trial_.columns, result.trial.provenance);
    if (request.truth) truth_file_.emplace(*request.truth, truth_.columns, result.truth.provenance);
    if (request.study) {
      study_file_.emplace(*request.study);  // it gets its name when everything else has
      study_file_->write(result.study_text);
    }
  }

  void add(Chunk chunk) {
    if (trial_file_) trial_file_->write(chunk.rows.trial);
    if (truth_file_) truth_file_->write(chunk.rows.truth);
    simulate::add_totals(result_.figures.totals, chunk.totals);
    if (!keep_) return;
    trial_.batches.push_back(std::move(chunk.rows.trial));
    truth_.batches.push_back(std::move(chunk.rows.truth));
  }

  void finish() {
    if (trial_file_) trial_file_->commit();
    if (truth_file_) truth_file_->commit();
    if (study_file_) study_file_->commit();
    if (!keep_) return;
    result_.trial.table = std::make_shared<const data::Table>(std::move(trial_));
    result_.truth.table = std::make_shared<const data::Table>(std::move(truth_));
  }

 private:
  SimulateResult& result_;
  bool keep_;
  data::Table trial_, truth_;
  std::optional<io::TableWriter> trial_file_, truth_file_;
  std::optional<io::AtomicFile> study_file_;
};

void simulate_trial(const SimulateRequest& request, const simulate::Simulator& simulator, SimulateResult& result,
                    core::RunContext& context) {
  TrialSink sink(request, simulator, result);
  std::uint64_t produced = 0;
  std::uint64_t written = 0;
  core::ordered_pipeline(
      context,
      [&]() -> std::optional<std::uint64_t> {
        if (produced >= simulator.num_rows()) return std::nullopt;
        const std::uint64_t first_row = produced;
        produced += simulate::kBatchRows;
        return first_row;
      },
      [&](std::uint64_t first_row) {
        const std::uint64_t count = std::min<std::uint64_t>(simulate::kBatchRows, simulator.num_rows() - first_row);
        Chunk chunk{.rows = simulator.make_rows(first_row, static_cast<std::size_t>(count)), .totals = {}};
        chunk.totals = simulate::totals_of(simulator, chunk.rows);
        return chunk;
      },
      [&](Chunk chunk) {
        written += chunk.rows.trial.num_rows;
        sink.add(std::move(chunk));
        context.progress("simulating", written, simulator.num_rows());
      });
  context.finished("simulating");
  sink.finish();
}

void simulate_outcomes(const SimulateRequest& request, const simulate::Simulator& simulator, SimulateResult& result,
                       core::RunContext& context) {
  const data::Plan plan = io::read_plan(*request.outcomes_of, context).plan;
  result.num_outcomes = plan.num_units();
  result.outcomes.provenance = make_provenance(simulator, "outcomes");
  data::Table table{launch::outcome_columns(), {}};
  table.batches.push_back(launch::simulate_outcomes(simulator, plan, context));
  if (request.output) {
    io::TableWriter writer(*request.output, table.columns, result.outcomes.provenance);
    writer.write(table.batches.front());
    writer.commit();
  }
  if (request.keep) result.outcomes.table = std::make_shared<const data::Table>(std::move(table));
}

}  // namespace

SimulateResult simulate(const SimulateRequest& request, core::RunContext& context) {
  const simulate::Simulator simulator(make_options(request, context.seed));
  check_outputs(request, context);
  SimulateResult result;
  result.figures.options = simulator.options();
  result.figures.arms = simulator.arms();
  if (request.outcomes_of) {
    simulate_outcomes(request, simulator, result, context);
    return result;
  }
  result.figures.num_columns = simulator.trial_columns().size();
  result.figures.totals.resize(simulator.arms().size());
  result.study_text = simulate::study_text(
      simulator, request.study ? path_from(*request.study, *request.output) : std::string("trial.parquet"));
  simulate_trial(request, simulator, result, context);
  return result;
}

}  // namespace dfcl::verbs

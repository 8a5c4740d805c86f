// SPDX-License-Identifier: Apache-2.0
//
// dfcl simulate: a trial with known truth, streamed to disk.
#include "dfcl/verbs/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/table_writer.h"
#include "dfcl/launch/simulated_launch.h"
#include "dfcl/simulate/arm_totals.h"
#include "dfcl/simulate/batch_sources.h"
#include "dfcl/simulate/simulator.h"
#include "dfcl/simulate/study_text.h"

namespace dfcl::cli {
namespace {

namespace fs = std::filesystem;

struct SimulateFlags {
  std::string preset = "marketing";
  std::string response = "smooth";
  std::int64_t rows = 0;
  std::int64_t days = 0;
  std::vector<double> shares;
  double noise = 1.0;
  bool imbalance = false;
  double cost_scale = 1.0;
  double population_shift = 0.0;
  std::string plan;
  std::string trial;
  std::string truth;
  std::string study;
};

simulate::SimulatorOptions options_of(const SimulateFlags& flags, std::uint64_t seed) {
  return {.preset = simulate::preset_of(flags.preset),
          .response = simulate::response_of(flags.response),
          .num_rows = static_cast<std::uint64_t>(flags.rows),
          .seed = seed,
          .num_days = static_cast<std::uint64_t>(flags.days),
          .shares = flags.shares,
          .noise = flags.noise,
          .outcome_seed = flags.plan.empty() ? 0u : 1u,
          .cost_scale = flags.cost_scale,
          .population_shift = flags.population_shift,
          .imbalance = flags.imbalance};
}

void refuse_equal_outputs(const SimulateFlags& flags) {
  const std::vector<std::pair<const char*, const std::string*>> outputs = {
      {"-o", &flags.trial}, {"--truth", &flags.truth}, {"--study", &flags.study}};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      if (outputs[i].second->empty() || outputs[j].second->empty()) continue;
      if (fs::absolute(*outputs[i].second).lexically_normal() != fs::absolute(*outputs[j].second).lexically_normal()) {
        continue;
      }
      throw core::Error({.kind = core::ErrorKind::usage,
                         .what = "two outputs have the same name",
                         .where = fmt::format("{} and {}", outputs[i].first, outputs[j].first),
                         .found = fmt::format("'{}'", *outputs[i].second),
                         .expected = "a file for each"});
    }
  }
}

// Writes the study into its temporary; it gets its name when everything else has.
void write_study(const io::AtomicFile& file, const simulate::Simulator& simulator, const std::string& trial) {
  fs::path folder = fs::absolute(file.path()).lexically_normal().parent_path();
  const fs::path place = fs::absolute(trial).lexically_normal().lexically_relative(folder);
  std::ofstream stream(file.temporary_path(), std::ios::binary);
  stream << simulate::study_text(simulator, place.empty() ? fs::absolute(trial).string() : place.generic_string());
  stream.close();
  if (!stream) throw core::Error({.kind = core::ErrorKind::file, .what = "cannot write", .where = file.path()});
}

struct Chunk {
  simulate::SimulatedRows rows;
  std::vector<simulate::ArmTotals> totals;
};

void print_totals(const simulate::Simulator& simulator, const std::vector<simulate::ArmTotals>& totals, bool as_json) {
  const auto rows = static_cast<double>(simulator.num_rows());
  const simulate::SimulatorOptions& options = simulator.options();
  nlohmann::ordered_json arms = nlohmann::ordered_json::array();
  std::string table = fmt::format("{} rows, {} columns, preset {}, response {}, seed {}\n\n", options.num_rows,
                                  simulator.trial_columns().size(), simulate::name_of(options.preset),
                                  simulate::name_of(options.response), options.seed);
  table += fmt::format("{:>5}{:>12}{:>9}{:>14}{:>14}{:>16}{:>13}\n", "arm", "units", "share", "mean revenue",
                       "mean cost", "true revenue", "true cost");
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const simulate::ArmTotals& arm = totals[i];
    const auto units = static_cast<double>(arm.units);
    const double share = units / rows;
    const bool empty = arm.units == 0;  // has no means
    arms.push_back({{"arm", simulator.arms()[i]},
                    {"units", arm.units},
                    {"share", share},
                    {"mean_revenue", empty ? nlohmann::ordered_json() : nlohmann::ordered_json(arm.revenue / units)},
                    {"mean_cost", empty ? nlohmann::ordered_json() : nlohmann::ordered_json(arm.cost / units)},
                    {"true_revenue", arm.expected_revenue / rows},
                    {"true_cost", arm.expected_cost / rows}});
    table += fmt::format("{:>5}{:>12}{:>9.4f}{:>14}{:>14}{:>16.5f}{:>13.5f}\n", simulator.arms()[i], arm.units, share,
                         empty ? "-" : fmt::format("{:.5f}", arm.revenue / units),
                         empty ? "-" : fmt::format("{:.5f}", arm.cost / units), arm.expected_revenue / rows,
                         arm.expected_cost / rows);
  }
  if (as_json) {
    const nlohmann::ordered_json result = {{"rows", simulator.num_rows()},
                                           {"columns", simulator.trial_columns().size()},
                                           {"preset", simulate::name_of(options.preset)},
                                           {"response", simulate::name_of(options.response)},
                                           {"seed", options.seed},
                                           {"arms", arms}};
    fmt::print("{}\n", result.dump(2));
  } else {
    fmt::print("{}", table);
  }
}

// What the units of a plan earn and cost, instead of a trial.
int run_outcomes(const SimulateFlags& flags, const simulate::Simulator& simulator, bool as_json,
                 core::RunContext& context) {
  if (!flags.truth.empty() || !flags.study.empty() || flags.days > 0) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "cannot be combined with --truth, --study or --days",
                       .where = "--outcomes-of"});
  }
  require_output(flags.trial, {flags.plan});
  const data::Plan plan = io::read_plan(flags.plan, context).plan;
  io::TableWriter writer(flags.trial, launch::outcome_columns(), verbs::simulation_provenance(simulator, "outcomes"));
  writer.write(launch::simulate_outcomes(simulator, plan, context));
  writer.commit();
  if (as_json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"units", plan.num_units()}}.dump(2));
  } else {
    fmt::print("{}: outcomes of {} units under their planned arms\n", flags.trial, plan.num_units());
  }
  return 0;
}

int run_simulate(const SimulateFlags& flags, bool as_json, core::RunContext& context) {
  const simulate::Simulator simulator(options_of(flags, context.seed));
  if (!flags.plan.empty()) return run_outcomes(flags, simulator, as_json, context);
  refuse_equal_outputs(flags);
  io::TableWriter trial(flags.trial, simulator.trial_columns(), verbs::simulation_provenance(simulator, "trial"));
  std::optional<io::TableWriter> truth;
  if (!flags.truth.empty())
    truth.emplace(flags.truth, simulator.truth_columns(), verbs::simulation_provenance(simulator, "truth"));
  std::optional<io::AtomicFile> study;
  if (!flags.study.empty()) {
    study.emplace(flags.study);
    write_study(*study, simulator, flags.trial);
  }

  std::uint64_t produced = 0;
  std::uint64_t written = 0;
  std::vector<simulate::ArmTotals> totals(simulator.arms().size());
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
        trial.write(chunk.rows.trial);
        if (truth) truth->write(chunk.rows.truth);
        simulate::add_totals(totals, chunk.totals);
        written += chunk.rows.trial.num_rows;
        context.progress("simulating", written, simulator.num_rows());
      });
  context.finished("simulating");
  trial.commit();
  if (truth) truth->commit();
  if (study) study->commit();
  print_totals(simulator, totals, as_json);
  return 0;
}

}  // namespace

void add_simulate(Session& session) {
  const auto flags = std::make_shared<SimulateFlags>();
  CLI::App& verb = session.add_verb(
      "simulate",
      "a trial with known truth, and the study file to use it with\n"
      "marketing: shops, 107 features, discounts of 0 to 20 %, orders and subsidy.\n"
      "criteo: users, 12 features, advertising or none, conversions and visits.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --truth truth.parquet "
      "--study study.toml",
      [flags, &session](core::RunContext& context) { return run_simulate(*flags, session.json(), context); });
  verb.add_option("--preset", flags->preset, "marketing or criteo")->check(one_of({"marketing", "criteo"}))->required();
  verb.add_option("--rows", flags->rows, "number of rows")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->required();
  verb.add_option("-o,--output", flags->trial, "the trial: .parquet, .csv, .csv.gz or .arrow")->required();
  verb.add_option("--truth", flags->truth, "also write the true expected outcomes of every row and arm");
  verb.add_option("--study", flags->study, "also write a commented study file for the trial");
  verb.add_option("--response", flags->response,
                  "family of functions behind the effects\nSo that no kind of learner is favoured. Default: smooth.")
      ->check(one_of({"smooth", "tree", "sparse"}));
  verb.add_option("--noise", flags->noise,
                  "variance of the outcomes, times the natural one (marketing)\n"
                  "Default: 1. 0 gives the expected outcomes themselves; below 1 they are no whole numbers.");
  verb.add_option("--days", flags->days,
                  "one row a day for every shop (marketing)\n"
                  "The rows are shops x days, day after day; every day draws its own discounts.")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}));
  verb.add_option("--shares", flags->shares,
                  "probability of each arm, for example .3,.2,.2,.2,.1\n"
                  "Default: equal for marketing, .15,.85 for criteo.")
      ->delimiter(',');
  verb.add_option("--cost-scale", flags->cost_scale, "every cost times this: a world that became dearer (marketing)");
  verb.add_option("--population-shift", flags->population_shift,
                  "shops this many standard deviations younger and keener on promotions (marketing)");
  verb.add_option(
      "--outcomes-of", flags->plan,
      "no trial: what the units of a plan earn and cost, for dfcl readout\n"
      "The plan's ids are rows of the trial of the same preset, rows and seed. Their outcomes are drawn anew.");
  verb.add_flag("--imbalance", flags->imbalance,
                "break the randomisation, to try `dfcl check`\n"
                "Arms lean on a feature, and the shares are a point off the designed ones.");
}

}  // namespace dfcl::cli

// SPDX-License-Identifier: Apache-2.0
//
// All units in memory, re-planned for every change of the settings: the solver of `dfcl allocate`, with its numbers.
// Reads everything when it is made. Memory: the predictions, their ids (8 bytes per unit for numbers), what was given
// beside them, and two plans (a byte per unit each); the path of fewer than a million units and the hashes of their ids
// are kept between budgets.
// While limits that tie units to each other are solved, some per cent of the predictions more.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/provenance.h"
#include "dfcl/data/report_words.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/report/plan/plan_report.h"
#include "dfcl/serve/settings.h"

namespace dfcl::serve {

struct PlannerInput {
  std::string predictions;                 // path; or a model's
  std::optional<std::string> units;        // path, for a model
  std::optional<std::string> control;      // label
  std::optional<std::string> eligible;     // path
  std::optional<std::string> segment;      // column of the predictions, or of the units of a model
  std::optional<std::string> second_cost;  // path
  std::optional<double> worth;             // of one unit of revenue
};

// What is known before anything is asked.
struct PlannerFacts {
  std::string source;  // path of the predictions or of the units
  std::vector<std::string> arms;
  std::size_t control = 0;
  std::size_t num_units = 0;
  bool is_index = false;
  double control_revenue = 0.0;
  double control_cost = 0.0;
  double most_spend = 0.0;  // above control; beyond it money earns nothing
  std::vector<std::string> segments = {};
  std::vector<std::size_t> units_per_segment = {};
  bool has_eligibility = false;
  bool has_second = false;
  double most_second = 0.0;  // of the second resource, every unit in the arm that uses most of it
  std::optional<double> worth = {};
  data::ReportWords words = {};  // currency and name of the units, as the predictions say
  std::vector<std::string> warnings = {};
};

struct PlannerAnswer {
  report::PlanSummary plan;
  // Units by the arm they had in the pinned plan and have now; empty where nothing is pinned or there is no plan.
  std::vector<std::vector<std::size_t>> moves = {};
};

class Planner {
 public:
  // Throws Error.
  Planner(const PlannerInput& input, core::RunContext& context);

  const PlannerFacts& facts() const { return facts_; }
  Scope scope() const { return {facts_.arms.size(), facts_.segments.size(), facts_.has_second}; }

  // Throws Error of kind interrupted once `cancel` is set. One call at a time.
  PlannerAnswer solve(const SolveRequest& request, const std::atomic<bool>& cancel);
  // The plan of some settings as a file: .parquet or .csv.
  void write(const Settings& settings, const std::string& path, const std::atomic<bool>& cancel);

 private:
  void read(const PlannerInput& input, core::RunContext& context);
  void read_segments(const PlannerInput& input, core::RunContext& context);
  allocate::Problem make_problem(const Settings& settings) const;
  report::PlanSummary summary_of(const Settings& settings, const allocate::Problem& problem,
                                 const allocate::Solution& solution) const;
  data::Provenance provenance_of(const Settings& settings, const allocate::Problem& problem) const;
  allocate::PlanPath& path_of(const Settings& settings, std::optional<allocate::PlanPath>& fresh);
  std::vector<std::vector<std::size_t>> moves_to(const std::vector<std::uint8_t>& arm) const;

  PlannerFacts facts_;
  io::PredictionTable table_;
  core::Matrix<float> second_;
  std::vector<std::uint64_t> keys_;  // of fewer than a million units: hashed once
  std::vector<double> segment_control_;
  std::string segment_column_;
  allocate::Rules base_rules_;
  int num_threads_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<std::uint8_t> pinned_;             // arms
  std::optional<allocate::PlanPath> kept_path_;  // of kept_settings_, whatever their budget
  std::optional<Settings> kept_settings_;
};

}  // namespace dfcl::serve

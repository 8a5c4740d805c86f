// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/memory_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "dfcl/boost/options.h"
#include "dfcl/core/field.h"
#include "dfcl/data/splits.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/tables/table_size.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/io/trial/trial_size.h"
#include "dfcl/model/model_file.h"
#include "dfcl/train/methods.h"

namespace dfcl::verbs {
namespace {

// All in bytes; measured, with the rest in decision 149.
constexpr double kMargin = 1.15;
constexpr double kProgram = 30e6;    // code, Arrow, small tables
constexpr double kThread = 6e6;      // buffers of a thread
constexpr double kReadValue = 10.0;  // of a value of a part: as Arrow has it, as float32, in both while it is converted
constexpr double kPredictValue = 14.0;
constexpr double kInFiles = 25e6;  // parts wait while files grow
constexpr double kPlanWriter = 20e6;
constexpr double kPath = 20e6;  // its buckets, of all threads
constexpr double kId = 8.0;
constexpr double kOutcome = 2.0 * sizeof(float);  // of an arm: revenue and cost

// bytes: of a run on so many threads, beside the program.
MemoryNeed need_of(const MemoryNeed& bytes) {
  return [bytes](int threads) { return kMargin * (kProgram + kThread * threads + bytes(threads)); };
}

double num_arms(const data::Study& study) {
  constexpr std::size_t kUnknown = 8;  // where only the trial says it
  const data::Study::Arms& arms = study.arms;
  const std::size_t known = std::max({arms.order.size(), arms.share.size(), arms.cost.size()});
  return static_cast<double>(known >= 2 ? known : kUnknown);
}

// ---- training

// Of a unit that trees are fitted to: outcomes and derivatives of each bag; the bins of its features, twice.
double boost_unit(double bags) { return 2.0 * 40.0 * bags + 40.0; }
double bins_unit(double features) {
  const double columns = features + 1.0;
  return columns + (columns <= 32.0 ? std::ceil(columns / 8.0) * 8.0 : std::ceil(columns / 64.0) * 64.0);
}
double forest_unit(double features) { return std::ceil((features + 17.0) / 64.0) * 64.0 + 100.0; }

// What learning holds beside the trial; in_files: in files as far as there are files for it.
double learning_bytes(const data::Study& study, const io::TrialSize& trial, bool in_files, int threads) {
  const std::string& name = study.method.name;
  const bool is_stack = name == "auto";
  const double by_split = study.split.train + study.split.validation;
  const double units = trial.table.rows * (study.split.by == "hash" || study.split.by == "time" ? by_split : 1.0);
  const auto uses = [&](const char* trait) { return is_stack || train::find_method(name).uses(trait); };

  const auto bags = static_cast<double>(boost::boost_options(study, static_cast<std::size_t>(units), 0).bags);
  const double bins = in_files ? 0.0 : bins_unit(trial.features);
  const double histogram = 16.0 * 4096.0 * trial.features;
  // Decision losses, forests and the stack fit boosted trees of their own on half of the units; the stack on all.
  double bytes = uses("boost") ? units * (boost_unit(bags) + bins) : 0.5 * units * (boost_unit(1.0) + bins);
  if (uses("forest")) bytes = std::max(bytes, units * forest_unit(trial.features));
  bytes += histogram * std::min(static_cast<double>(threads), 2.0 * bags);
  // A network for tables has 32 rows of 256 weights for each feature; its gradients and moments, and copies.
  const double weights = 32.0 * 256.0 * sizeof(float) * (trial.features + 1.0);
  const auto networks = static_cast<double>(std::max<std::int64_t>(1, study.method.ensemble));
  if (uses("network")) bytes += weights * (is_stack ? 50.0 : 12.0 + networks);
  // Orders, weights and scaled outcomes; what members predict for units that they have not seen.
  const double kept = 40.0 + kOutcome * num_arms(study) * (is_stack ? 8.0 : uses("decision") ? 2.0 : 0.0);
  return bytes + (in_files ? 0.0 : trial.table.rows * kept);
}

// ---- evaluation

double share_of_rows(const data::Study& study, Rows rows) {
  if (study.split.by != "hash" && study.split.by != "time") return 1.0;
  switch (rows) {
    case Rows::train: return study.split.train;
    case Rows::validation: return study.split.validation;
    case Rows::test: return study.split.test;
    case Rows::all: break;
  }
  return 1.0;
}

double evaluation_bytes(const EvaluateRequest& request, const data::Study& study, const io::TrialSize& own,
                        const std::optional<io::TrialSize>& test, bool in_files, int threads) {
  const double arms = num_arms(study);
  const auto models = static_cast<double>(request.models.size());
  double trial = own.table.rows * own.unit_bytes;
  double rows = own.table.rows * share_of_rows(study, request.split);
  double reading = own.table.reading_bytes(threads, kReadValue);
  if (test) {
    trial += test->table.rows * test->unit_bytes;
    rows = test->table.rows;
    reading = std::max(reading, test->table.reading_bytes(threads, kReadValue));
  }
  // The nuisance is one bag of boosted trees, fitted to a copy of the trial in the order of its units.
  const double bins = in_files ? 0.0 : bins_unit(own.features);
  const double fit = own.table.rows * (24.0 + boost_unit(1.0) + bins + (in_files ? 0.0 : own.unit_bytes));
  // Of each row: its facts, what models and nuisance predict, influence, and its features while they are predicted.
  const double judged =
      own.table.rows * (kOutcome * arms + 16.0) +
      rows * (50.0 + 100.0 * arms + kOutcome * arms * (models + 2.0) + (in_files ? 0.0 : 4.0 * own.features));
  return reading + (in_files ? kInFiles : trial) + std::max(fit, judged);
}

// ---- plans

// What a caller gets of a plan in memory.
double kept_unit(const AllocateRequest& request) { return request.keep_plans ? 32.0 : 0.0; }

// What may not be streamed (check_request).
bool can_stream(const AllocateRequest& request) {
  return request.prediction == nullptr && request.model == nullptr && !request.units && !request.is_coupled() &&
         !request.eligible;
}

// The path is kept for several answers, and roles are drawn for each of them.
bool has_path(const AllocateRequest& request) {
  return request.curve || request.is_coupled() || request.has_roles() ||
         request.totals.size() + request.per_unit.size() + request.share_of_max.size() > 1;
}

double plan_bytes(const AllocateRequest& request, const io::TableSize& table, double arms, double value_bytes,
                  int threads) {
  double unit = kOutcome * arms + kId + 10.0 + kept_unit(request);
  if (has_path(request)) unit += 5.0 * arms;
  if (request.has_roles() || request.eligible) unit += 2.0 * arms;
  if (request.second_cost) unit += sizeof(float) * arms;
  if (request.segment) unit += 12.0;
  return kPlanWriter + (has_path(request) ? kPath : 0.0) + table.reading_bytes(threads, value_bytes) +
         table.rows * unit;
}

// One part is read while another is worked on. The ids are compared by their hashes.
double streamed_bytes(const AllocateRequest& request, const io::TableSize& table, int threads) {
  const double unit = kId + kept_unit(request) + (request.curve ? 12.0 : 0.0);
  return kPlanWriter + (has_path(request) ? kPath : 0.0) + table.reading_bytes(std::min(threads, 2), kReadValue) +
         table.rows * unit;
}

}  // namespace

MemoryWays train_needs(const data::Study& study, bool is_cached) {
  const io::TrialSize trial = io::trial_size(study);
  const auto need = [&](bool in_files) {
    return need_of([study, trial, in_files](int threads) {
      return trial.table.reading_bytes(threads, kReadValue) +
             (in_files ? kInFiles : trial.table.rows * trial.unit_bytes) +
             learning_bytes(study, trial, in_files, threads);
    });
  };
  constexpr const char* kHelp = "train on fewer rows or features";
  if (is_cached) return {.plain = need(true), .help = kHelp};
  return {need(false), need(true), "keeps the trial in files while it runs", kHelp};
}

MemoryWays evaluate_needs(const EvaluateRequest& request, const data::Study& study) {
  const io::TrialSize own = io::trial_size(with_trial(study, request.study));
  const std::string test_file = request.split == Rows::test ? test_path(study, request.study) : "";
  std::optional<io::TrialSize> test;
  if (!test_file.empty()) {
    data::Study of_test = study;
    of_test.folder.clear();
    of_test.data.trial = test_file;
    test = io::trial_size(of_test);
  }
  const auto need = [&](bool in_files) {
    return need_of([request, study, own, test, in_files](int threads) {
      return evaluation_bytes(request, study, own, test, in_files, threads);
    });
  };
  return {need(false), need(true), "keeps the trial in files while it runs", "evaluate on fewer rows"};
}

MemoryWays allocate_needs(const AllocateRequest& request) {
  constexpr const char* kFewer = "plan for fewer units";
  const auto in_memory = [&](const io::TableSize& table, std::size_t arms, double value_bytes) {
    return need_of([request, table, arms, value_bytes](int threads) {
      return plan_bytes(request, table, static_cast<double>(arms), value_bytes, threads);
    });
  };
  if (request.prediction != nullptr) {
    const io::TableSize table{.rows = static_cast<double>(request.prediction->num_units())};
    return {.plain = in_memory(table, request.prediction->arms.size(), 0.0), .help = kFewer};
  }
  if (request.model != nullptr || request.units) {
    std::shared_ptr<const model::Model> model = request.model;
    if (model == nullptr) model = std::make_shared<const model::Model>(model::read_model(request.predictions));
    std::vector<std::string> columns;
    for (const data::FeatureColumn& column : model->features) columns.push_back(column.name);
    return {.plain = in_memory(io::table_size(*request.units, columns), model->arms.size(), kPredictValue),
            .help = "write predictions with `dfcl predict` and plan from these, which can be streamed"};
  }
  const io::TableSize table = io::table_size(request.predictions);
  const MemoryNeed streamed =
      need_of([request, table](int threads) { return streamed_bytes(request, table, threads); });
  if (request.stream) return {.plain = streamed, .help = kFewer};
  const std::size_t arms = io::read_prediction_facts(request.predictions).arms.size();
  const MemoryNeed plain = in_memory(table, arms, kReadValue);
  if (can_stream(request)) return {plain, streamed, "streams the predictions", kFewer};
  return {.plain = plain,
          .help = fmt::format("leave out segments, limits on units, a second budget and {}: then predictions can be "
                              "streamed",
                              core::field_name("eligible"))};
}

}  // namespace dfcl::verbs

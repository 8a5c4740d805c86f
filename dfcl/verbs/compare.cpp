// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/compare.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <new>
#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/io/atomic_file.h"
#include "dfcl/io/file_format.h"
#include "dfcl/io/study_file.h"
#include "dfcl/io/trial_reader.h"
#include "dfcl/io/unit_labels.h"
#include "dfcl/model/model_file.h"
#include "dfcl/train/train.h"
#include "dfcl/verbs/comparison_folder.h"
#include "dfcl/verbs/train.h"

namespace dfcl::verbs {
namespace {

using experiment::ComparisonEntry;
using experiment::TrainedModel;
using experiment::TrainingFailure;

// The same settings and another seed.
struct WithSeed {
  WithSeed(core::RunContext& run_context, std::uint64_t seed) : context(run_context), before(run_context.seed) {
    context.seed = seed;
  }
  ~WithSeed() { context.seed = before; }
  WithSeed(const WithSeed&) = delete;
  WithSeed& operator=(const WithSeed&) = delete;

  core::RunContext& context;
  std::uint64_t before;
};

// All models of a comparison, those that were there and those that are trained now.
class Trainings {
 public:
  Trainings(const CompareRequest& request, const std::vector<ComparisonEntry>& entries,
            const std::vector<std::uint64_t>& seeds, ComparisonFolder& folder, core::RunContext& context)
      : request_(request), entries_(entries), seeds_(seeds), folder_(folder), context_(context) {}

  // Seed by seed, so that a comparison that is stopped has whole seeds.
  void run(const data::Trial& trial) {
    std::size_t number = 0;
    for (const std::uint64_t seed : seeds_) {
      for (std::size_t entry = 0; entry < entries_.size(); ++entry) {
        ++number;
        if (folder_.has_model(entries_[entry].file, seed)) {
          folder_.forget_checkpoint(entries_[entry].file, seed);  // a run may have been killed before it could
          continue;
        }
        if (request_.on_training) {
          request_.on_training(fmt::format("{}, seed {} ({} of {})", entries_[entry].name, seed, number,
                                           seeds_.size() * entries_.size()));
        }
        try_one(trial, entry, seed);
      }
    }
  }

  const std::vector<TrainingFailure>& failures() const { return failures_; }
  core::ErrorKind first_kind() const { return first_kind_; }

 private:
  void try_one(const data::Trial& trial, std::size_t entry, std::uint64_t seed) {
    try {
      train_one(trial, entries_[entry], seed);
    } catch (const core::Error& error) {
      if (error.kind() == core::ErrorKind::interrupted) throw;
      fail(entry, seed, core::to_message(error.details()), error.kind());
    } catch (const std::bad_alloc&) {
      fail(entry, seed, "out of memory", core::ErrorKind::internal);
    }
  }

  void fail(std::size_t entry, std::uint64_t seed, const std::string& message, core::ErrorKind kind) {
    if (failures_.empty()) first_kind_ = kind;
    failures_.push_back({entry, seed, message});
    context_.warn(fmt::format("{}, seed {}: {}", entries_[entry].name, seed, message));
  }

  void train_one(const data::Trial& trial, const ComparisonEntry& entry, std::uint64_t seed) {
    const WithSeed with_seed(context_, seed);
    const data::Study study = experiment::study_of(request_.study, entry);
    train::TrainOptions options;
    options.study_text = io::study_text(study);
    options.checkpoint_folder = folder_.checkpoint(entry.file, seed);
    const bool resumed = std::filesystem::exists(options.checkpoint_folder);
    const auto start = std::chrono::steady_clock::now();
    const model::Model model = train::train(trial, study, options, context_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    folder_.keep(entry.file, seed, model, seconds, resumed);
  }

  const CompareRequest& request_;
  const std::vector<ComparisonEntry>& entries_;
  const std::vector<std::uint64_t>& seeds_;
  ComparisonFolder& folder_;
  core::RunContext& context_;
  std::vector<TrainingFailure> failures_;
  core::ErrorKind first_kind_ = core::ErrorKind::internal;
};

// There must be something to compare.
void require_models(const std::vector<ComparisonEntry>& entries, std::uint64_t seed, const ComparisonFolder& folder,
                    const Trainings& trainings) {
  const bool reference = folder.has_model(entries.front().file, seed);
  bool another = entries.size() == 1;
  for (std::size_t i = 1; i < entries.size(); ++i) another = another || folder.has_model(entries[i].file, seed);
  if (reference && another) return;
  const TrainingFailure& failure = trainings.failures().front();
  throw core::Error({.kind = trainings.first_kind(),
                     .what = fmt::format("{}: {} could not be trained", failure.message, entries[failure.entry].name),
                     .where = reference ? "" : "the reference",
                     .hint = "what was trained is kept; the same command goes on from there"});
}

// What only the evaluation needs is looked for before hours of training, not after.
void require_inputs(const CompareRequest& request, core::RunContext& context) {
  if (request.truth.is_given() && request.truth.prediction == nullptr) (void)io::input_files(request.truth.path);
  const auto trial = std::filesystem::path(request.study.folder) / request.study.data.trial;
  for (const std::string& column : request.segments)
    (void)io::read_unit_labels(trial.string(), request.study.columns.id, column, context);
}

EvaluateRequest evaluation_of(const CompareRequest& request) {
  EvaluateRequest evaluation;
  evaluation.study = request.study;
  evaluation.resamples = request.resamples;
  evaluation.truth = request.truth;
  evaluation.segments = request.segments;
  return evaluation;
}

// The models of all seeds, without intervals over test units, for what is said over seeds. The first is the
// reference's of the first seed, whose predictions steady the estimates of all.
std::vector<experiment::SeedEntry> evaluate_seeds(const CompareRequest& request,
                                                  const std::vector<ComparisonEntry>& entries,
                                                  const std::vector<std::uint64_t>& seeds,
                                                  const ComparisonFolder& folder, double level,
                                                  core::RunContext& context) {
  EvaluateRequest evaluation = evaluation_of(request);
  evaluation.resamples = 0;
  evaluation.segments.clear();
  std::vector<TrainedModel> trained;
  std::vector<std::string> names;
  for (const ComparisonEntry& entry : entries) names.push_back(entry.name);
  for (const std::uint64_t seed : seeds) {
    for (std::size_t entry = 0; entry < entries.size(); ++entry) {
      if (!folder.has_model(entries[entry].file, seed)) continue;
      evaluation.contenders.push_back({.path = folder.model(entries[entry].file, seed),
                                       .name = fmt::format("{}, seed {}", entries[entry].name, seed)});
      trained.push_back({entry, seed});
    }
  }
  const EvaluateResult all = evaluate(evaluation, context);
  return experiment::over_seeds(all.report.evaluation, trained, names, level);
}

std::vector<experiment::TrainingTime> times_of(const std::vector<ComparisonEntry>& entries,
                                               const std::vector<std::uint64_t>& seeds,
                                               const ComparisonFolder& folder) {
  std::vector<experiment::TrainingTime> times;
  for (std::size_t entry = 0; entry < entries.size(); ++entry) {
    for (const std::uint64_t seed : seeds) {
      if (const auto kept = folder.time(entries[entry].file, seed))
        times.push_back({entry, seed, kept->seconds, kept->resumed});
    }
  }
  return times;
}

}  // namespace

CompareResult compare(const CompareRequest& request, core::RunContext& context) {
  const std::vector<ComparisonEntry> entries = experiment::comparison_entries(request.study);
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < request.study.compare.seeds; ++i)
    seeds.push_back(context.seed + static_cast<std::uint64_t>(i));
  std::optional<ComparisonFolder> folder;
  CompareResult result;
  {
    const data::Trial trial = io::read_trial(request.study, context);
    require_fit(trial, request.study, request.force, context);
    require_inputs(request, context);
    folder.emplace(request.folder, request.study, trial.fingerprint, context.seed);
    Trainings trainings(request, entries, seeds, *folder, context);
    trainings.run(trial);
    require_models(entries, seeds.front(), *folder, trainings);
    result.report.comparison.failures = trainings.failures();
  }
  EvaluateRequest evaluation = evaluation_of(request);
  for (const ComparisonEntry& entry : entries) {
    if (folder->has_model(entry.file, seeds.front()))
      evaluation.contenders.push_back({.path = folder->model(entry.file, seeds.front()), .name = entry.name});
  }
  EvaluateResult evaluated = evaluate(evaluation, context);
  const double level = evaluated.report.evaluation.level;
  result.fit = evaluated.fit;
  result.report.evaluation = std::move(evaluated.report);
  result.report.comparison.over_seeds = evaluate_seeds(request, entries, seeds, *folder, level, context);
  result.report.comparison.entries = entries;
  result.report.comparison.seeds = seeds;
  result.times = times_of(entries, seeds, *folder);
  result.json = report::comparison_json(result.report);
  io::write_text_file(folder->file("results.json"), result.json);
  io::write_text_file(folder->file("report.html"), report::comparison_page(result.json, result.report, result.times));
  return result;
}

}  // namespace dfcl::verbs

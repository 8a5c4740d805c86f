// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/compare.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>

#include "dfcl/compare/mean_over_seeds.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/evaluate/verdict.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/trial/trial_reader.h"
#include "dfcl/train/device.h"
#include "dfcl/train/train.h"
#include "dfcl/verbs/check.h"
#include "dfcl/verbs/compare_checks.h"
#include "dfcl/verbs/comparison_folder.h"
#include "dfcl/verbs/evaluate_on.h"
#include "dfcl/verbs/outputs.h"
#include "dfcl/verbs/written_files.h"

namespace dfcl::verbs {
namespace {

using compare::ComparisonEntry;
using compare::TrainedModel;
using compare::TrainingFailure;

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

constexpr const char* kGoesOn = "what was trained is kept: the same command goes on from there";

// The same error, said to be about `what`; with a hint where it has none.
core::Error with_hint(const core::Error& error, const std::string& what, const std::string& hint) {
  core::ErrorDetails details = error.details();
  if (!what.empty()) {
    details.what = fmt::format("{}{}: {}", what, details.where.empty() ? "" : ": " + details.where, details.what);
    details.where.clear();
  }
  if (details.hint.empty()) details.hint = hint;
  return core::Error(std::move(details));
}

// All models of a comparison, those that were there and those that are trained now.
class Trainings {
 public:
  Trainings(const CompareRequest& request, const data::Study& study, const std::vector<ComparisonEntry>& entries,
            const std::vector<std::uint64_t>& seeds, ComparisonFolder& folder, core::RunContext& context)
      : request_(request), study_(study), entries_(entries), seeds_(seeds), folder_(folder), context_(context) {}

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
  const core::ErrorDetails& first_error() const { return first_error_; }

 private:
  void try_one(const data::Trial& trial, std::size_t entry, std::uint64_t seed) {
    try {
      train_one(trial, entries_[entry], seed);
    } catch (const core::Error& error) {
      // What cannot be written for one cannot be written for the next.
      if (error.kind() == core::ErrorKind::interrupted) throw;
      if (error.kind() == core::ErrorKind::file) throw with_hint(error, "", kGoesOn);
      fail(entry, seed, error);
    } catch (const std::filesystem::filesystem_error& error) {
      throw core::Error({.kind = core::ErrorKind::file,
                         .what = "cannot write",
                         .where = error.path1().string(),
                         .found = fmt::format("'{}'", error.code().message()),
                         .hint = kGoesOn});
    } catch (const std::bad_alloc&) {
      fail(entry, seed, core::Error({.kind = core::ErrorKind::internal, .what = "out of memory", .hint = kGoesOn}));
    }
  }

  void fail(std::size_t entry, std::uint64_t seed, const core::Error& error) {
    if (entry == 0 && seed == seeds_.front())
      throw with_hint(error, fmt::format("the reference, {}, could not be trained", entries_[entry].name), "");
    std::string message = core::to_message(error.details());
    if (const std::size_t hint = message.find("\nhint: "); hint != std::string::npos) message.replace(hint, 1, "; ");
    if (failures_.empty()) first_error_ = error.details();
    failures_.push_back({entry, seed, message});
    context_.warn(fmt::format("{}, seed {}: {}", entries_[entry].name, seed, message));
  }

  void train_one(const data::Trial& trial, const ComparisonEntry& entry, std::uint64_t seed) {
    const WithSeed with_seed(context_, seed);
    const data::Study study = compare::study_for_entry(study_, entry);
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
  const data::Study& study_;
  const std::vector<ComparisonEntry>& entries_;
  const std::vector<std::uint64_t>& seeds_;
  ComparisonFolder& folder_;
  core::RunContext& context_;
  std::vector<TrainingFailure> failures_;
  core::ErrorDetails first_error_;
};

// There must be something to compare with the reference.
void require_models(const std::vector<ComparisonEntry>& entries, std::uint64_t seed, const ComparisonFolder& folder,
                    const Trainings& trainings) {
  bool another = entries.size() == 1;
  for (std::size_t i = 1; i < entries.size(); ++i) another = another || folder.has_model(entries[i].file, seed);
  if (another) return;
  const TrainingFailure& failure = trainings.failures().front();
  throw with_hint(core::Error(trainings.first_error()),
                  fmt::format("nothing to compare: {} could not be trained", entries[failure.entry].name), "");
}

// The part of the evaluations that all seeds share.
EvaluateRequest shared_evaluation(const CompareRequest& request, core::RunContext& context) {
  EvaluateRequest evaluation;
  evaluation.study = request.study;
  evaluation.resamples = request.resamples;
  if (request.truth) evaluation.truth = read_model_input(*request.truth, context);
  evaluation.segments = request.segments;
  evaluation.estimator = request.estimator;
  evaluation.on_note = request.on_note;
  evaluation.reference = 0;
  return evaluation;
}

// The models of a seed, as far as they were trained.
std::vector<ModelInput> models_of_seed(const std::vector<ComparisonEntry>& entries, std::uint64_t seed,
                                       const ComparisonFolder& folder) {
  std::vector<ModelInput> models;
  for (const ComparisonEntry& entry : entries) {
    if (!folder.has_model(entry.file, seed)) continue;
    models.push_back(
        {.path = folder.model(entry.file, seed), .name = entry.name, .is_alternative = entry.is_alternative()});
  }
  return models;
}

// The evaluations of the models of all seeds but the first: a seed at a time to save memory, without intervals over
// test units and with the same nuisance. One for each seed, without models where none was trained.
std::vector<evaluate::Evaluation> evaluate_other_seeds(EvaluateRequest evaluation, const JudgedTrial& judged,
                                                       const std::vector<ComparisonEntry>& entries,
                                                       const std::vector<std::uint64_t>& seeds,
                                                       const ComparisonFolder& folder, Judgement& judgement,
                                                       core::RunContext& context) {
  std::vector<evaluate::Evaluation> others;
  evaluation.resamples = 0;
  evaluation.intervals = Intervals::analytic;
  evaluation.segments.clear();
  evaluation.heterogeneity = false;
  for (std::size_t i = 1; i < seeds.size(); ++i) {
    evaluation.models = models_of_seed(entries, seeds[i], folder);
    others.emplace_back();
    if (!evaluation.models.empty())
      others.back() = evaluate_on(judged, judgement, evaluation, context).report.evaluation;
  }
  return others;
}

// What is said over seeds.
std::vector<compare::SeedEntry> figures_over_seeds(const std::vector<ComparisonEntry>& entries,
                                                   const std::vector<std::uint64_t>& seeds,
                                                   const ComparisonFolder& folder, const evaluate::Evaluation& first,
                                                   const std::vector<evaluate::Evaluation>& others) {
  evaluate::Evaluation all = first;
  std::vector<TrainedModel> trained;
  for (const std::uint64_t seed : seeds) {
    for (std::size_t entry = 0; entry < entries.size(); ++entry) {
      if (folder.has_model(entries[entry].file, seed)) trained.push_back({entry, seed});
    }
  }
  for (const evaluate::Evaluation& other : others)
    all.models.insert(all.models.end(), other.models.begin(), other.models.end());
  std::vector<std::string> names;
  for (const ComparisonEntry& entry : entries) names.push_back(entry.name);
  return compare::over_seeds(all, trained, names, first.level);
}

// What could not be trained, for the verdict; "" where all was: its figures rest on fewer trainings.
std::string failure_words(const std::vector<ComparisonEntry>& entries, const std::vector<TrainingFailure>& failures) {
  std::string words;
  for (std::size_t entry = 0; entry < entries.size(); ++entry) {
    std::vector<std::uint64_t> seeds;
    for (const TrainingFailure& failure : failures) {
      if (failure.entry == entry) seeds.push_back(failure.seed);
    }
    if (seeds.empty()) continue;
    words += fmt::format(" {} could not be trained with seed{} {}: nothing here is of {}.", entries[entry].name,
                         seeds.size() == 1 ? "" : "s", fmt::join(seeds, ", "), seeds.size() == 1 ? "it" : "them");
  }
  return words;
}

std::vector<compare::TrainingTime> training_times(const std::vector<ComparisonEntry>& entries,
                                                  const std::vector<std::uint64_t>& seeds,
                                                  const ComparisonFolder& folder) {
  std::vector<compare::TrainingTime> times;
  for (std::size_t entry = 0; entry < entries.size(); ++entry) {
    for (const std::uint64_t seed : seeds) {
      if (const auto kept = folder.time(entries[entry].file, seed))
        times.push_back({entry, seed, kept->seconds, kept->resumed});
    }
  }
  return times;
}

// folder: filled here, so that the caller knows whether something is kept when this throws.
CompareResult compare_in(const CompareRequest& request, const data::Study& study,
                         const std::vector<ComparisonEntry>& entries, const std::vector<std::uint64_t>& seeds,
                         std::optional<ComparisonFolder>& folder, core::RunContext& context) {
  CompareResult result;
  const CheckedTrial read = check_and_adjust(io::read_trial(with_trial(study, request.study), context), study, context);
  require_fit(read.checked, request.force, context);
  const std::shared_ptr<const data::Trial>& trial = read.trial;
  EvaluateRequest evaluation = shared_evaluation(request, context);
  const JudgedTrial judged = read_judged_trial(evaluation, &read, context);
  require_inputs(judged, evaluation, context);
  require_trainable(*trial, study, entries, context);
  warn_of_budgets(*trial, study, context);
  folder.emplace(request.output, study, trial->fingerprint, context.seed, train::name_of(context.device));
  Trainings trainings(request, study, entries, seeds, *folder, context);
  trainings.run(*trial);
  require_models(entries, seeds.front(), *folder, trainings);
  result.report.comparison.failures = trainings.failures();

  evaluation.models = models_of_seed(entries, seeds.front(), *folder);
  Judgement judgement = make_judgement(judged, evaluation, context);
  EvaluateResult evaluated = evaluate_on(judged, judgement, evaluation, context);
  result.fit = evaluated.fit;
  result.report.evaluation = std::move(evaluated.report);
  evaluate::Evaluation& first = result.report.evaluation.evaluation;
  const std::vector<evaluate::Evaluation> others =
      evaluate_other_seeds(evaluation, judged, entries, seeds, *folder, judgement, context);
  result.report.comparison.over_seeds = figures_over_seeds(entries, seeds, *folder, first, others);
  if (!others.empty()) {
    const evaluate::Words spoken = evaluate::words_of(result.report.evaluation.words);
    result.report.mean = compare::mean_over_seeds(first, others, spoken);
    first.verdict = evaluate::verdict_of(
        *result.report.mean, {spoken, join_problems(*result.report.evaluation.check), seeds.size(),
                              judged.checked.grade == check::Grade::adjustable, judgement.choice.not_pre_declared});
  }
  first.verdict.sentence += failure_words(entries, trainings.failures());
  result.report.comparison.entries = entries;
  result.report.comparison.seeds = seeds;
  result.times = training_times(entries, seeds, *folder);
  result.json = report::comparison_json(result.report);
  if (request.split_out)
    WrittenFiles(request.output).write(*request.split_out, [&] {
      write_splits(*request.split_out, "compare", judged);
    });
  io::write_text_file(folder->file("results.json"), result.json);
  io::write_text_file(folder->file("report.html"), report::comparison_page(result.json, result.report, result.times));
  return result;
}

void check_request(const CompareRequest& request) {
  require_text("output", request.output);
  constexpr std::int64_t kMost = 1'000'000;
  if (request.resamples < 0 || request.resamples > kMost)
    throw core::field_error("resamples", "out of range", fmt::format("{}", request.resamples),
                            fmt::format("0 to {}", kMost));
  if (request.truth) require_text("truth", request.truth->path);
  if (request.split_out) require_table_ending("split_out", *request.split_out);
  for (const std::string& column : request.segments) require_text("segment", column);
}

}  // namespace

CompareResult compare(const CompareRequest& request, core::RunContext& context) {
  check_request(request);
  context.device = train::choose_device(request.device, request.precision, context);
  const data::Study study = read_study_input(request.study);
  const std::vector<ComparisonEntry> entries = compare::comparison_entries(study);
  ComparisonFolder::require_place(request.output);
  // The folder is the run's own, which the same command resumes; this file is only where the run wrote it.
  const WrittenFiles written(request.output);
  if (request.split_out)
    written.require_output(
        "split_out", *request.split_out,
        {request.study.file, trial_path(with_trial(study, request.study)), test_path(study, request.study),
         request.truth && !request.truth->in_memory() ? request.truth->path : ""},
        context);
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < study.compare.seeds; ++i) seeds.push_back(context.seed + static_cast<std::uint64_t>(i));
  std::optional<ComparisonFolder> folder;
  try {
    return compare_in(request, study, entries, seeds, folder, context);
  } catch (const core::Error& error) {
    if (error.kind() == core::ErrorKind::interrupted && folder)
      throw with_hint(error, "", "run the same command again to go on");
    if (error.kind() == core::ErrorKind::file && folder && error.details().where.starts_with(folder->file("models/")))
      throw with_hint(error, "", "remove that file: the same command makes it again");
    throw;
  }
}

}  // namespace dfcl::verbs

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/evaluate/estimators/net_value.h"
#include "dfcl/train/checkpoint.h"
#include "dfcl/train/nuisance.h"
#include "dfcl/train/run_key.h"

namespace dfcl::train {
namespace {

constexpr std::size_t kFolds = 5;
// Fewer units, or clusters of them, than this say nothing about which method is better.
constexpr std::size_t kLeastGroups = 20;

struct Candidate {
  const char* method;
  double alpha;  // 0: none
};
// Two-stage first: it is the reference, its predictions are the nuisance, and the others go on from its network, as
// they do outside the contest. alpha: the study's; none: it leaves the choice.
std::vector<Candidate> candidates_of(std::optional<double> alpha) {
  if (alpha) return {{"tsm", 0.0}, {"dfcl-mer", *alpha}, {"dfcl-ifd", *alpha}};
  return {{"tsm", 0.0}, {"dfcl-mer", 1.0}, {"dfcl-mer", 0.3}, {"dfcl-ifd", 1.0}};
}
// Grown once, of all training units, and judged by its out-of-bag predictions.
constexpr const char* kForest = "tsm-forest";
constexpr std::size_t kAnyNumber = std::numeric_limits<std::uint32_t>::max();  // of training units

struct Predicted {
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
  evaluate::Scores scores() const { return {revenue.view(), cost.view()}; }
};

class Contest {
 public:
  Contest(const data::Trial& trial, const data::Study& study, core::RunContext& context)
      : trial_(trial),
        context_(context),
        candidates_(candidates_of(study.method.alpha)),
        prepared_(prepare(trial, study, find_method("tsm"), context)) {
    if (study.method.warm_epochs == 0)
      throw core::usage_error("[method] warm_epochs", "`auto` needs epochs of two-stage learning to compare with", "0",
                              "1 or more");
    const std::size_t num_units = prepared_.train_rows.size() * 4 / 5;
    const std::size_t warm_epochs =
        settings_of(study, find_method(candidates_[1].method), num_units, context.seed).warm_epochs;
    for (const Candidate& candidate : candidates_) {
      data::Study adjusted = study;
      if (&candidate != &candidates_.front()) {
        adjusted.method.alpha = candidate.alpha;
      } else {
        adjusted.method.epochs = static_cast<std::int64_t>(warm_epochs);
      }
      settings_.push_back(settings_of(adjusted, find_method(candidate.method), num_units, context.seed));
      key_ = core::combine_hashes(key_, run_key(trial, adjusted, settings_.back()));
      totals_.emplace_back();
    }
    forest_settings_ = settings_of(study, find_method(kForest), prepared_.train_rows.size(), context.seed);
    key_ = core::combine_hashes(key_, run_key(trial, study, forest_settings_));
    for (const auto& [name, value] : shown(forest_options_of(study, kAnyNumber, trial.arms.size(), context.seed)))
      key_ = core::hash_text(value, core::hash_text(name, key_));
    totals_.emplace_back();  // of the forest
  }

  // Before the first fold, and again where a contest goes on. A trial too small for a forest has none, and a forest
  // knows no falling steps.
  void grow_forest(const data::Study& study) {
    const auto finish = [](MemberTrainer& trainer, const std::string&, std::size_t epochs) {
      while (trainer.state().epochs_done < epochs) trainer.run_epoch();
    };
    const forest::ForestOptions options =
        forest_options_of(study, kAnyNumber, trial_.arms.size(), forest_settings_.seed);
    if (!forest::enough_units(options, prepared_.train_rows.size()) || !study.method.concave.empty()) return;
    forest_ = fit_forest(trial_, study, prepared_, forest_settings_, finish, context_);
  }

  // Units that belong together are in one fold.
  std::size_t fold_of(std::uint32_t row) const {
    const std::uint64_t key = trial_.has_clusters() ? trial_.cluster[row] : trial_.ids.hash(row);
    return core::combine_hashes(core::hash_text("fold"), key) % kFolds;
  }

  void run_fold(std::size_t fold) {
    core::Column<std::uint32_t> train_rows(context_.scratch());
    core::Column<std::uint32_t> held_rows(context_.scratch());
    core::Column<std::uint32_t> held_places(context_.scratch());  // among the training units
    for (std::size_t place = 0; place < prepared_.train_rows.size(); ++place) {
      const std::uint32_t row = prepared_.train_rows[place];
      const bool held = fold_of(row) == fold;
      (held ? held_rows : train_rows).push_back(row);
      if (held) held_places.push_back(static_cast<std::uint32_t>(place));
    }
    if (held_rows.empty()) return;  // few clusters may leave a fold empty
    const SeenUnits seen = seen_units(trial_, prepared_, held_rows, context_);
    const Nuisance nuisance = nuisance_of(fold, train_rows);
    const Predicted reference = train_and_predict(0, fold, train_rows, held_rows, nuisance);
    const std::vector<double> multipliers =
        budget_multipliers(reference.revenue.view(), reference.cost.view(), trial_.arms.control,
                           prepared_.scaled_budgets, context_);
    const evaluate::RewardUnits units{
        seen.arm, seen.revenue, seen.cost, seen.weight, reference.revenue.view(), reference.cost.view(), seen.cluster};
    for (std::size_t i = 1; i < settings_.size(); ++i) {
      const Predicted predicted = train_and_predict(i, fold, train_rows, held_rows, nuisance);
      totals_[i].add(
          evaluate::net_value_difference(units, predicted.scores(), reference.scores(), multipliers, context_));
    }
    if (!forest_) return;
    const Predicted predicted = forest_of(held_places);
    totals_.back().add(
        evaluate::net_value_difference(units, predicted.scores(), reference.scores(), multipliers, context_));
  }

  std::optional<ForestFit> take_forest() { return std::move(forest_); }

  std::size_t two_stage_epochs() const { return settings_.front().epochs; }

  // What identifies the contest: the trial and the settings of all candidates.
  std::uint64_t key() const { return key_; }

  // What the folds so far have found, for a checkpoint.
  std::vector<double> found() const {
    std::vector<double> numbers;
    for (const evaluate::ValueSums& total : totals_) {
      numbers.insert(numbers.end(), {total.units, total.groups, total.sum, total.squares, total.cross, total.sizes});
    }
    return numbers;
  }
  void go_on_from(std::span<const double> numbers, std::size_t num_folds) {
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      const double* of = numbers.data() + 6 * i;
      totals_[i] = {of[0], of[1], of[2], of[3], of[4], of[5]};
    }
    trained_ = num_folds * settings_.size();
  }

  std::vector<CandidateScore> scores() const {
    const double scale = prepared_.revenue_scale.scale;
    std::vector<CandidateScore> scores;
    const auto add = [&](const char* method, double alpha, const evaluate::ValueSums& total) {
      const evaluate::Estimate gain = total.mean();
      scores.push_back({method, alpha, gain.value * scale, gain.standard_error * scale});
    };
    for (std::size_t i = 1; i < settings_.size(); ++i) add(candidates_[i].method, candidates_[i].alpha, totals_[i]);
    if (totals_.back().units > 0.0) add(kForest, 0.0, totals_.back());
    return scores;
  }

  // Clusters of training units, or units where there are none.
  std::size_t num_groups() const {
    if (!trial_.has_clusters()) return prepared_.train_rows.size();
    std::vector<std::uint8_t> seen(trial_.num_clusters);
    for (const std::uint32_t row : prepared_.train_rows) seen[trial_.cluster[row]] = 1;
    return static_cast<std::size_t>(std::count(seen.begin(), seen.end(), 1));
  }

 private:
  // On the networks' scale.
  Predicted forest_of(std::span<const std::uint32_t> places) const {
    const auto scaled = [&](const core::Matrix<float>& values, const model::OutcomeScale& scale) {
      core::Matrix<float> part(context_.scratch(), places.size(), values.cols());
      for (std::size_t i = 0; i < places.size(); ++i) {
        for (std::size_t j = 0; j < values.cols(); ++j) {
          const auto value = static_cast<double>(values.row(places[i])[j]);
          part.row(i)[j] = static_cast<float>((value - scale.center) / scale.scale);
        }
      }
      return part;
    };
    return {scaled(forest_->revenue, prepared_.revenue_scale), scaled(forest_->cost, prepared_.cost_scale)};
  }

  static constexpr std::size_t kFirstMember = 1000;  // networks of their own, none of the final model's
  static constexpr std::size_t kFirstNuisance = 2000;

  // Where a candidate asks for the doubly robust form: of the units that the fold trains on, for all candidates.
  Nuisance nuisance_of(std::size_t fold, std::span<const std::uint32_t> train_rows) {
    const auto finish = [](MemberTrainer& trainer, const std::string&, std::size_t epochs) {
      while (trainer.state().epochs_done < epochs) trainer.run_epoch();
    };
    for (const Settings& settings : settings_) {
      if (settings.needs_nuisance())
        return fit_nuisance(trial_, prepared_, settings, train_rows, kFirstNuisance + 2 * fold, finish, context_);
    }
    return {};
  }

  Predicted train_and_predict(std::size_t candidate, std::size_t fold, std::span<const std::uint32_t> train_rows,
                              std::span<const std::uint32_t> held_rows, const Nuisance& nuisance) {
    MemberTrainer trainer(trial_, prepared_, settings_[candidate], kFirstMember + fold, train_rows, context_);
    if (settings_[candidate].needs_nuisance()) trainer.set_nuisance(nuisance.revenue.view(), nuisance.cost.view());
    if (candidate > 0) trainer.state() = warm_;
    while (!trainer.finished()) trainer.run_epoch();
    if (candidate == 0) warm_ = trainer.state();
    Predicted predicted;
    trainer.predict(trainer.result(), held_rows, predicted.revenue, predicted.cost);
    context_.progress("choosing a method", ++trained_, kFolds * settings_.size(), "trainings");
    return predicted;
  }

  const data::Trial& trial_;
  core::RunContext& context_;
  std::vector<Candidate> candidates_;
  Preparation prepared_;
  std::vector<Settings> settings_;
  Settings forest_settings_;
  std::vector<evaluate::ValueSums> totals_;
  MemberState warm_;  // the two-stage network of the fold
  std::optional<ForestFit> forest_;
  std::uint64_t key_ = 0;
  std::size_t trained_ = 0;
};

struct Progress {
  std::size_t num_folds = 0;
  double seconds = 0.0;
  bool done = false;  // what was found is final, even where time ended it
};

constexpr const char* kCheckpointName = "choice";

void save_progress(const Checkpoint& checkpoint, const Contest& contest, const Progress& progress) {
  std::vector<double> numbers = {static_cast<double>(progress.num_folds), progress.seconds, progress.done ? 1.0 : 0.0};
  const std::vector<double> found = contest.found();
  numbers.insert(numbers.end(), found.begin(), found.end());
  checkpoint.save(kCheckpointName, numbers);
}

void load_progress(const Checkpoint& checkpoint, Contest& contest, Progress& progress) {
  std::vector<double> numbers;
  if (!checkpoint.load(kCheckpointName, numbers)) return;
  const std::size_t size = 3 + contest.found().size();
  if (numbers.size() != size || !(numbers[0] >= 1.0 && numbers[0] <= static_cast<double>(kFolds))) {
    throw core::Error({.kind = core::ErrorKind::file, .what = "not the choice of this run", .where = kCheckpointName});
  }
  progress = {static_cast<std::size_t>(numbers[0]), numbers[1], numbers[2] != 0.0};
  contest.go_on_from(std::span(numbers).subspan(3), progress.num_folds);
}

}  // namespace

Choice choice_of(std::vector<CandidateScore> scores, std::size_t num_folds) {
  const CandidateScore* best = nullptr;
  const CandidateScore* chosen = nullptr;  // the best of those that gain more than their error
  const auto is_better = [](const CandidateScore& score, const CandidateScore* than) {
    return than == nullptr || score.gain > than->gain;
  };
  for (const CandidateScore& score : scores) {
    if (is_better(score, best)) best = &score;
    if (score.gain > score.standard_error && is_better(score, chosen)) chosen = &score;
  }
  const CandidateScore& told = chosen != nullptr ? *chosen : *best;
  const std::string setting = told.alpha > 0.0 ? fmt::format(" with alpha {}", told.alpha) : "";
  const std::string figures = fmt::format(
      "{}{} gained {:.4g} net revenue a unit over tsm on units held out, standard error {:.2g} ({})", told.method,
      setting, told.gain, told.standard_error, num_folds == 1 ? "1 fold" : fmt::format("{} folds", num_folds));
  Choice choice;
  choice.num_folds = num_folds;
  if (chosen == nullptr) {
    choice.method = "tsm";
    choice.sentence = fmt::format("tsm was kept: the best other, {}, which is not more than its error.", figures);
  } else {
    choice.method = chosen->method;
    choice.alpha = chosen->alpha;
    choice.sentence =
        fmt::format("{} was chosen: {}. How much that is worth must be told from test units.", choice.method, figures);
  }
  choice.scores = std::move(scores);
  return choice;
}

Choice choose_method(const data::Trial& trial, const data::Study& study, double seconds_limit,
                     const std::string& checkpoint_folder, core::RunContext& context) {
  Contest contest(trial, study, context);
  if (contest.num_groups() < kLeastGroups) {
    Choice choice;
    choice.method = "tsm";
    choice.sentence = fmt::format("tsm was kept: {} {} are too few to compare methods by.", contest.num_groups(),
                                  trial.has_clusters() ? "clusters of training units" : "training units");
    return choice;
  }
  const Checkpoint checkpoint(checkpoint_folder, contest.key());
  Progress progress;
  load_progress(checkpoint, contest, progress);
  if (progress.done && progress.num_folds < kFolds) {
    context.warn(fmt::format("the choice is that of the earlier run, which time ended after {} of {} folds",
                             progress.num_folds, kFolds));
  }
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  if (!progress.done) contest.grow_forest(study);
  while (!progress.done) {
    contest.run_fold(progress.num_folds++);
    const Clock::time_point now = Clock::now();
    progress.seconds += std::chrono::duration<double>(now - std::exchange(start, now)).count();
    progress.done = progress.num_folds == kFolds || (seconds_limit > 0.0 && progress.seconds > seconds_limit);
    save_progress(checkpoint, contest, progress);
  }
  context.finished("choosing a method");
  Choice choice = choice_of(contest.scores(), progress.num_folds);
  if (choice.method == "tsm" && study.method.epochs) choice.epochs = contest.two_stage_epochs();
  if (choice.method == kForest) choice.forest = contest.take_forest();
  return choice;
}

}  // namespace dfcl::train

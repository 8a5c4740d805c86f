// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/hash.h"
#include "dfcl/evaluate/estimators/net_value.h"
#include "dfcl/train/checkpoint.h"
#include "dfcl/train/cross_fit.h"
#include "dfcl/train/run_key.h"
#include "dfcl/train/stages.h"

namespace dfcl::train {
namespace {

constexpr std::size_t kFolds = 5;
// Fewer units, or clusters of them, than this say nothing about which method is better.
constexpr std::size_t kLeastGroups = 20;

struct Candidate {
  const Method* method;
  double alpha;  // 0: none
};
// Two-stage first: it is the reference, its predictions are the nuisance, and the others go on from its predictor, as
// they do outside the contest. alpha: the study's; none: it leaves the choice.
std::vector<Candidate> candidates_of(std::optional<double> alpha) {
  std::vector<Candidate> list = {{&two_stage_method(), 0.0}};
  for (const Method& method : all_methods()) {
    if (!method.decides()) continue;
    for (const double own : method.auto_alphas) {
      if (own > 0.0 && (!alpha || own == method.auto_alphas.front())) list.push_back({&method, alpha.value_or(own)});
    }
  }
  return list;
}

// A method with no decision loss but another learner. One that predicts its own training units out of sample is fitted
// once, on all of them, and judged by that; others are fitted anew for each fold.
struct OtherLearner {
  const Method* method;
  Settings settings;
  std::unique_ptr<learn::Learner> base;  // may be null
  std::unique_ptr<learn::Learner> learner;
  bool enters = true;
  evaluate::ValueSums total = {};
  std::optional<learn::Fit> fit = {};
};

class Contest {
 public:
  Contest(const data::Trial& trial, const data::Study& study, core::RunContext& context)
      : trial_(trial),
        study_(study),
        context_(context),
        candidates_(candidates_of(study.method.alpha)),
        prepared_(prepare(trial, study, two_stage_method(), context)) {
    if (study.method.warm_epochs == 0)
      throw core::field_error("method.warm_epochs", "`auto` needs epochs of two-stage learning to compare with", "0",
                              "1 or more");
    const std::size_t num_units = prepared_.train_rows.size() * 4 / 5;
    const std::size_t warm_epochs = settings_of(study, *candidates_[1].method, num_units, context.seed).warm_epochs;
    for (const Candidate& candidate : candidates_) {
      data::Study adjusted = study;
      if (&candidate != &candidates_.front()) {
        adjusted.method.alpha = candidate.alpha;
      } else {
        adjusted.method.epochs = static_cast<std::int64_t>(warm_epochs);
      }
      settings_.push_back(settings_of(adjusted, *candidate.method, num_units, context.seed));
      key_ = core::combine_hashes(key_, run_key(trial, adjusted, settings_.back()));
      totals_.emplace_back();
    }
    learner_ = make_learner(two_stage_method().learner, prepared_, trial, study, settings_.front(), context);
    for (const Method& method : all_methods()) {
      if (!method.decides() && method.auto_alphas.front() > 0.0) add_other(method);
    }
  }

  // Before the first fold, and again where a contest goes on. A trial too small for a method goes without it, and so
  // does one that asks for a shape the method does not know.
  void fit_others() {
    for (OtherLearner& other : others_) {
      other.enters = other.learner->has_enough(prepared_.train_rows.size()) &&
                     (study_.method.concave.empty() || other.method->uses("concave"));
      if (other.enters && other.method->uses("out-of-sample")) {
        other.fit = fit_on_base(other.base.get(), *other.learner, prepared_.training_set(trial_), prepared_,
                                other.settings, {}, context_);
      }
    }
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
    learn::TrainingSet set = prepared_.training_set(trial_);
    set.rows = train_rows;
    const learn::SeenUnits seen = learn::seen_units(set, held_rows, context_);
    const Nuisance nuisance = nuisance_of(fold, set);
    set.nuisance_revenue = nuisance.revenue.view();
    set.nuisance_cost = nuisance.cost.view();
    const learn::Fit warm =
        learner_->fit(set, prediction_objective(prepared_, two_stage_method()),
                      {.member = kFirstMember + fold, .epochs = settings_.front().epochs}, context_);
    count_training();
    const learn::Predicted reference = learn::predict_scaled(*warm.predictor, set, held_rows, context_);
    const std::vector<double> multipliers = budget_multipliers(reference.revenue.view(), reference.cost.view(),
                                                               trial_.arms.control, prepared_.scaled_budgets, context_);
    const evaluate::RewardUnits units{
        seen.arm, seen.revenue, seen.cost, seen.weight, reference.revenue.view(), reference.cost.view(), seen.cluster};
    for (std::size_t i = 1; i < settings_.size(); ++i) {
      const learn::Predicted predicted = decide_and_predict(i, set, *warm.predictor, kFirstMember + fold, held_rows);
      count_training();
      totals_[i].add(
          evaluate::net_value_difference(units, scores_of(predicted), scores_of(reference), multipliers, context_));
    }
    for (OtherLearner& other : others_) {
      if (!other.enters) continue;
      const learn::Predicted predicted =
          other.fit ? out_of_sample(*other.fit, held_places) : fit_and_predict(other, set, held_rows);
      other.total.add(
          evaluate::net_value_difference(units, scores_of(predicted), scores_of(reference), multipliers, context_));
    }
  }

  // Of the method of this name, where one fit is all that it needs.
  std::optional<learn::Fit> take_fit(const std::string& method) {
    for (OtherLearner& other : others_) {
      if (method == other.method->name) return std::move(other.fit);
    }
    return std::nullopt;
  }

  std::size_t two_stage_epochs() const { return settings_.front().epochs; }

  // What identifies the contest: the trial and the settings of all candidates.
  std::uint64_t key() const { return key_; }

  // What the folds so far have found, for a checkpoint.
  std::vector<double> found() const {
    std::vector<double> numbers;
    const auto add = [&](const evaluate::ValueSums& total) {
      numbers.insert(numbers.end(), {total.units, total.groups, total.sum, total.squares, total.cross, total.sizes});
    };
    for (const evaluate::ValueSums& total : totals_) add(total);
    for (const OtherLearner& other : others_) add(other.total);
    return numbers;
  }
  void go_on_from(std::span<const double> numbers, std::size_t num_folds) {
    const double* of = numbers.data();
    const auto take = [&](evaluate::ValueSums& total) {
      total = {of[0], of[1], of[2], of[3], of[4], of[5]};
      of += 6;
    };
    for (evaluate::ValueSums& total : totals_) take(total);
    for (OtherLearner& other : others_) take(other.total);
    trained_ = num_folds * settings_.size();
  }

  std::vector<CandidateScore> scores() const {
    const double scale = prepared_.scales.revenue.scale;
    std::vector<CandidateScore> scores;
    const auto add = [&](const char* method, double alpha, const evaluate::ValueSums& total) {
      const evaluate::Estimate gain = total.mean();
      scores.push_back({method, alpha, gain.value * scale, gain.standard_error * scale});
    };
    for (std::size_t i = 1; i < settings_.size(); ++i)
      add(candidates_[i].method->name, candidates_[i].alpha, totals_[i]);
    for (const OtherLearner& other : others_) {
      if (other.total.units > 0.0) add(other.method->name, 0.0, other.total);
    }
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
  void add_other(const Method& method) {
    Settings settings = settings_of(study_, method, prepared_.train_rows.size(), context_.seed);
    key_ = core::combine_hashes(key_, run_key(trial_, study_, settings));
    auto learner = make_learner(method.learner, prepared_, trial_, study_, settings, context_);
    for (const auto& [name, value] : learner->shown()) key_ = core::hash_text(value, core::hash_text(name, key_));
    auto base =
        method.base == nullptr ? nullptr : make_learner(method.base, prepared_, trial_, study_, settings, context_);
    others_.push_back({&method, std::move(settings), std::move(base), std::move(learner)});
  }

  learn::Predicted fit_and_predict(const OtherLearner& other, const learn::TrainingSet& set,
                                   std::span<const std::uint32_t> rows) {
    const learn::Fit fit = fit_on_base(other.base.get(), *other.learner, set, prepared_, other.settings, {}, context_);
    return learn::predict_scaled(*fit.predictor, set, rows, context_);
  }

  // A candidate that goes on from the two-stage predictor of the fold, or, with a learner of its own, from the start.
  learn::Predicted decide_and_predict(std::size_t candidate, const learn::TrainingSet& set,
                                      const learn::Predictor& warm, std::size_t member,
                                      std::span<const std::uint32_t> rows) {
    const Settings& settings = settings_[candidate];
    if (settings.method.learner != two_stage_method().learner) {
      const auto own = make_learner(settings.method.learner, prepared_, trial_, study_, settings, context_);
      const learn::Fit fit = fit_stages(*own, set, prepared_, settings, member, nullptr, "", {}, context_);
      return learn::predict_scaled(*fit.predictor, set, rows, context_);
    }
    const FineTuned tuned = fine_tune(*learner_, set, prepared_, settings, warm, {.member = member}, context_);
    return learn::predict_scaled(tuned.went_back ? warm : *tuned.fit.predictor, set, rows, context_);
  }

  // Scaled.
  learn::Predicted out_of_sample(const learn::Fit& fit, std::span<const std::uint32_t> places) const {
    const auto scaled = [&](const core::Matrix<float>& values, const learn::OutcomeScale& scale) {
      core::Matrix<float> part(context_.scratch(), places.size(), values.cols());
      for (std::size_t i = 0; i < places.size(); ++i) {
        for (std::size_t j = 0; j < values.cols(); ++j) {
          const auto value = static_cast<double>(values.row(places[i])[j]);
          part.row(i)[j] = static_cast<float>((value - scale.center) / scale.scale);
        }
      }
      return part;
    };
    return {scaled(fit.out_of_sample->revenue, prepared_.scales.revenue),
            scaled(fit.out_of_sample->cost, prepared_.scales.cost)};
  }

  static evaluate::Scores scores_of(const learn::Predicted& predicted) {
    return {predicted.revenue.view(), predicted.cost.view()};
  }

  static constexpr std::size_t kFirstMember = 1000;  // fits of their own, none of the final model's
  static constexpr std::size_t kFirstNuisance = 2000;

  // Where a candidate asks for the doubly robust form: of the units that the fold trains on, for all candidates.
  Nuisance nuisance_of(std::size_t fold, const learn::TrainingSet& set) {
    for (const Settings& settings : settings_) {
      if (settings.needs_nuisance())
        return fit_nuisance(*learner_, set, prediction_objective(prepared_, two_stage_method()),
                            settings.nuisance_epochs, kFirstNuisance + 2 * fold, {}, context_);
    }
    return {};
  }

  void count_training() { context_.progress("choosing a method", ++trained_, kFolds * settings_.size(), "trainings"); }

  const data::Trial& trial_;
  const data::Study& study_;
  core::RunContext& context_;
  std::vector<Candidate> candidates_;
  Preparation prepared_;
  std::vector<Settings> settings_;
  std::unique_ptr<learn::Learner> learner_;
  std::vector<evaluate::ValueSums> totals_;  // of the candidates
  std::vector<OtherLearner> others_;
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
    choice.method = two_stage_method().name;
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
    choice.method = two_stage_method().name;
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
  if (!progress.done) contest.fit_others();
  while (!progress.done) {
    contest.run_fold(progress.num_folds++);
    const Clock::time_point now = Clock::now();
    progress.seconds += std::chrono::duration<double>(now - std::exchange(start, now)).count();
    progress.done = progress.num_folds == kFolds || (seconds_limit > 0.0 && progress.seconds > seconds_limit);
    save_progress(checkpoint, contest, progress);
  }
  context.finished("choosing a method");
  Choice choice = choice_of(contest.scores(), progress.num_folds);
  if (choice.method == two_stage_method().name && study.method.epochs) choice.epochs = contest.two_stage_epochs();
  choice.fit = contest.take_fit(choice.method);
  return choice;
}

}  // namespace dfcl::train

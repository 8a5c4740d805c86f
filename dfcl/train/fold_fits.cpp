// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/fold_fits.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/train/stages.h"

namespace dfcl::train {
namespace {

// Random numbers follow the number of a fit: these are of folds, and none of a method trained alone.
constexpr std::size_t kFirstMember = 1'000;
constexpr std::size_t kMembersPerFold = 100;
constexpr std::size_t kFirstNuisance = 2'000;

std::size_t member_number(std::size_t fold, std::size_t repeat) {
  return kFirstMember + fold * kMembersPerFold + repeat;
}

std::size_t repeats_of(const Settings& settings) {
  return settings.method.uses("ensemble") ? settings.ensemble : std::size_t{1};
}

learn::Predicted predictions_for(std::size_t num_units, std::size_t num_arms, const core::RunContext& context) {
  return {core::Matrix<float>(context.scratch(), num_units, num_arms),
          core::Matrix<float>(context.scratch(), num_units, num_arms)};
}

void append(std::vector<learn::EpochRecord>& to, const std::vector<learn::EpochRecord>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::vector<learn::WeightedPredictor> equally(const std::vector<SharedPredictor>& predictors) {
  std::vector<learn::WeightedPredictor> list;
  for (const SharedPredictor& predictor : predictors) list.push_back({predictor, 1.0});
  return list;
}

// The method that is this learner and nothing else; null: none.
const Method* plain_method(learn::MakeLearner learner) {
  const auto is_it = [&](const Method& method) {
    return method.learner == learner && method.base == nullptr && !method.decides() && !method.learns_efficiencies() &&
           !method.monotone;
  };
  const auto found = std::ranges::find_if(all_methods(), is_it);
  return learner == nullptr || found == all_methods().end() ? nullptr : &*found;
}

// rows: of the trial; places: theirs among the held units.
void predict_into(const data::Trial& trial, std::span<const learn::WeightedPredictor> predictors,
                  std::span<const std::uint32_t> rows, std::span<const std::uint32_t> places, learn::Predicted& unseen,
                  core::RunContext& context) {
  if (rows.empty()) return;  // no rows would mean all
  learn::Predicted part = predictions_for(rows.size(), trial.arms.size(), context);
  learn::predict_mean(predictors, {trial.features.values.view(), rows}, {part.revenue.view(), part.cost.view()},
                      context);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(part.revenue.row(i), unseen.revenue.row(places[i]).begin());
    std::ranges::copy(part.cost.row(i), unseen.cost.row(places[i]).begin());
  }
}

}  // namespace

Settings fold_settings(const data::Study& study, const Method& method, std::size_t num_training_units,
                       std::uint64_t seed) {
  return settings_of(study, method, num_training_units * (kFolds - 1) / kFolds, seed);
}

learn::Predicted unseen_of_whole(const data::Trial& trial, const HeldUnits& units,
                                 std::span<const learn::WeightedPredictor> predictors,
                                 const learn::Predicted& out_of_sample, core::RunContext& context) {
  learn::Predicted unseen = predictions_for(units.size(), trial.arms.size(), context);
  core::Column<std::uint32_t> rows(context.scratch()), places(context.scratch());
  std::size_t next = 0;  // in the order of the training units
  for (std::size_t place = 0; place < units.size(); ++place) {
    if (units.is_training[place] != 0) {
      std::ranges::copy(out_of_sample.revenue.row(next), unseen.revenue.row(place).begin());
      std::ranges::copy(out_of_sample.cost.row(next), unseen.cost.row(place).begin());
      ++next;
    } else {
      rows.push_back(units.rows[place]);
      places.push_back(static_cast<std::uint32_t>(place));
    }
  }
  predict_into(trial, predictors, rows, places, unseen, context);
  return unseen;
}

FoldFits::FoldFits(const data::Trial& trial, const data::Study& study, const Preparation& prepared,
                   const HeldUnits& units, const Checkpoint& checkpoint, core::RunContext& context)
    : trial_(trial), study_(study), prepared_(prepared), units_(units), checkpoint_(checkpoint), context_(context) {
  for (std::size_t fold = 0; fold <= kFolds; ++fold) rows_[fold] = fold_rows(units, fold, context);
}

Settings FoldFits::settings(const Method& method, std::size_t fold) const {
  const std::size_t num_units = prepared_.train_rows.size();
  return fold == kFolds ? settings_of(study_, method, num_units, context_.seed)
                        : fold_settings(study_, method, num_units, context_.seed);
}

std::string FoldFits::why_not(const Method& method) const {
  const std::size_t num_arms = trial_.arms.size();
  if (method.two_arms_only && num_arms != 2) return "it is for trials of two arms";
  if (method.ordered_arms_only && num_arms > 2 && !trial_.arms.ordered) return "it needs ordered arms";
  if (!study_.method.concave.empty() && !method.uses("concave")) return "it knows no concave outcomes";
  if (method.check_settings == nullptr) return "";
  // What is wrong with any number of units is an error of the study.
  method.check_settings(study_, std::numeric_limits<std::uint32_t>::max(), num_arms);
  try {
    method.check_settings(study_, prepared_.train_rows.size() * (kFolds - 1) / kFolds, num_arms);
  } catch (const core::Error&) {
    return "the trial has too few units for it";
  }
  return "";
}

const Preparation& FoldFits::prepared_for(const Method& method) {
  if (!method.monotone) return prepared_;
  if (!rising_) rising_ = prepare(trial_, study_, method, context_);
  return *rising_;
}

FillStage FoldFits::fill_for(const std::string& name, const Hooks& hooks) const {
  return [this, name, &hooks](learn::Stage& stage, const std::string& part) {
    const std::string file = fmt::format("{}-{}", name, part);
    stage.name = checkpoint_.path_of(file);
    stage.load = [this, file] { return checkpoint_.load(file); };
    stage.save = [this, file](io::TensorFile state) { checkpoint_.save(file, std::move(state)); };
    stage.on_epoch = hooks.on_epoch;
    stage.advanced = [&hooks](std::size_t) {
      if (hooks.is_time_up && hooks.is_time_up()) throw TimeIsUp();
    };
  };
}

FinishedFit FoldFits::once(const std::string& name, const Hooks& hooks, const std::function<FinishedFit()>& fit) const {
  const std::string file = "fit-" + name;
  const learn::Schema schema{trial_.arms, trial_.features.columns};
  if (const auto kept = checkpoint_.load(file))
    return fit_of_file(*kept, schema, units_.size(), checkpoint_.path_of(file), context_);
  if (hooks.is_time_up && hooks.is_time_up()) throw TimeIsUp();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  FinishedFit finished = fit();
  finished.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (checkpoint_.is_kept()) checkpoint_.save(file, fit_file(finished));
  return finished;
}

const FinishedFit& FoldFits::fit_shared(const Method& method, std::size_t fold, const Hooks& hooks) {
  const auto key = std::pair(&method, fold);
  if (const auto found = shared_.find(key); found != shared_.end()) return found->second;
  learn::TrainingSet set = prepared_for(method).training_set(trial_);
  set.rows = method.uses("network") ? rows_[fold].train : rows_[fold].seen;
  set.validation_rows = {};
  if (method.uses("network")) set.validation_rows = rows_[fold].validation;
  if (method.base != nullptr && fold == kFolds) {
    for (std::size_t of = 0; of < kFolds; ++of) (void)fit_shared(*plain_method(method.base), of, hooks);
  }
  FinishedFit fit = once(fmt::format("{}-{}", method.name, fold), hooks, [&] {
    return method.base != nullptr ? fit_based(method, fold, set, hooks) : fit_stages_of(method, fold, set, hooks);
  });
  return shared_.emplace(key, std::move(fit)).first->second;
}

const learn::Learner& FoldFits::tree_learner(learn::MakeLearner make, bool one_bag) {
  std::unique_ptr<learn::Learner>& learner = tree_learners_[{make, one_bag}];
  if (!learner) {
    const Settings own = settings(two_stage_method(), 0);
    learner = one_bag ? make_one_bag_learner(make, prepared_, trial_, study_, own, context_)
                      : make_learner(make, prepared_, trial_, study_, own, context_);
  }
  return *learner;
}

FinishedFit FoldFits::fit_stages_of(const Method& method, std::size_t fold, const learn::TrainingSet& set,
                                    const Hooks& hooks) {
  const Preparation& prepared = prepared_for(method);
  const Settings own = settings(method, fold);
  const FillStage fill = fill_for(fmt::format("{}-{}", method.name, fold), hooks);
  std::unique_ptr<learn::Learner> made;
  if (method.uses("network")) made = make_learner(method.learner, prepared, trial_, study_, own, context_);
  const learn::Learner& learner = made ? *made : tree_learner(method.learner, false);
  FinishedFit finished;
  for (std::size_t repeat = 0; repeat < repeats_of(own); ++repeat) {
    learn::Fit fit = fit_stages(learner, set, prepared, own, member_number(fold, repeat), nullptr,
                                fmt::format("{}", repeat), fill, context_);
    finished.predictors.push_back(std::move(fit.predictor));
    append(finished.record, fit.record);
  }
  return finished;
}

SharedPredictor FoldFits::fit_of_one_fold(learn::MakeLearner make, std::size_t fold, const Hooks& hooks) {
  SharedPredictor& kept = of_one_fold_[{make, fold}];
  if (kept) return kept;
  learn::TrainingSet set = prepared_.training_set(trial_);
  set.rows = rows_[fold].held;
  set.validation_rows = {};
  learn::Stage stage{.member = kFirstNuisance + fold, .epochs = settings(two_stage_method(), fold).warm_epochs};
  fill_for("one", hooks)(stage, fmt::format("{}", fold));
  kept =
      tree_learner(make, true).fit(set, prediction_objective(prepared_, two_stage_method()), stage, context_).predictor;
  return kept;
}

// A fold's: of the two others, each by trees that saw the other alone. Of all units: by the trees of the folds.
std::vector<UnseenBy> FoldFits::trees_without(learn::MakeLearner make, std::size_t fold, const Hooks& hooks) {
  std::vector<UnseenBy> unseen;
  for (std::size_t of = 0; of < kFolds; ++of) {
    if (of == fold) continue;
    SharedPredictor by = fold == kFolds ? fit_shared(*plain_method(make), of, hooks).predictors.front()
                                        : fit_of_one_fold(make, kFolds - fold - of, hooks);
    UnseenBy& one = unseen.emplace_back(UnseenBy{std::move(by), rows_[of].held, {}});
    const core::Column<std::uint32_t>& seen = rows_[fold].seen;
    for (const std::uint32_t row : one.rows)
      one.places.push_back(static_cast<std::uint32_t>(std::lower_bound(seen.begin(), seen.end(), row) - seen.begin()));
  }
  return unseen;
}

const Nuisance& FoldFits::nuisance_for(const Method& method, std::size_t fold, const Hooks& hooks) {
  if (const auto found = nuisance_.find(fold); found != nuisance_.end()) return found->second;
  const std::vector<UnseenBy> unseen = trees_without(method.nuisance, fold, hooks);
  return nuisance_.emplace(fold, nuisance_by(unseen, prepared_.training_set(trial_), context_)).first->second;
}

FinishedFit FoldFits::fit_based(const Method& method, std::size_t fold, learn::TrainingSet set, const Hooks& hooks) {
  const Settings own = settings(method, fold);
  learn::Base base = base_by(trees_without(method.base, fold, hooks), set.rows.size(), set, context_);
  set.base = &base;
  learn::Stage stage{.epochs = own.warm_epochs};
  fill_for(fmt::format("{}-{}", method.name, fold), hooks)(stage, "whole");
  const auto learner = make_learner(method.learner, prepared_, trial_, study_, own, context_);
  learn::Fit fit = learner->fit(set, prediction_objective(prepared_, method), stage, context_);
  return {{std::move(fit.predictor)}, std::move(fit.record), {}};
}

FinishedFit FoldFits::fit_decision(const Method& method, std::size_t fold, learn::TrainingSet set, const Hooks& hooks) {
  const Settings own = settings(method, fold);
  const FillStage fill = fill_for(fmt::format("{}-{}", method.name, fold), hooks);
  const auto learner = make_learner(method.learner, prepared_, trial_, study_, own, context_);
  if (own.needs_nuisance()) {
    const Nuisance& nuisance = nuisance_for(method, fold, hooks);
    set.nuisance_revenue = nuisance.revenue.view();
    set.nuisance_cost = nuisance.cost.view();
  }
  const std::vector<SharedPredictor>& starts = fit_shared(two_stage_method(), fold, hooks).predictors;
  FinishedFit finished;
  for (std::size_t repeat = 0; repeat < repeats_of(own); ++repeat) {
    const SharedPredictor& warm = starts[repeat % starts.size()];
    learn::Stage stage{.member = member_number(fold, repeat)};
    fill(stage, fmt::format("{}", repeat));
    FineTuned tuned = fine_tune(*learner, set, prepared_, own, *warm, stage, context_);
    finished.predictors.push_back(tuned.went_back ? warm : SharedPredictor(std::move(tuned.fit.predictor)));
    append(finished.record, tuned.fit.record);
  }
  return finished;
}

FinishedFit FoldFits::fit_fold(const Method& method, std::size_t fold, const Hooks& hooks) {
  const Method& two_stage = two_stage_method();
  if (!method.decides() || method.learner != two_stage.learner || method.monotone) {
    const FinishedFit& fit = fit_shared(method, fold, hooks);
    return {fit.predictors, fit.record, {}, fit.seconds};
  }
  (void)fit_shared(two_stage, fold, hooks);
  learn::TrainingSet set = prepared_.training_set(trial_);
  set.rows = rows_[fold].train;
  set.validation_rows = rows_[fold].validation;
  return once(fmt::format("{}-{}", method.name, fold), hooks, [&] { return fit_decision(method, fold, set, hooks); });
}

FinishedFit FoldFits::fit_all(const Method& method, const Hooks& hooks) {
  FinishedFit fit = fit_fold(method, kFolds, hooks);  // no unit is of this fold
  if (hooks.on_fit) hooks.on_fit();
  return fit;
}

FoldedMethod FoldFits::fit(const Method& method, const Hooks& hooks) {
  FoldedMethod folded;
  folded.method = &method;
  const auto take = [&](FinishedFit& fit) {
    for (SharedPredictor& predictor : fit.predictors) folded.predictors.push_back(std::move(predictor));
    append(folded.record, fit.record);
    folded.seconds += fit.seconds;
    if (hooks.on_fit) hooks.on_fit();
  };
  folded.unseen = predictions_for(units_.size(), trial_.arms.size(), context_);
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    FinishedFit fit = fit_fold(method, fold, hooks);
    predict_into(trial_, equally(fit.predictors), rows_[fold].held, rows_[fold].places, folded.unseen, context_);
    take(fit);
  }
  return folded;
}

}  // namespace dfcl::train

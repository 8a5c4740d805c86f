// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/fold_fits.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/core/side_by_side.h"
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

// Its fits go on from those of two-stage learning.
bool goes_on(const Method& method) {
  return method.decides() && method.learner == two_stage_method().learner && !method.monotone;
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

void FoldFits::run_jobs(std::size_t count, const Hooks& hooks, const Lane& lane, const RunJob& run) const {
  const std::size_t lanes = core::at_a_time(lane.context, count);
  if (lanes == 1) {
    for (std::size_t i = 0; i < count; ++i) run(i, hooks, lane);
    return;
  }
  std::vector<std::vector<learn::EpochRecord>> records(count);
  core::run_side_by_side(lane.context, count, [&](std::size_t i, core::RunContext& own) {
    Hooks kept{.is_time_up = hooks.is_time_up};
    kept.on_epoch = [&](const learn::EpochRecord& record) { records[i].push_back(record); };
    run(i, kept, {own, lane.share / static_cast<double>(lanes)});
  });
  for (const auto& list : records) {
    for (const learn::EpochRecord& record : list) {
      if (hooks.on_epoch) hooks.on_epoch(record);
    }
  }
}

FinishedFit FoldFits::once(const std::string& name, const Hooks& hooks, const Lane& lane,
                           const std::function<FinishedFit()>& fit) const {
  const std::string file = "fit-" + name;
  const learn::Schema schema{trial_.arms, trial_.features.columns};
  if (const auto kept = checkpoint_.load(file))
    return fit_of_file(*kept, schema, units_.size(), checkpoint_.path_of(file), lane.context);
  if (hooks.is_time_up && hooks.is_time_up()) throw TimeIsUp();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  FinishedFit finished = fit();
  finished.seconds = lane.share * std::chrono::duration<double>(Clock::now() - start).count();
  if (checkpoint_.is_kept()) checkpoint_.save(file, fit_file(finished));
  return finished;
}

learn::TrainingSet FoldFits::network_set(const Preparation& prepared, std::size_t fold) const {
  learn::TrainingSet set = prepared.training_set(trial_);
  set.rows = rows_[fold].train;
  set.validation_rows = rows_[fold].validation;
  return set;
}

const FinishedFit& FoldFits::fit_shared(const Method& method, std::size_t fold, const Hooks& hooks) {
  const auto key = std::pair(&method, fold);
  if (const auto found = shared_.find(key); found != shared_.end()) {
    tell({&method, fold}, hooks);
    return found->second;
  }
  if (method.uses("network")) {
    (void)prepared_for(method);
    return shared_.emplace(key, fit_network({&method, fold}, hooks, {context_})).first->second;
  }
  learn::TrainingSet set = prepared_for(method).training_set(trial_);
  set.rows = rows_[fold].seen;
  set.validation_rows = {};
  if (method.base != nullptr && fold == kFolds) {
    for (std::size_t of = 0; of < kFolds; ++of) (void)fit_shared(*plain_method(method.base), of, hooks);
  }
  const Lane lane{context_};
  FinishedFit fit = once(fmt::format("{}-{}", method.name, fold), hooks, lane, [&] {
    return method.base != nullptr ? fit_based(method, fold, set, hooks) : fit_stages_of(method, fold, set, hooks, lane);
  });
  return shared_.emplace(key, std::move(fit)).first->second;
}

FinishedFit FoldFits::fit_network(const Job& job, const Hooks& hooks, const Lane& lane) {
  const auto& [method, fold] = job;
  const learn::TrainingSet set = network_set(prepared_for(*method), fold);
  return once(fmt::format("{}-{}", method->name, fold), hooks, lane, [&, method = method, fold = fold] {
    return goes_on(*method) ? fit_decision(*method, fold, set, hooks, lane)
                            : fit_stages_of(*method, fold, set, hooks, lane);
  });
}

void FoldFits::tell(const Job& job, const Hooks& hooks) {
  const auto records = untold_.extract(job);
  if (records.empty() || !hooks.on_epoch) return;
  for (const learn::EpochRecord& record : records.mapped()) hooks.on_epoch(record);
}

void FoldFits::fit_at_once(std::vector<Job> jobs, const Hooks& hooks) {
  std::erase_if(jobs, [&](const Job& job) {
    return goes_on(*job.method) ? decided_.contains(job) : shared_.contains({job.method, job.fold});
  });
  for (const auto& [method, fold] : jobs) {  // what they only read
    (void)prepared_for(*method);
    if (goes_on(*method) && settings(*method, fold).needs_nuisance()) (void)nuisance_for(*method, fold, hooks);
  }
  std::vector<std::optional<FinishedFit>> fits(jobs.size());
  std::vector<std::vector<learn::EpochRecord>> records(jobs.size());
  run_jobs(jobs.size(), hooks, {context_}, [&](std::size_t i, const Hooks& own, const Lane& lane) {
    Hooks kept{.is_time_up = own.is_time_up};
    kept.on_epoch = [&, i](const learn::EpochRecord& record) { records[i].push_back(record); };
    fits[i] = fit_network(jobs[i], kept, lane);
  });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    untold_[jobs[i]] = std::move(records[i]);
    if (goes_on(*jobs[i].method)) {
      decided_.emplace(jobs[i], *std::move(fits[i]));
    } else {
      shared_.emplace(std::pair(jobs[i].method, jobs[i].fold), *std::move(fits[i]));
    }
  }
}

void FoldFits::fit_ahead(std::span<const Method* const> methods, bool of_whole, const Hooks& hooks) {
  if (core::at_a_time(context_, kFolds) == 1) return;
  std::vector<Job> first, second;
  for (std::size_t fold = of_whole ? kFolds : 0; fold < (of_whole ? kFolds + 1 : kFolds); ++fold) {
    bool has_start = false;
    for (const Method* method : methods) {
      if (!method->uses("network")) continue;
      const bool needs_start = goes_on(*method);
      const Method* start = needs_start ? &two_stage_method() : method;
      if (start != &two_stage_method() || !std::exchange(has_start, true)) first.push_back({start, fold});
      if (needs_start) second.push_back({method, fold});
    }
  }
  fit_at_once(std::move(first), hooks);
  fit_at_once(std::move(second), hooks);
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
                                    const Hooks& hooks, const Lane& lane) {
  const Preparation& prepared = prepared_for(method);
  const Settings own = settings(method, fold);
  std::unique_ptr<learn::Learner> made;
  if (method.uses("network")) made = make_learner(method.learner, prepared, trial_, study_, own, lane.context);
  const learn::Learner& learner = made ? *made : tree_learner(method.learner, false);
  std::vector<learn::Fit> fits(repeats_of(own));
  run_jobs(fits.size(), hooks, lane, [&](std::size_t repeat, const Hooks& of_repeat, const Lane& beside) {
    const FillStage fill = fill_for(fmt::format("{}-{}", method.name, fold), of_repeat);
    fits[repeat] = fit_stages(learner, set, prepared, own, member_number(fold, repeat), nullptr,
                              fmt::format("{}", repeat), fill, beside.context);
  });
  FinishedFit finished;
  for (learn::Fit& fit : fits) {
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

FinishedFit FoldFits::fit_decision(const Method& method, std::size_t fold, learn::TrainingSet set, const Hooks& hooks,
                                   const Lane& lane) {
  const Settings own = settings(method, fold);
  const auto learner = make_learner(method.learner, prepared_, trial_, study_, own, lane.context);
  if (own.needs_nuisance()) {
    const Nuisance& nuisance = nuisance_for(method, fold, hooks);
    set.nuisance_revenue = nuisance.revenue.view();
    set.nuisance_cost = nuisance.cost.view();
  }
  const std::vector<SharedPredictor>& starts = shared_.at({&two_stage_method(), fold}).predictors;
  std::vector<FineTuned> fits(repeats_of(own));
  run_jobs(fits.size(), hooks, lane, [&](std::size_t repeat, const Hooks& of_repeat, const Lane& beside) {
    learn::Stage stage{.member = member_number(fold, repeat)};
    fill_for(fmt::format("{}-{}", method.name, fold), of_repeat)(stage, fmt::format("{}", repeat));
    fits[repeat] = fine_tune(*learner, set, prepared_, own, *starts[repeat % starts.size()], stage, beside.context);
  });
  FinishedFit finished;
  for (std::size_t repeat = 0; repeat < fits.size(); ++repeat) {
    FineTuned& tuned = fits[repeat];
    finished.predictors.push_back(tuned.went_back ? starts[repeat % starts.size()]
                                                  : SharedPredictor(std::move(tuned.fit.predictor)));
    append(finished.record, tuned.fit.record);
  }
  return finished;
}

FinishedFit FoldFits::fit_fold(const Method& method, std::size_t fold, const Hooks& hooks) {
  if (!goes_on(method)) {
    const FinishedFit& fit = fit_shared(method, fold, hooks);
    return {fit.predictors, fit.record, {}, fit.seconds};
  }
  (void)fit_shared(two_stage_method(), fold, hooks);
  tell({&method, fold}, hooks);
  if (auto ahead = decided_.extract({&method, fold}); !ahead.empty()) return std::move(ahead.mapped());
  return fit_network({&method, fold}, hooks, {context_});
}

FinishedFit FoldFits::fit_all(const Method& method, const Hooks& hooks) {
  const Method* const alone[] = {&method};
  fit_ahead(alone, true, hooks);
  FinishedFit fit = fit_fold(method, kFolds, hooks);  // no unit is of this fold
  if (hooks.on_fit) hooks.on_fit();
  return fit;
}

FoldedMethod FoldFits::fit(const Method& method, const Hooks& hooks) {
  const Method* const alone[] = {&method};
  fit_ahead(alone, false, hooks);
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

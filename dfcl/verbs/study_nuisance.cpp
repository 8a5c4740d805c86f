// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/study_nuisance.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dfcl/core/count_text.h"
#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/version.h"
#include "dfcl/data/study_keys.h"
#include "dfcl/data/unit_key.h"
#include "dfcl/evaluate/evaluate.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/train/train.h"

namespace dfcl::verbs {
namespace {

constexpr std::size_t kFolds = 5;
// Fewer units, or clusters of them, are not calibrated by.
constexpr std::size_t kLeastGroups = 100;
constexpr const char* kKeyOption = "nuisance_of";

// Another seed in place of the caller's: nobody can look for one whose nuisance suits.
class FixedSeed {
 public:
  explicit FixedSeed(core::RunContext& context) : context_(context), before_(context.seed) { context.seed = 0; }
  ~FixedSeed() { context_.seed = before_; }
  FixedSeed(const FixedSeed&) = delete;
  FixedSeed& operator=(const FixedSeed&) = delete;

 private:
  core::RunContext& context_;
  std::uint64_t before_;
};

// Only what says what the data are: how the study's own models are trained does not matter.
data::Study nuisance_study(const data::Study& study, bool calibrate) {
  data::Study meant = study;
  meant.network = {};
  meant.network.revenue_kind = study.network.revenue_kind;
  meant.network.cost_kind = study.network.cost_kind;
  meant.forest = {};
  meant.compare = {};
  meant.sweep = {};
  meant.budgets = {};
  meant.budgets.share_of_max = {0.5};
  meant.method = {};
  meant.method.name = "tsm-boost";
  meant.method.calibrate = calibrate;
  meant.boost = {};
  meant.boost.trees = kNuisanceTrees;
  meant.boost.learning_rate = 0.1;
  meant.boost.leaves = 15;
  meant.boost.bags = 1;
  return meant;
}

// Trees depend on the order of the units they are fitted to; what is said of a trial does not. So units are taken in
// the order of their keys; without ids the order is part of the trial.
std::vector<std::size_t> unit_order(const data::Trial& trial) {
  std::vector<data::KeyedRow> keyed;
  keyed.reserve(trial.num_units());
  const bool has_ids = !trial.ids.are_row_numbers();
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit)
    keyed.push_back({has_ids ? data::unit_key(trial, unit) : unit, unit});
  if (has_ids) data::sort_by_key(trial, keyed);
  std::vector<std::size_t> order;
  order.reserve(keyed.size());
  for (const data::KeyedRow& one : keyed) order.push_back(one.row);
  return order;
}

data::Trial ordered_copy(const data::Trial& trial, const std::vector<std::size_t>& order, core::RunContext& context) {
  data::Trial copy;
  const auto pick = [&]<class T>(const core::Column<T>& from, core::Column<T>& into) {
    if (from.empty()) return;
    into = core::Column<T>(context.scratch());
    into.reserve(order.size());
    for (const std::size_t unit : order) into.push_back(from[unit]);
  };
  copy.arms = trial.arms;
  copy.features.columns = trial.features.columns;
  copy.features.values = core::Matrix<float>(context.scratch(), order.size(), trial.features.values.cols());
  for (std::size_t place = 0; place < order.size(); ++place)
    std::ranges::copy(trial.features.values.row(order[place]), copy.features.values.row(place).begin());
  copy.ids = trial.ids.are_row_numbers() ? trial.ids : trial.ids.chosen(order);
  pick(trial.arm, copy.arm);
  pick(trial.revenue, copy.revenue);
  pick(trial.cost, copy.cost);
  copy.cost_facts = trial.cost_facts;
  pick(trial.propensity, copy.propensity);
  pick(trial.weight, copy.weight);
  pick(trial.cluster, copy.cluster);
  copy.num_clusters = trial.num_clusters;
  copy.cluster_key = trial.cluster_key;
  pick(trial.time, copy.time);
  copy.times = trial.times;
  pick(trial.split, copy.split);
  copy.fingerprint = trial.fingerprint;
  return copy;
}

// The same for any order of units that have ids: splits are a sum over units.
std::string key_of(const data::Trial& trial, const data::Study& study) {
  std::uint64_t splits = 0;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit)
    splits += core::combine_hashes(data::unit_key(trial, unit), static_cast<std::uint64_t>(trial.split[unit]));
  std::uint64_t key = core::combine_hashes(trial.fingerprint, core::hash_text(core::version()));
  key = core::combine_hashes(key, splits);
  key = core::hash_text(data::to_text(trial.cost_facts.kind), key);
  for (const auto& [name, value] : data::training_identity(study))
    key = core::hash_text(value, core::hash_text(name, key));
  return fmt::format("{:016x}", key);
}

std::size_t count_training_groups(const data::Trial& trial) {
  std::unordered_set<std::uint64_t> groups;
  for (std::size_t row = 0; row < trial.num_units() && groups.size() < kLeastGroups; ++row) {
    if (trial.split[row] != data::Split::test) groups.insert(data::group_key(trial, row));
  }
  return groups.size();
}

bool has_training_rows(const data::Trial& trial) {
  return std::any_of(trial.split.begin(), trial.split.end(),
                     [](data::Split split) { return split == data::Split::train; });
}

// The one that is kept, where it is for this key and of this trial.
std::shared_ptr<const model::Model> kept_model(const std::string& path, const std::string& key,
                                               const data::Trial& trial) {
  std::error_code code;
  if (path.empty() || !std::filesystem::exists(path, code)) return nullptr;
  try {
    auto model = std::make_shared<const model::Model>(model::read_model(path));
    const auto has_key = [&](const auto& option) { return option.first == kKeyOption && option.second == key; };
    const bool fits = std::any_of(model->options.begin(), model->options.end(), has_key) &&
                      model->version == core::version() && !model->is_index() && model->arms == trial.arms &&
                      model->features == trial.features.columns;
    return fits ? model : nullptr;
  } catch (const core::Error& error) {
    if (error.kind() == core::ErrorKind::interrupted) throw;
    return nullptr;  // it is fitted anew
  }
}

// Whether it could be kept.
bool keep_model(const std::string& path, const model::Model& model) {
  if (path.empty()) return false;
  try {
    model::write_model(path, model);
    return true;
  } catch (const core::Error& error) {
    if (error.kind() == core::ErrorKind::interrupted) throw;
    return false;
  }
}

// Nothing where the trial has too little to fit by.
std::shared_ptr<const model::Model> fit_model(const data::Trial& trial, const data::Study& study,
                                              const std::string& key, core::RunContext& context) {
  const FixedSeed fixed(context);
  train::TrainOptions options;
  data::Study written = study;
  written.data = {};
  options.study_text = io::study_text(written);
  try {
    model::Model model = train::train(trial, study, options, context);
    // The factor is for units that the nuisance's own plans would choose, which are not the ones evaluated.
    if (model.calibration) model.calibration->cost.plan_factor = 1.0;
    model.options.emplace_back(kKeyOption, key);
    return std::make_shared<const model::Model>(std::move(model));
  } catch (const core::Error& error) {
    if (error.kind() != core::ErrorKind::data && error.kind() != core::ErrorKind::usage) throw;
    return nullptr;
  }
}

// Every row gets its arm's mean.
StudyNuisance arm_mean_nuisance(const JudgedTrial& judged, Rows split, core::RunContext& context) {
  const evaluate::ArmMeans means = evaluate::arm_means(*judged.own, split_of_rows(split), context);
  const evaluate::TrialRows& rows = judged.rows;
  StudyNuisance nuisance{
      {core::Matrix<float>(rows.size(), rows.num_arms()), core::Matrix<float>(rows.size(), rows.num_arms()), {}},
      "the means of the arms, for there are too few rows to fit a model to",
      ""};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
      nuisance.prediction.revenue(row, arm) = static_cast<float>(means.revenue[arm]);
      nuisance.prediction.cost(row, arm) = static_cast<float>(means.cost[arm]);
    }
  }
  return nuisance;
}

std::string seconds_since(std::chrono::steady_clock::time_point start) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

StudyNuisance fitted_off_rows(const JudgedTrial& judged, Rows split, const OnNote& on_note, core::RunContext& context) {
  const std::shared_ptr<const model::Model> model = study_nuisance_model(judged, on_note, context);
  if (model == nullptr) return arm_mean_nuisance(judged, split, context);
  TrialPrediction predicted =
      predict_trial({.path = "the nuisance", .model = model}, judged, {TrainingRows::warn}, context);
  return {std::move(predicted.prediction), kNuisanceName, predicted.fingerprint};
}

// For each row of the evaluation its fold, by cluster or id.
std::vector<std::uint8_t> folds_of(const JudgedTrial& judged) {
  std::vector<std::uint8_t> folds;
  for (const std::size_t row : judged.rows.trial_row) {
    const std::uint64_t key =
        core::combine_hashes(core::hash_text("evaluated fold"), data::group_key(*judged.trial, row));
    folds.push_back(static_cast<std::uint8_t>(key % kFolds));
  }
  return folds;
}

// Each fold by a fit to the other folds, and to training and validation rows that are not evaluated.
StudyNuisance cross_fitted(const JudgedTrial& judged, Rows split, const OnNote& on_note, core::RunContext& context) {
  const auto start = std::chrono::steady_clock::now();
  const data::Study study = nuisance_study(judged.study, false);
  const evaluate::TrialRows& rows = judged.rows;
  const std::vector<std::uint8_t> folds = folds_of(judged);
  StudyNuisance nuisance{
      {core::Matrix<float>(rows.size(), rows.num_arms()), core::Matrix<float>(rows.size(), rows.num_arms()), {}},
      "boosted trees, cross-fitted over five folds of the evaluated rows",
      ""};
  const std::vector<std::size_t> order = unit_order(*judged.trial);
  data::Trial trial = ordered_copy(*judged.trial, order, context);
  std::vector<std::size_t> place_of(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) place_of[order[place]] = place;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<std::size_t> held;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const bool is_held = folds[row] == fold;
      trial.split[place_of[rows.trial_row[row]]] = is_held ? data::Split::test : data::Split::train;
      if (is_held) held.push_back(row);
    }
    if (held.empty()) continue;
    const std::shared_ptr<const model::Model> model = fit_model(trial, study, "", context);
    if (model == nullptr) return arm_mean_nuisance(judged, split, context);
    core::Matrix<float> features(context.scratch(), held.size(), trial.features.values.cols());
    for (std::size_t i = 0; i < held.size(); ++i)
      std::ranges::copy(trial.features.values.row(place_of[rows.trial_row[held[i]]]), features.row(i).begin());
    core::Matrix<float> revenue(held.size(), rows.num_arms());
    core::Matrix<float> cost(held.size(), rows.num_arms());
    model::predict(*model, std::as_const(features).view(), revenue.view(), cost.view(), context);
    for (std::size_t i = 0; i < held.size(); ++i) {
      std::ranges::copy(revenue.row(i), nuisance.prediction.revenue.row(held[i]).begin());
      std::ranges::copy(cost.row(i), nuisance.prediction.cost.row(held[i]).begin());
    }
  }
  if (on_note) on_note(fmt::format("cross-fitted the nuisance over five folds in {}", seconds_since(start)));
  return nuisance;
}

}  // namespace

std::string nuisance_path(const std::string& study_file) {
  const std::filesystem::path file(study_file);
  return (file.parent_path() / fmt::format(".{}.nuisance.safetensors", file.filename().string())).string();
}

std::shared_ptr<const model::Model> study_nuisance_model(const JudgedTrial& judged, const OnNote& on_note,
                                                         core::RunContext& context) {
  const data::Trial& trial = *judged.own;
  const data::Study study = nuisance_study(judged.study, count_training_groups(trial) >= kLeastGroups);
  const std::string path = judged.study.file.empty() ? "" : nuisance_path(judged.study.file);
  const std::string key = key_of(trial, study);
  std::shared_ptr<const model::Model> model = kept_model(path, key, trial);
  if (model != nullptr) return model;
  const auto start = std::chrono::steady_clock::now();
  model = fit_model(ordered_copy(trial, unit_order(trial), context), study, key, context);
  if (model == nullptr) return nullptr;
  const bool is_kept = keep_model(path, *model);
  if (on_note) {
    on_note(fmt::format("fitted the nuisance, boosted trees on {} training rows, in {}{}",
                        core::count_text(model->trained.num_units), seconds_since(start),
                        is_kept ? "; kept in " + path : ""));
  }
  return model;
}

StudyNuisance study_nuisance(const JudgedTrial& judged, Rows split, const OnNote& on_note, core::RunContext& context) {
  const bool is_off_rows = judged.own != judged.trial || split == Rows::test;
  return is_off_rows && has_training_rows(*judged.own) ? fitted_off_rows(judged, split, on_note, context)
                                                       : cross_fitted(judged, split, on_note, context);
}

}  // namespace dfcl::verbs

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/learn/whole_predictor.h"
#include "dfcl/train/finish.h"
#include "dfcl/train/folds.h"
#include "dfcl/train/methods.h"
#include "dfcl/train/stack.h"

namespace dfcl::train {
namespace {

constexpr const char* kWeighing = "weighing shards";

// The shards are calibrated: fewer units know no better.
constexpr std::size_t kLeastSlopeUnits = 40'000;

std::string shard_name(std::size_t shard) { return fmt::format("shard {}", shard + 1); }

void require_alike(const data::Trial& judging, const std::vector<model::Model>& shards) {
  if (shards.empty() || shards.size() > kMostShards)
    throw core::field_error("shards", "out of range", fmt::format("{}", shards.size()),
                            fmt::format("1 to {}", kMostShards));
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const model::Model& shard = shards[i];
    if (shard.is_index())
      throw core::field_error("method.name", fmt::format("{} learns an index, which no stack can mix", shard.method),
                              shard.method, "a method that predicts outcomes");
    const bool same_arms = shard.arms.labels == judging.arms.labels && shard.arms.control == judging.arms.control;
    if (!same_arms || shard.features != judging.features.columns || shard.method != shards.front().method) {
      throw core::data_error(shard_name(i), "does not fit the units that judge the shards",
                             same_arms ? "other features or another method" : "other arms", "the same in every shard",
                             "a shard needs units of every arm: take fewer shards");
    }
  }
}

// The models of all shards, which count alike: they differ by nothing but the units that they saw, and units that judge
// would prefer one of them by chance. Each with its calibration: a mean of predictions that are not calibrated has
// effects of mixed sizes (docs/decisions/0138).
std::vector<learn::WeightedPredictor> wholes_of(const std::vector<model::Model>& shards) {
  std::vector<learn::WeightedPredictor> wholes;
  for (const model::Model& shard : shards) {
    learn::WholeParts parts{shard.arms.control, shard.predictors, shard.mean_effect, shard.calibration};
    wholes.push_back({std::make_shared<learn::WholePredictor>(std::move(parts)), 1.0});
  }
  return wholes;
}

}  // namespace

void recode_levels(const std::vector<data::FeatureColumn>& features, data::Trial& trial) {
  std::vector<data::FeatureColumn>& own = trial.features.columns;
  const auto is_other = [](const data::FeatureColumn& a, const data::FeatureColumn& b) {
    return a.name != b.name || a.categorical != b.categorical || (a.categorical && a.levels.empty());
  };
  bool fits = own.size() == features.size();
  for (std::size_t i = 0; fits && i < own.size(); ++i) fits = !is_other(features[i], own[i]);
  if (!fits) throw core::data_error("", "the features are not those of the other shards", "", "the same columns");
  for (std::size_t feature = 0; feature < own.size(); ++feature) {
    if (!own[feature].categorical || own[feature].levels == features[feature].levels) continue;
    const std::vector<std::string>& levels = features[feature].levels;
    std::vector<float> code(own[feature].levels.size(), 0.0f);  // 0: pooled
    for (std::size_t i = 1; i < code.size(); ++i) {
      const auto found = std::find(levels.begin() + 1, levels.end(), own[feature].levels[i]);
      if (found != levels.end()) code[i] = static_cast<float>(found - levels.begin());
    }
    for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
      float& value = trial.features.values(unit, feature);
      if (!std::isnan(value)) value = code[static_cast<std::size_t>(value)];
    }
    own[feature].levels = levels;
  }
}

model::Model stack_shards(const data::Trial& judging, const data::Study& study, const std::vector<model::Model>& shards,
                          const std::string& study_text, core::RunContext& context) {
  require_alike(judging, shards);
  const Method& method = study.method.name == "auto" ? two_stage_method() : find_method(study.method.name);
  const Preparation prepared = prepare(judging, study, method, context);
  const HeldUnits units = held_units(judging, prepared, context);
  if (!units.are_enough())
    throw core::data_error("", "too few units to weigh shards by", fmt::format("{}", units.num_groups),
                           fmt::format("{} or more", kLeastGroups));
  std::vector<learn::WeightedPredictor> fits = wholes_of(shards);
  learn::Predicted predicted{core::Matrix<float>(context.scratch(), units.size(), judging.arms.size()),
                             core::Matrix<float>(context.scratch(), units.size(), judging.arms.size())};
  learn::predict_mean(fits, {judging.features.values.view(), units.rows},
                      {predicted.revenue.view(), predicted.cost.view()}, context);
  context.progress(kWeighing, 1, 2, "steps");
  const bool calibrated =
      is_stack_calibrated(study) && (units.size() >= kLeastSlopeUnits || study.method.calibrate.value_or(false));
  const Finishing finishing{judging, study, prepared};
  model::Model result = model_frame(finishing, shards.front().method, context.seed, study_text, nullptr, context);
  std::size_t num_fitted = 0;
  for (const model::Model& shard : shards) {
    num_fitted += shard.trained.num_units;
    model::add_earlier(result.trained, shard.trained);
  }
  result.trained.num_units += num_fitted;
  result.options = shards.front().options;
  result.options.emplace_back("shards", fmt::format("{}", shards.size()));
  result.record = shards.front().record;
  result.predictors = std::move(fits);
  finish_with_unseen(finishing, units, std::move(predicted), calibrated, result, context, num_fitted);
  context.finished(kWeighing);
  return result;
}

}  // namespace dfcl::train

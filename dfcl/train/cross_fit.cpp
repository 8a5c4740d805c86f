// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/cross_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"

namespace dfcl::train {
namespace {

// The mean over the arms, in the study's currency.
float base_of(std::span<const float> arms, const learn::OutcomeScale& scale) {
  double sum = 0.0;
  for (const float value : arms) sum += static_cast<double>(value);
  const auto mean = static_cast<float>(sum / static_cast<double>(arms.size()));
  return static_cast<float>(scale.center + scale.scale * static_cast<double>(mean));
}

// All zeros.
Nuisance no_nuisance(const learn::TrainingSet& set, const core::RunContext& context) {
  const std::size_t size = set.num_units() * set.num_arms();
  Nuisance nuisance{core::Matrix<float>(context.scratch(), set.num_units(), set.num_arms()),
                    core::Matrix<float>(context.scratch(), set.num_units(), set.num_arms())};
  std::fill_n(nuisance.revenue.data(), size, 0.0f);
  std::fill_n(nuisance.cost.data(), size, 0.0f);
  return nuisance;
}

}  // namespace

std::size_t half_of(const learn::TrainingSet& set, std::uint32_t row) {
  return core::mix_bits(set.cluster.empty() ? row : set.cluster[row]) & 1;
}

std::vector<learn::Fit> cross_fit(const CrossFit& fit, const FillStage& fill, const TakePrediction& take,
                                  core::RunContext& context) {
  core::Column<std::uint32_t> halves[2] = {core::Column<std::uint32_t>(context.scratch()),
                                           core::Column<std::uint32_t>(context.scratch())};
  const std::span<const std::uint32_t> rows = fit.set.rows;
  for (const std::uint32_t row : rows) halves[half_of(fit.set, row)].push_back(row);
  if (halves[0].empty() || halves[1].empty()) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = fmt::format("too few training units, or clusters of them, for {}", fit.purpose),
                       .hint = fit.hint});
  }
  std::vector<learn::Fit> fits;
  for (std::size_t half = 0; half < 2; ++half) {
    learn::TrainingSet own = fit.set;
    own.rows = halves[half];
    learn::Stage stage{.member = fit.first_member + half, .epochs = fit.epochs};
    if (fill) fill(stage, fmt::format("{}-{}", fit.name, half));
    fits.push_back(fit.learner.fit(own, fit.objective, stage, context));
    const auto predict = fit.as_learned ? learn::predict_learned : learn::predict_scaled;
    const learn::Predicted other = predict(*fits.back().predictor, own, halves[1 - half], context);
    std::size_t next = 0;  // in the order of the rows
    for (std::size_t place = 0; place < rows.size(); ++place) {
      if (half_of(fit.set, rows[place]) == half) continue;
      take(place, other.revenue.row(next), other.cost.row(next));
      ++next;
    }
  }
  return fits;
}

Nuisance fit_nuisance(const learn::Learner& learner, const learn::TrainingSet& set, const learn::Objective& objective,
                      std::size_t epochs, std::size_t first_member, const FillStage& fill, core::RunContext& context) {
  Nuisance nuisance = no_nuisance(set, context);
  const auto keep = [&](std::size_t place, std::span<const float> revenue, std::span<const float> cost) {
    std::ranges::copy(revenue, nuisance.revenue.row(set.rows[place]).begin());
    std::ranges::copy(cost, nuisance.cost.row(set.rows[place]).begin());
  };
  (void)cross_fit({.learner = learner,
                   .set = set,
                   .objective = objective,
                   .epochs = epochs,
                   .first_member = first_member,
                   .name = "nuisance",
                   .purpose = "a doubly robust baseline",
                   .hint = core::field_name("method.baseline", "mean") + " needs no second model"},
                  fill, keep, context);
  return nuisance;
}

Nuisance nuisance_by(std::span<const UnseenBy> fits, const learn::TrainingSet& set, core::RunContext& context) {
  Nuisance nuisance = no_nuisance(set, context);
  for (const UnseenBy& fit : fits) {
    const learn::Predicted predicted = learn::predict_scaled(*fit.predictor, set, fit.rows, context);
    for (std::size_t i = 0; i < fit.rows.size(); ++i) {
      std::ranges::copy(predicted.revenue.row(i), nuisance.revenue.row(fit.rows[i]).begin());
      std::ranges::copy(predicted.cost.row(i), nuisance.cost.row(fit.rows[i]).begin());
    }
  }
  return nuisance;
}

learn::Base base_by(std::span<const UnseenBy> fits, std::size_t num_units, const learn::TrainingSet& set,
                    core::RunContext& context) {
  learn::Base base{{}, std::vector<float>(num_units), std::vector<float>(num_units)};
  for (const UnseenBy& fit : fits) {
    const learn::Predicted predicted = learn::predict_learned(*fit.predictor, set, fit.rows, context);
    base.predictors.push_back({fit.predictor, 1.0});
    for (std::size_t i = 0; i < fit.rows.size(); ++i) {
      base.revenue[fit.places[i]] = base_of(predicted.revenue.row(i), set.scales.revenue);
      base.cost[fit.places[i]] = base_of(predicted.cost.row(i), set.scales.cost);
    }
  }
  return base;
}

BaseFit fit_base(const learn::Learner& learner, const learn::TrainingSet& set, const learn::Objective& objective,
                 std::size_t epochs, const FillStage& fill, core::RunContext& context) {
  BaseFit result;
  result.base.revenue.resize(set.rows.size());
  result.base.cost.resize(set.rows.size());
  const auto keep = [&](std::size_t place, std::span<const float> revenue, std::span<const float> cost) {
    result.base.revenue[place] = base_of(revenue, set.scales.revenue);
    result.base.cost[place] = base_of(cost, set.scales.cost);
  };
  std::vector<std::unique_ptr<learn::Predictor>> predictors;
  for (learn::Fit& fit : cross_fit({.learner = learner,
                         .set = set,
                         .objective = objective,
                         .epochs = epochs,
                         .name = "base",
                         .purpose = "the base that the method needs",
                         .hint = core::field_name("method.name", "tsm") + " needs no base",
                         .as_learned = true},
                                   fill, keep, context)) {
    predictors.push_back(std::move(fit.predictor));
    result.record.insert(result.record.end(), fit.record.begin(), fit.record.end());
  }
  result.base.predictors = learn::joined(std::move(predictors));
  return result;
}

}  // namespace dfcl::train

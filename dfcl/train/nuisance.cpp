// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/nuisance.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"

namespace dfcl::train {

std::vector<std::uint8_t> nuisance_folds(const data::Trial& trial, const std::vector<std::uint32_t>& train_rows) {
  std::vector<std::uint8_t> folds;
  for (const std::uint32_t row : train_rows) {
    const std::uint32_t key = trial.has_clusters() ? trial.cluster[row] : row;
    folds.push_back(static_cast<std::uint8_t>(core::mix_bits(key) & 1));
  }
  return folds;
}

Nuisance fit_nuisance(const data::Trial& trial, const Preparation& prepared, const Settings& settings,
                      const std::vector<std::uint32_t>& rows, std::size_t first_member, const FinishNetwork& finish,
                      core::RunContext& context) {
  const std::size_t num_arms = trial.arms.size();
  std::vector<std::uint32_t> halves[2];
  const std::vector<std::uint8_t> folds = nuisance_folds(trial, rows);
  for (std::size_t i = 0; i < folds.size(); ++i) halves[folds[i]].push_back(rows[i]);
  if (halves[0].empty() || halves[1].empty()) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "too few training units, or clusters of them, for a doubly robust baseline",
                       .hint = "--baseline mean needs no second model"});
  }
  Settings own = settings;
  own.warm_epochs = settings.nuisance_epochs;  // no decision loss here
  Nuisance nuisance{core::Matrix<float>(trial.num_units(), num_arms), core::Matrix<float>(trial.num_units(), num_arms)};
  std::fill_n(nuisance.revenue.data(), trial.num_units() * num_arms, 0.0f);
  std::fill_n(nuisance.cost.data(), trial.num_units() * num_arms, 0.0f);
  for (std::size_t fold = 0; fold < 2; ++fold) {
    MemberTrainer trainer(trial, prepared, own, first_member + fold, halves[fold], context);
    finish(trainer, fmt::format("nuisance-{}", fold), own.warm_epochs);
    core::Matrix<float> revenue;
    core::Matrix<float> cost;
    const std::vector<std::uint32_t>& others = halves[1 - fold];
    trainer.predict(trainer.result(), others, revenue, cost);
    for (std::size_t i = 0; i < others.size(); ++i) {
      std::copy_n(revenue.row(i).data(), num_arms, nuisance.revenue.row(others[i]).data());
      std::copy_n(cost.row(i).data(), num_arms, nuisance.cost.row(others[i]).data());
    }
  }
  return nuisance;
}

}  // namespace dfcl::train

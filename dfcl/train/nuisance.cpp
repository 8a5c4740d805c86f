// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/nuisance.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"

namespace dfcl::train {

std::size_t nuisance_fold(const data::Trial& trial, std::uint32_t row) {
  return core::mix_bits(trial.has_clusters() ? trial.cluster[row] : row) & 1;
}

Nuisance fit_nuisance(const data::Trial& trial, const Preparation& prepared, const Settings& settings,
                      std::span<const std::uint32_t> rows, std::size_t first_member, const FinishNetwork& finish,
                      core::RunContext& context) {
  const std::size_t num_arms = trial.arms.size();
  core::Column<std::uint32_t> halves[2] = {core::Column<std::uint32_t>(context.scratch()),
                                           core::Column<std::uint32_t>(context.scratch())};
  for (const std::uint32_t row : rows) halves[nuisance_fold(trial, row)].push_back(row);
  if (halves[0].empty() || halves[1].empty()) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "too few training units, or clusters of them, for a doubly robust baseline",
                       .hint = "--baseline mean needs no second model"});
  }
  Settings own = settings;
  own.warm_epochs = settings.nuisance_epochs;  // no decision loss here
  Nuisance nuisance{core::Matrix<float>(context.scratch(), trial.num_units(), num_arms),
                    core::Matrix<float>(context.scratch(), trial.num_units(), num_arms)};
  std::fill_n(nuisance.revenue.data(), trial.num_units() * num_arms, 0.0f);
  std::fill_n(nuisance.cost.data(), trial.num_units() * num_arms, 0.0f);
  for (std::size_t fold = 0; fold < 2; ++fold) {
    MemberTrainer trainer(trial, prepared, own, first_member + fold, halves[fold], context);
    finish(trainer, fmt::format("nuisance-{}", fold), own.warm_epochs);
    core::Matrix<float> revenue;
    core::Matrix<float> cost;
    const std::span<const std::uint32_t> others = halves[1 - fold];
    trainer.predict(trainer.result(), others, revenue, cost);
    for (std::size_t i = 0; i < others.size(); ++i) {
      std::copy_n(revenue.row(i).data(), num_arms, nuisance.revenue.row(others[i]).data());
      std::copy_n(cost.row(i).data(), num_arms, nuisance.cost.row(others[i]).data());
    }
  }
  return nuisance;
}

}  // namespace dfcl::train

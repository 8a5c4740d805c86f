// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/nuisance.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"

namespace dfcl::train {

std::size_t half_of(const data::Trial& trial, std::uint32_t row) {
  return core::mix_bits(trial.has_clusters() ? trial.cluster[row] : row) & 1;
}

std::vector<HalfNetwork> cross_fit(const CrossFit& fit, const FinishNetwork& finish, const TakePrediction& take,
                                   core::RunContext& context) {
  core::Column<std::uint32_t> halves[2] = {core::Column<std::uint32_t>(context.scratch()),
                                           core::Column<std::uint32_t>(context.scratch())};
  for (const std::uint32_t row : fit.rows) halves[half_of(fit.trial, row)].push_back(row);
  if (halves[0].empty() || halves[1].empty()) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = fmt::format("too few training units, or clusters of them, for {}", fit.purpose),
                       .hint = fit.hint});
  }
  std::vector<HalfNetwork> networks;
  for (std::size_t half = 0; half < 2; ++half) {
    MemberTrainer trainer(fit.trial, fit.prepared, fit.settings, fit.first_member + half, halves[half], context);
    finish(trainer, fmt::format("{}-{}", fit.name, half), fit.settings.warm_epochs);
    core::Matrix<float> revenue, cost;
    trainer.predict(trainer.result(), halves[1 - half], revenue, cost);
    std::size_t next = 0;  // in the order of the rows
    for (std::size_t place = 0; place < fit.rows.size(); ++place) {
      if (half_of(fit.trial, fit.rows[place]) == half) continue;
      take(place, revenue.row(next), cost.row(next));
      ++next;
    }
    networks.push_back({trainer.result(), trainer.state().record});
  }
  return networks;
}

Nuisance fit_nuisance(const data::Trial& trial, const Preparation& prepared, const Settings& settings,
                      std::span<const std::uint32_t> rows, std::size_t first_member, const FinishNetwork& finish,
                      core::RunContext& context) {
  const std::size_t num_arms = trial.arms.size();
  Settings own = settings;
  own.warm_epochs = settings.nuisance_epochs;  // no decision loss here
  Nuisance nuisance{core::Matrix<float>(context.scratch(), trial.num_units(), num_arms),
                    core::Matrix<float>(context.scratch(), trial.num_units(), num_arms)};
  std::fill_n(nuisance.revenue.data(), trial.num_units() * num_arms, 0.0f);
  std::fill_n(nuisance.cost.data(), trial.num_units() * num_arms, 0.0f);
  const auto keep = [&](std::size_t place, std::span<const float> revenue, std::span<const float> cost) {
    std::ranges::copy(revenue, nuisance.revenue.row(rows[place]).begin());
    std::ranges::copy(cost, nuisance.cost.row(rows[place]).begin());
  };
  (void)cross_fit({.trial = trial,
                   .prepared = prepared,
                   .settings = own,
                   .rows = rows,
                   .first_member = first_member,
                   .name = "nuisance",
                   .purpose = "a doubly robust baseline",
                   .hint = "--baseline mean needs no second model"},
                  finish, keep, context);
  return nuisance;
}

}  // namespace dfcl::train

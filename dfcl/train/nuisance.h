// SPDX-License-Identifier: Apache-2.0
//
// Predictions of training units by a network that was not fitted on them: two networks, each of half of the units
// (whole clusters, where there are any), predict the other half. Doubly robust decision losses (eq. 5b) and the base of
// a forest need them. Time: one training in all; memory: 8 bytes a unit and arm of a half, of all units for the losses.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"
#include "dfcl/train/member_trainer.h"

namespace dfcl::train {

struct Nuisance {
  core::Matrix<float> revenue;  // units x arms, scaled; 0 for units that do not train
  core::Matrix<float> cost;
};

// Brings a network to this many epochs; the name is that of its checkpoint.
using FinishNetwork = std::function<void(MemberTrainer& trainer, const std::string& name, std::size_t epochs)>;

// 0 or 1. Units that belong together are in one half.
std::size_t half_of(const data::Trial& trial, std::uint32_t row);

// One of the two networks.
struct HalfNetwork {
  std::vector<float> parameters;
  std::vector<EpochRecord> record;
};

// A unit's place among the rows, and what all arms would earn and cost, scaled.
using TakePrediction =
    std::function<void(std::size_t place, std::span<const float> revenue, std::span<const float> cost)>;

struct CrossFit {
  const data::Trial& trial;
  const Preparation& prepared;
  const Settings& settings;  // the networks have its warm epochs
  std::span<const std::uint32_t> rows;
  std::size_t first_member;  // the number of the first network, which its random numbers follow
  std::string name;          // of the checkpoints, with -0 and -1
  std::string purpose;       // what for, and what instead, where there are too few units
  std::string hint;
};

// Throws Error of kind data where a half has no units.
std::vector<HalfNetwork> cross_fit(const CrossFit& fit, const FinishNetwork& finish, const TakePrediction& take,
                                   core::RunContext& context);

// For methods that predict outcomes, not efficiencies. rows: the training units, all of them or a fold; first_member as
// above. Throws Error of kind data where a half has no units.
Nuisance fit_nuisance(const data::Trial& trial, const Preparation& prepared, const Settings& settings,
                      std::span<const std::uint32_t> rows, std::size_t first_member, const FinishNetwork& finish,
                      core::RunContext& context);

}  // namespace dfcl::train

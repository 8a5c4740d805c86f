// SPDX-License-Identifier: Apache-2.0
//
// Predictions for the doubly robust decision losses (eq. 5b): every training unit is predicted by a network that was
// not fitted on it. Two networks, each of half of the training units (whole clusters, where there are any), predict the
// other half. Time: one warm start in all; memory: 8 bytes a unit and arm.
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
std::size_t nuisance_fold(const data::Trial& trial, std::uint32_t row);

// For methods that predict outcomes, not efficiencies. rows: the training units, all of them or a fold; first_member:
// the number of the first of the two networks, which its random numbers follow. Throws Error of kind data where a half
// has no units.
Nuisance fit_nuisance(const data::Trial& trial, const Preparation& prepared, const Settings& settings,
                      std::span<const std::uint32_t> rows, std::size_t first_member, const FinishNetwork& finish,
                      core::RunContext& context);

}  // namespace dfcl::train

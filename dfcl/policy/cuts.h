// SPDX-License-Identifier: Apache-2.0
//
// From the cuts of groups to cuts that people read. The search sees a few groups of a number; refine_cuts moves each
// cut between its neighbours to where the arms of the leaves earn most, looking at every unit there; tidy_cuts then
// takes the shortest decimal near it. Time: a sort of the units of each question. Internal to the room.
#pragma once

#include <cstdint>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/policy/depth_two.h"
#include "dfcl/policy/question.h"
#include "dfcl/policy/split_columns.h"

namespace dfcl::policy {

// features: units x features. stats: units x sums.
std::vector<std::vector<double>> leaf_sums(const SplitTree& tree, core::MatrixView<const float> features,
                                           core::MatrixView<const double> stats);

// Each leaf has the arm that is best at the multiplier, here and while cuts move.
void refine_cuts(const SplitColumns& columns, core::MatrixView<const float> features,
                 core::MatrixView<const double> stats, const ArmSums& arms, double multiplier, SplitTree& tree);

// A cut passes at most this share of the units of its question for the sake of fewer digits.
inline constexpr double kTidyShare = 0.002;
void tidy_cuts(core::MatrixView<const float> features, SplitTree& tree);

// Makes one leaf of two with equal marks, from below. mark: per leaf, before and after. Returns the new leaf of each.
std::vector<std::uint8_t> join_equal(SplitTree& tree, std::vector<std::uint8_t>& mark);

}  // namespace dfcl::policy

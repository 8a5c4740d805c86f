// SPDX-License-Identifier: Apache-2.0
//
// One part of a trial's file, converted: what several threads make side by side before the parts are joined in order.
// Internal to io. Memory: the part's share of the trial.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/data/ids.h"
#include "dfcl/io/tables/column_values.h"
#include "dfcl/io/tables/id_values.h"
#include "dfcl/io/tables/record_source.h"
#include "dfcl/io/trial/trial_plan.h"

namespace dfcl::io {

struct TrialTile {
  std::size_t num_rows = 0;               // kept ones
  std::int64_t rows_without_outcome = 0;  // left out, as the next
  std::int64_t rows_of_no_weight = 0;
  std::vector<std::int64_t> kept_rows;  // their rows in the part; empty: all
  // rows x features; categorical ones hold codes into `categories`. In own_features, or in the place it was given.
  core::MatrixView<float> features;
  core::Matrix<float> own_features;
  std::vector<LabelColumn> categories;  // labels only, one for each feature; empty for numbers
  LabelColumn arm;
  LabelColumn time;
  LabelColumn split;
  std::vector<float> revenue;
  std::vector<float> cost;  // with cost_if: 1 where the price was paid
  std::vector<float> propensity;
  std::vector<float> weight;
  std::vector<std::vector<float>> guardrails;  // one for each of the plan's
  data::Ids ids;
  std::vector<std::uint64_t> cluster_hash;
  std::vector<std::uint64_t> unit_hash;  // of the cluster or id, for the split by hash; empty where rows have no id
  std::optional<BadRow> bad;             // then nothing else is filled in
};

struct TileOptions {
  bool split_by_hash = true;
  std::uint64_t split_seed = 0;
  Letters letters = Letters::are_text;  // of ids and clusters
};

// place: where the features go, as many rows as were decoded; without data: into memory of the tile's own.
TrialTile make_tile(const TrialPlan& plan, const TileOptions& options, const Decoded& decoded,
                    core::MatrixView<float> place = {});

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
//
// A small table with numbers, holes and categories, its encoding, and the outcomes of a trial.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include "dfcl/core/random.h"
#include "dfcl/nn/batch_gradient.h"
#include "dfcl/nn/inputs/table_encoding.h"
#include "dfcl/nn/table/table_network.h"

namespace dfcl::nn {

struct TableSample {
  explicit TableSample(std::size_t num_rows, std::uint64_t seed = 5) {
    features.columns = {{"age", false, {}},
                        {"visits", false, {}},
                        {"price", false, {}},
                        {"hole", false, {}},
                        {"city", true, {"(other)", "Bern", "Ulm", "Graz"}}};
    features.values = core::Matrix<float>(num_rows, 5);
    for (std::size_t row = 0; row < num_rows; ++row) {
      core::RandomStream random(seed, core::stream_purpose("table sample"), row);
      const auto values = features.values.row(row);
      values[0] = static_cast<float>(random.normal());
      values[1] = static_cast<float>(random.below(4));
      values[2] = random.bernoulli(0.2) ? std::nanf("") : static_cast<float>(std::exp(3.0 * random.normal()));
      values[3] = random.bernoulli(0.5) ? std::nanf("") : 1.0f;
      values[4] = static_cast<float>(random.below(3));
      arm.push_back(static_cast<std::uint8_t>(random.below(3)));
      revenue.push_back(static_cast<float>(std::exp(0.3 * random.normal()) + 0.2 * arm.back()));
      cost.push_back(static_cast<float>(0.5 * arm.back() * random.uniform()));
      weight.push_back(static_cast<float>(random.uniform(2.0, 4.0)));
    }
    core::RunContext context(1);
    encoding = fit_table_encoding(features.columns, features.values.view(), {}, 6, context);
  }
  TrainingRows rows() const { return {.arm = arm, .revenue = revenue, .cost = cost, .weight = weight}; }
  std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> list(arm.size());
    std::iota(list.begin(), list.end(), 0u);
    return list;
  }
  core::MatrixView<const float> values() const { return features.values.view(); }

  data::Features features;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue, cost, weight;
  TableEncoding encoding;
};

inline TableOptions small_table_options(std::size_t members = 3) {
  return {.width = 32,
          .members = members,
          .revenue = {.num_arms = 3, .kind = loss::OutcomeKind::non_negative},
          .cost = {.num_arms = 3, .kind = loss::OutcomeKind::non_negative, .control_is_free = true}};
}

// All parameters away from where they start, so that nothing is checked at 0 or 1.
template <class T>
void shake(TableNetwork<T>& network, std::uint64_t seed) {
  network.initialise(seed);
  core::RandomStream random(seed, core::stream_purpose("shake"), 0);
  for (T& parameter : network.parameters()) parameter += static_cast<T>(0.05 * random.normal());
  network.refresh();
}

}  // namespace dfcl::nn

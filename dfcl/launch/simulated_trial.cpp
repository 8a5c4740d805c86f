// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/simulated_trial.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "dfcl/data/splits.h"

namespace dfcl::launch {

FeatureCoder::FeatureCoder(const std::vector<data::ColumnInfo>& columns, const simulate::UnitBlock& sample)
    : codes_(columns.size()) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    data::FeatureColumn& column = columns_.emplace_back();
    column.name = columns[i].name;
    const auto* texts = std::get_if<data::TextColumn>(&sample.features[i]);
    if (texts == nullptr) continue;
    column.categorical = true;
    std::set<std::string> levels;
    for (std::size_t row = 0; row < texts->size(); ++row) {
      if (!(*texts)[row].empty()) levels.emplace((*texts)[row]);
    }
    column.levels.emplace_back(data::kPooledLevel);
    for (const std::string& level : levels) {
      codes_[i].emplace(level, static_cast<float>(column.levels.size()));
      column.levels.push_back(level);
    }
  }
}

void FeatureCoder::encode(const simulate::UnitBlock& block, std::span<const std::uint32_t> rows,
                          core::MatrixView<float> out) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (const auto* texts = std::get_if<data::TextColumn>(&block.features[i])) {
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const std::string_view text = (*texts)[rows[row]];
        const auto found = codes_[i].find(text);
        out(row, i) = text.empty() ? std::nanf("") : (found == codes_[i].end() ? 0.0f : found->second);
      }
    } else {
      const auto& numbers = std::get<std::vector<float>>(block.features[i]);
      for (std::size_t row = 0; row < rows.size(); ++row) out(row, i) = numbers[rows[row]];
    }
  }
}

data::Trial empty_trial(const simulate::Simulator& simulator, const FeatureCoder& coder) {
  data::Trial trial;
  trial.arms = {simulator.arms(), 0, true};
  trial.features.columns = coder.columns();
  trial.features.values = core::Matrix<float>(0, coder.columns().size());
  return trial;
}

void append_rows(const TrialRows& rows, data::Trial& trial) {
  core::Matrix<float>& values = trial.features.values;
  const std::size_t first = values.rows();
  values.resize(first + rows.arm.size());
  std::copy_n(rows.features.data(), rows.arm.size() * values.cols(), values.data() + first * values.cols());
  trial.ids.append(rows.ids);
  trial.arm.append(rows.arm.begin(), rows.arm.end());
  trial.revenue.append(rows.revenue.begin(), rows.revenue.end());
  trial.cost.append(rows.cost.begin(), rows.cost.end());
}

void finish_trial(const data::Study::Split& split, core::RunContext& context, data::Trial& trial) {
  const std::uint64_t seed = data::split_seed(split);
  trial.split.resize(trial.num_units());
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit)
    trial.split[unit] = data::split_of_hash(trial.ids.hash(unit, seed), split);
  trial.fingerprint = data::fingerprint_of(trial, context);
}

}  // namespace dfcl::launch

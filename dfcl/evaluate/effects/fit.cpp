// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/effects/fit.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/areas/ranking.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kChunkRows = 16'384;

struct FitSums {
  double units = 0.0;
  double squares = 0.0;
  double log_loss = 0.0;
  bool zero_one = true;
};

// Standard error of a mean over some rows, by group.
double error_of_mean(std::span<const std::uint32_t> members, std::span<const float> observed, double mean,
                     const TrialRows& rows) {
  double count = 0.0;
  for (const std::uint32_t row : members) count += rows.sample_weight(row);
  double squares = 0.0;
  auto num_groups = static_cast<double>(members.size());
  if (rows.cluster.empty()) {
    for (const std::uint32_t row : members)
      squares += std::pow(rows.sample_weight(row) * (static_cast<double>(observed[row]) - mean), 2);
  } else {
    std::unordered_map<std::uint32_t, std::size_t> place;
    std::vector<double> sums;
    for (const std::uint32_t row : members) {
      const auto [entry, is_new] = place.try_emplace(rows.cluster[row], sums.size());
      if (is_new) sums.push_back(0.0);
      sums[entry->second] += rows.sample_weight(row) * (static_cast<double>(observed[row]) - mean);
    }
    for (const double sum : sums) squares += sum * sum;
    num_groups = static_cast<double>(sums.size());
  }
  return std::sqrt(squares * num_groups / (num_groups - 1.0)) / count;  // NaN for one group
}

}  // namespace

std::vector<double> factual(core::MatrixView<const float> prediction, const TrialRows& rows) {
  std::vector<double> values(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) values[row] = static_cast<double>(prediction(row, rows.arm[row]));
  return values;
}

OutcomeFit outcome_fit(std::span<const double> predicted, std::span<const float> observed, core::RunContext& context,
                       std::span<const double> sample) {
  constexpr double kLeast = 1e-7;  // probabilities are kept this far from 0 and 1
  const FitSums sums = core::sum_chunks(
      context, predicted.size(), kChunkRows, FitSums{},
      [&](std::size_t begin, std::size_t end) {
        FitSums part;
        for (std::size_t row = begin; row < end; ++row) {
          const auto outcome = static_cast<double>(observed[row]);
          const double probability = std::clamp(predicted[row], kLeast, 1.0 - kLeast);
          const double units = sample.empty() ? 1.0 : sample[row];
          part.units += units;
          part.squares += units * (outcome - predicted[row]) * (outcome - predicted[row]);
          part.zero_one = part.zero_one && (outcome == 0.0 || outcome == 1.0);
          part.log_loss -= units * std::log(outcome != 0.0 ? probability : 1.0 - probability);
        }
        return part;
      },
      [](FitSums& total, const FitSums& part) {
        total.units += part.units;
        total.squares += part.squares;
        total.log_loss += part.log_loss;
        total.zero_one = total.zero_one && part.zero_one;
      });
  OutcomeFit fit{sums.squares / sums.units, std::nullopt};
  if (sums.zero_one) fit.log_loss = sums.log_loss / sums.units;
  return fit;
}

std::vector<CalibrationGroup> calibration(std::span<const double> predicted, std::span<const float> observed,
                                          const TrialRows& rows, double level, core::RunContext& context) {
  std::vector<std::uint32_t> order = order_falling(predicted, {}, context);
  std::reverse(order.begin(), order.end());
  const std::size_t num_groups = std::min(kCalibrationGroups, order.size());
  std::vector<CalibrationGroup> groups(num_groups);
  context.pool.run(num_groups, [&](std::size_t group) {
    const std::size_t begin = order.size() * group / num_groups;
    const std::size_t end = order.size() * (group + 1) / num_groups;
    const std::span<const std::uint32_t> members(order.data() + begin, end - begin);
    double predicted_sum = 0.0;
    double observed_sum = 0.0;
    double count = 0.0;
    for (const std::uint32_t row : members) {
      const double units = rows.sample_weight(row);
      predicted_sum += units * predicted[row];
      observed_sum += units * static_cast<double>(observed[row]);
      count += units;
    }
    const double mean = observed_sum / count;
    groups[group] = {predicted_sum / count,
                     core::normal_interval(mean, error_of_mean(members, observed, mean, rows), level), members.size()};
  });
  return groups;
}

}  // namespace dfcl::evaluate

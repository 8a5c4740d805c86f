// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/roles/arm_difference.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/distributions.h"

namespace dfcl::check {
namespace {

constexpr std::uint32_t kMissing = data::SampledColumn::kMissing;
constexpr std::size_t kMostLevels = 50;  // of labels that are compared

struct Moments {
  std::vector<double> count, sum, non_zero;  // per arm
  std::vector<float> low, high;
  double total = 0.0, mean = 0.0, deviation = 0.0;  // of all arms; deviation: sum of squares about the mean
};

Moments moments_of(const std::vector<float>& numbers, const ArmCodes& arms) {
  Moments moments;
  const std::size_t size = arms.num_arms;
  moments.count.resize(size), moments.sum.resize(size), moments.non_zero.resize(size);
  moments.low.assign(size, INFINITY), moments.high.assign(size, -INFINITY);
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    const float value = numbers[row];
    const std::uint32_t arm = arms.arm[row];
    if (!std::isfinite(value) || arm == kMissing) continue;
    moments.count[arm] += 1.0;
    moments.sum[arm] += static_cast<double>(value);
    moments.non_zero[arm] += value != 0.0f ? 1.0 : 0.0;
    moments.low[arm] = std::min(moments.low[arm], value);
    moments.high[arm] = std::max(moments.high[arm], value);
  }
  double sum = 0.0;
  for (std::size_t arm = 0; arm < size; ++arm) moments.total += moments.count[arm], sum += moments.sum[arm];
  if (moments.total == 0.0) return moments;
  moments.mean = sum / moments.total;
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    if (!std::isfinite(numbers[row]) || arms.arm[row] == kMissing) continue;
    const double distance = static_cast<double>(numbers[row]) - moments.mean;
    moments.deviation += distance * distance;
  }
  return moments;
}

// How much larger the variance of a mean is because rows of a group go together.
double design_effect(const std::vector<float>& numbers, const ArmCodes& arms, const Moments& moments) {
  if (arms.group.empty() || moments.deviation == 0.0) return 1.0;
  std::vector<double> sums(arms.num_groups);
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    if (!std::isfinite(numbers[row]) || arms.arm[row] == kMissing || arms.group[row] == kMissing) continue;
    sums[arms.group[row]] += static_cast<double>(numbers[row]) - moments.mean;
  }
  double square = 0.0;
  for (const double sum : sums) square += sum * sum;
  return std::max(1.0, square / moments.deviation);
}

// Of missing values by arm: a column that is missing more often in one arm was measured after it was drawn.
double missing_p(const std::vector<double>& observed, const ArmCodes& arms) {
  std::vector<double> rows(arms.num_arms);
  double total = 0.0, missing = 0.0;
  for (const std::uint32_t arm : arms.arm) {
    if (arm != kMissing) rows[arm] += 1.0, total += 1.0;
  }
  for (std::size_t arm = 0; arm < arms.num_arms; ++arm) missing += rows[arm] - observed[arm];
  const double share = total > 0.0 ? missing / total : 0.0;
  if (share <= 0.0 || share >= 1.0) return 1.0;
  double statistic = 0.0;
  for (std::size_t arm = 0; arm < arms.num_arms; ++arm) {
    const double surplus = rows[arm] - observed[arm] - rows[arm] * share;
    if (rows[arm] > 0.0) statistic += surplus * surplus / (rows[arm] * share * (1.0 - share));
  }
  const double rows_per_draw = arms.group.empty() ? 1.0 : total / static_cast<double>(arms.num_groups);
  return core::chi_square_upper(statistic / rows_per_draw, static_cast<double>(arms.num_arms) - 1.0);
}

// Zero throughout control by chance has the probability (1 - f)^n, with f the share of other values in the other arms.
void look_at_zeros(const Moments& moments, const ArmCodes& arms, ArmDifference& result) {
  double elsewhere = 0.0, non_zero = 0.0;
  for (std::size_t arm = 0; arm < arms.num_arms; ++arm) {
    if (arm == arms.control) continue;
    elsewhere += moments.count[arm];
    non_zero += moments.non_zero[arm];
  }
  const double control_rows = moments.count[arms.control];
  result.zero_in_control = control_rows > 0.0 && moments.non_zero[arms.control] == 0.0 && non_zero > 0.0;
  if (!result.zero_in_control) return;
  const double rows_per_draw =
      arms.group.empty() ? 1.0 : std::max(1.0, moments.total / static_cast<double>(arms.num_groups));
  const double log_chance = std::log1p(-std::min(1.0 - 1e-12, non_zero / elsewhere)) * control_rows / rows_per_draw;
  result.zero_by_chance = std::exp(log_chance);
}

void compare_numbers(const std::vector<float>& numbers, const ArmCodes& arms, ArmDifference& result) {
  const Moments moments = moments_of(numbers, arms);
  result.count = moments.count;
  if (moments.total < 2.0 || moments.deviation <= 0.0) return;
  result.tested = true;
  const double variance = moments.deviation / (moments.total - 1.0);
  const double spread = variance * design_effect(numbers, arms, moments);
  double statistic = 0.0;
  double degrees = -1.0;
  double rest_sum = 0.0, rest_count = 0.0;
  result.is_function_of_arm = true;
  for (std::size_t arm = 0; arm < arms.num_arms; ++arm) {
    const double count = moments.count[arm];
    const double mean = count > 0.0 ? moments.sum[arm] / count : 0.0;
    result.mean.push_back(mean);
    result.non_zero.push_back(count > 0.0 ? moments.non_zero[arm] / count : 0.0);
    if (count == 0.0) continue;
    degrees += 1.0;
    statistic += count * (mean - moments.mean) * (mean - moments.mean) / spread;
    result.is_function_of_arm = result.is_function_of_arm && moments.low[arm] == moments.high[arm];
    if (arm != arms.control) rest_sum += moments.sum[arm], rest_count += count;
  }
  look_at_zeros(moments, arms, result);
  if (degrees < 1.0) return;
  result.p = core::chi_square_upper(statistic, degrees);
  const double control_count = moments.count[arms.control];
  for (std::size_t arm = 0; arm < arms.num_arms; ++arm) {
    if (moments.count[arm] == 0.0 || control_count == 0.0) continue;
    const double effect = (result.mean[arm] - result.mean[arms.control]) / std::sqrt(variance);
    if (std::fabs(effect) > std::fabs(result.effect)) result.effect = effect;
  }
  if (degrees > 1.0 && control_count > 0.0 && rest_count > 0.0) {
    const double z = (rest_sum / rest_count - result.mean[arms.control]) /
                     std::sqrt(spread * (1.0 / rest_count + 1.0 / control_count));
    result.p = std::min(1.0, 2.0 * std::min(result.p, core::normal_two_sided(z)));
  }
}

// Pearson's chi-square of labels by arm.
void compare_labels(const data::SampledColumn& column, const ArmCodes& arms, ArmDifference& result) {
  result.count.resize(arms.num_arms);
  const std::size_t levels = column.labels.size();
  for (std::size_t row = 0; row < column.codes.size(); ++row) {
    if (arms.arm[row] != kMissing && column.codes[row] != kMissing) result.count[arms.arm[row]] += 1.0;
  }
  if (levels < 2 || levels > kMostLevels) return;
  std::vector<double> cells(levels * arms.num_arms);
  std::vector<double> per_level(levels);
  double total = 0.0;
  for (std::size_t row = 0; row < column.codes.size(); ++row) {
    if (arms.arm[row] == kMissing || column.codes[row] == kMissing) continue;
    cells[column.codes[row] * arms.num_arms + arms.arm[row]] += 1.0;
    per_level[column.codes[row]] += 1.0;
    total += 1.0;
  }
  double statistic = 0.0;
  double degrees = 0.0;
  std::vector<std::size_t> levels_in(arms.num_arms);
  for (std::size_t level = 0; level < levels; ++level) {
    degrees += per_level[level] > 0.0 ? 1.0 : 0.0;
    for (std::size_t arm = 0; arm < arms.num_arms; ++arm) {
      const double expected = per_level[level] * result.count[arm] / std::max(1.0, total);
      const double cell = cells[level * arms.num_arms + arm];
      levels_in[arm] += cell > 0.0 ? 1 : 0;
      if (expected > 0.0) statistic += (cell - expected) * (cell - expected) / expected;
    }
  }
  if (degrees < 2.0) return;
  result.tested = true;
  result.is_function_of_arm = std::all_of(levels_in.begin(), levels_in.end(), [](std::size_t n) { return n <= 1; });
  const double rows_per_draw = arms.group.empty() ? 1.0 : std::max(1.0, total / static_cast<double>(arms.num_groups));
  const double arm_degrees = static_cast<double>(arms.num_arms) - 1.0;
  result.p = core::chi_square_upper(statistic / rows_per_draw, (degrees - 1.0) * arm_degrees);
  result.effect = std::sqrt(statistic / (total * std::min(degrees - 1.0, arm_degrees)));
}

}  // namespace

ArmDifference arm_difference(const data::SampledColumn& column, const ArmCodes& arms) {
  ArmDifference result;
  if (column.is_number()) {
    compare_numbers(column.numbers, arms, result);
  } else {
    compare_labels(column, arms, result);
  }
  if (!result.count.empty()) {
    const double p = missing_p(result.count, arms);
    if (p < 1.0) result.p = std::min(1.0, 2.0 * std::min(p, result.p));
  }
  return result;
}

bool is_propensity(const data::SampledColumn& column, const ArmCodes& arms) {
  double rows = 0.0, sum = 0.0, squares = 0.0;
  for (std::size_t row = 0; row < column.numbers.size(); ++row) {
    const auto p = static_cast<double>(column.numbers[row]);
    if (!(p > 0.0 && p <= 1.0)) return false;
    rows += 1.0;
    sum += 1.0 / p;
    squares += 1.0 / (p * p);
  }
  if (rows < 100.0) return false;
  const double mean = sum / rows;
  const double spread = std::sqrt(std::max(0.0, squares / rows - mean * mean) / rows);
  const auto num_arms = static_cast<double>(arms.num_arms);
  constexpr double kMostSpreads = 4.0;
  constexpr double kRounded = 0.01;  // 1/3 written as 0.333
  return std::fabs(mean - num_arms) <= kMostSpreads * spread + kRounded * num_arms;
}

double explained_share(const data::SampledColumn& column, const ArmCodes& arms) {
  const double degrees = static_cast<double>(arms.num_arms) - 1.0;
  if (!column.is_number()) {
    ArmDifference result;
    compare_labels(column, arms, result);
    return result.tested ? std::max(0.0, result.effect * result.effect -
                                             degrees / std::max(1.0, static_cast<double>(column.codes.size())))
                         : 0.0;
  }
  const Moments moments = moments_of(column.numbers, arms);
  if (moments.deviation <= 0.0) return 0.0;
  double between = 0.0;
  for (std::size_t arm = 0; arm < arms.num_arms; ++arm) {
    if (moments.count[arm] == 0.0) continue;
    const double distance = moments.sum[arm] / moments.count[arm] - moments.mean;
    between += moments.count[arm] * distance * distance;
  }
  return std::max(0.0, between / moments.deviation - degrees / moments.total);
}

}  // namespace dfcl::check

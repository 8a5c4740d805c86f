// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/sample_ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/distributions.h"
#include "dfcl/core/parallel.h"

namespace dfcl::check {
namespace {

constexpr double kMinExpected = 5.0;  // below it the chi-square approximation is rough

using Counts = std::vector<std::size_t>;

double total_of(const Counts& counts) {
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
}

double chi_square_of(const Counts& counts, const std::vector<double>& shares) {
  const double total = total_of(counts);
  double sum = 0.0;
  for (std::size_t arm = 0; arm < counts.size(); ++arm) {
    const double expected = total * shares[arm];
    if (expected == 0.0) continue;
    const double surplus = static_cast<double>(counts[arm]) - expected;
    sum += surplus * surplus / expected;
  }
  return sum;
}

// Why the declared shares cannot be tested against; "" where they can.
std::string fault_of(const data::Trial& trial, const data::Study& study) {
  const auto& declared = study.arms.share;
  if (declared.empty()) return "no designed shares are declared in [arms] share";
  double sum = 0.0;
  for (const std::string& label : trial.arms.labels) {
    const auto found = declared.find(label);
    if (found == declared.end()) return fmt::format("[arms] share has no share for arm '{}'", label);
    if (!(found->second > 0.0)) return fmt::format("[arms] share of arm '{}' is {}, not above 0", label, found->second);
    sum += found->second;
  }
  // Shares written with few digits, as .33, .33, .33, are brought to one.
  if (std::fabs(sum - 1.0) > 0.0101) return fmt::format("[arms] share adds up to {:.4g}, not to 1", sum);
  return "";
}

}  // namespace

DrawCounts count_draws(const data::Trial& trial, const Draws& draws, core::RunContext& context) {
  const std::size_t num_arms = trial.arms.size();
  const std::size_t num_times = trial.times.size();
  // The last row of the flat table holds the counts over all draws.
  Counts flat = core::sum_chunks(
      context, draws.arm.size(), chunk_size_of(draws.arm.size()), Counts((num_times + 1) * num_arms),
      [&](std::size_t begin, std::size_t end) {
        Counts part((num_times + 1) * num_arms);
        for (std::size_t draw = begin; draw < end; ++draw) {
          ++part[num_times * num_arms + draws.arm[draw]];
          if (num_times == 0) continue;
          std::uint32_t previous = static_cast<std::uint32_t>(num_times);
          for (std::size_t i = 0; i < draws.groups.size_of(draw); ++i) {  // rows of a draw are sorted by time
            const std::uint32_t time = trial.time[draws.groups.row(draw, i)];
            if (time != previous) ++part[time * num_arms + draws.arm[draw]];
            previous = time;
          }
        }
        return part;
      },
      [](Counts& total, const Counts& part) {
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[i];
      });
  DrawCounts counts;
  const auto row = [&](std::size_t i) { return flat.begin() + static_cast<std::ptrdiff_t>(i * num_arms); };
  for (std::size_t time = 0; time < num_times; ++time) counts.per_time.emplace_back(row(time), row(time + 1));
  counts.per_arm.assign(row(num_times), flat.end());
  return counts;
}

SampleRatio sample_ratio(const DrawCounts& counts, const data::Trial& trial, const data::Study& study, Drawn drawn) {
  SampleRatio result;
  result.observed = counts.per_arm;
  result.why_not = fault_of(trial, study);
  if (!result.why_not.empty()) return result;

  std::vector<double> shares;
  for (const std::string& label : trial.arms.labels) shares.push_back(study.arms.share.at(label));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  const double smallest = *std::min_element(shares.begin(), shares.end());

  result.run = true;
  for (const double share : shares) result.expected.push_back(share * total_of(counts.per_arm));
  result.chi_square = chi_square_of(counts.per_arm, shares);
  result.degrees = static_cast<double>(shares.size()) - 1.0;
  result.p = core::chi_square_upper(result.chi_square, result.degrees);
  // A draw that lasts over several times would be counted again at each of them.
  const bool separate = drawn == Drawn::unit || drawn == Drawn::cluster_and_time;
  for (std::size_t time = 0; time < counts.per_time.size(); ++time) {
    const double total = total_of(counts.per_time[time]);
    SampleRatioTime row{.time = trial.times[time], .num_draws = static_cast<std::size_t>(total)};
    row.chi_square = chi_square_of(counts.per_time[time], shares);
    row.p = core::chi_square_upper(row.chi_square, result.degrees);
    row.reliable = total * smallest >= kMinExpected;
    if (row.reliable && separate) {
      result.pooled_run = true;
      result.pooled_chi_square += row.chi_square;
      result.pooled_degrees += result.degrees;
    }
    result.times.push_back(row);
  }
  if (result.pooled_run) result.pooled_p = core::chi_square_upper(result.pooled_chi_square, result.pooled_degrees);
  return result;
}

double share_drift_p(const DrawCounts& counts) {
  std::vector<double> shares;
  double all = 0.0;
  for (const std::size_t count : counts.per_arm) all += static_cast<double>(count);
  for (const std::size_t count : counts.per_arm) shares.push_back(static_cast<double>(count) / all);
  const double smallest = *std::min_element(shares.begin(), shares.end());
  double chi_square = 0.0;
  double times = 0.0;
  for (const Counts& at_time : counts.per_time) {
    if (total_of(at_time) * smallest < kMinExpected) continue;
    chi_square += chi_square_of(at_time, shares);
    times += 1.0;
  }
  if (times < 2.0) return 1.0;
  return core::chi_square_upper(chi_square, (times - 1.0) * (static_cast<double>(shares.size()) - 1.0));
}

}  // namespace dfcl::check

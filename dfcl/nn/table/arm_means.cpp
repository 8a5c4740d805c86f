// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/arm_means.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace dfcl::nn {
namespace {

constexpr double kLeastMean = 1e-3;  // of scaled outcomes; below, the start is not worth its large logarithm

// By weights, so that given propensities count.
std::vector<double> arm_means(const learn::TrainingSet& set, std::span<const float> outcome) {
  std::vector<double> sums(set.num_arms(), 0.0), weights(set.num_arms(), 0.0);
  for (const std::uint32_t row : set.rows) {
    const double weight = static_cast<double>(set.weight[row]);
    sums[set.arm[row]] += weight * static_cast<double>(outcome[row]);
    weights[set.arm[row]] += weight;
  }
  for (std::size_t arm = 0; arm < sums.size(); ++arm) sums[arm] /= std::max(weights[arm], 1e-300);
  return sums;
}

// The raw output that predicts a mean, on the scale of the link.
double raw_of(const OutcomeOptions& options, double mean) {
  const double safe = std::max(mean, kLeastMean);
  switch (options.kind) {
    case loss::OutcomeKind::non_negative: return std::log(safe);
    case loss::OutcomeKind::binary: {
      const double share = std::min(safe, 1.0 - kLeastMean);
      return std::log(share / (1.0 - share));
    }
    case loss::OutcomeKind::real: break;
  }
  return options.non_negative ? std::log(std::expm1(safe)) : mean;
}

// One bias for each raw output of the head.
std::vector<double> biases_of(const OutcomeHead<float>& head, const std::vector<double>& means) {
  const OutcomeOptions& options = head.options();
  std::vector<double> biases(head.num_outputs(), 0.0);
  if (options.arm_shape != ArmShape::plain) return biases;
  // The base of a log link: the arm that has no output but it, or what the arms have in common.
  double base = 0.0;
  double count = 0.0;
  bool found = false;
  for (std::size_t arm = 0; arm < options.num_arms; ++arm) {
    const std::vector<std::size_t> outputs = head.outputs_of(arm);
    if (outputs.empty() || found) continue;
    found = outputs.size() == 1;
    base = found ? raw_of(options, means[arm]) : base + raw_of(options, means[arm]);
    count = found ? 1.0 : count + 1.0;
  }
  base /= std::max(count, 1.0);
  for (std::size_t arm = 0; arm < options.num_arms; ++arm) {
    const std::vector<std::size_t> outputs = head.outputs_of(arm);
    if (outputs.empty()) continue;
    const bool has_base = head.lines().has_base();
    if (has_base) biases[0] = base;
    if (!has_base) biases[outputs[0]] = raw_of(options, means[arm]);
    if (has_base && outputs.size() > 1) biases[outputs[1]] = raw_of(options, means[arm]) - base;
  }
  return biases;
}

}  // namespace

void start_at_arm_means(const learn::TrainingSet& set, bool with_revenue, TableNetwork<float>& network) {
  const std::size_t num_revenue = network.revenue().num_outputs();
  std::vector<double> biases(network.num_outputs(), 0.0);
  if (with_revenue) std::ranges::copy(biases_of(network.revenue(), arm_means(set, set.scaled_revenue)), biases.begin());
  std::ranges::copy(biases_of(network.cost(), arm_means(set, set.scaled_cost)),
                    biases.begin() + static_cast<std::ptrdiff_t>(num_revenue));
  float* to = network.parameters().data() + network.layout().head_bias;
  for (std::size_t member = 0; member < network.members(); ++member) {
    for (const double bias : biases) *to++ = static_cast<float>(bias);
  }
}

}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
//
// Small random batches that own their memory, and the value and gradient of a loss on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/random.h"
#include "dfcl/loss/loss.h"

namespace dfcl::loss {

enum class Outcomes { real, non_negative, binary };

template <class T>
struct Sample {
  core::Matrix<T> revenue;  // rows x arms, or rows x scores
  core::Matrix<T> cost;     // rows x arms
  std::vector<std::uint8_t> arm;
  std::vector<float> observed_revenue;
  std::vector<float> observed_cost;
  std::vector<float> weight;
  core::Matrix<float> nuisance_revenue;
  core::Matrix<float> nuisance_cost;

  Sample(std::size_t num_rows, std::size_t num_arms, std::size_t num_scores)
      : revenue(num_rows, num_scores),
        cost(num_rows, num_arms),
        arm(num_rows),
        observed_revenue(num_rows),
        observed_cost(num_rows),
        weight(num_rows),
        nuisance_revenue(num_rows, num_arms),
        nuisance_cost(num_rows, num_arms) {}

  std::size_t num_rows() const { return arm.size(); }
  std::size_t num_arms() const { return cost.cols(); }
  Rows<T> rows() const { return rows(0, num_rows()); }
  Rows<T> rows(std::size_t first, std::size_t count) const {
    return {.revenue = revenue.view().slice(first, count),
            .cost = cost.view().slice(first, count),
            .arm = std::span(arm).subspan(first, count),
            .observed_revenue = std::span(observed_revenue).subspan(first, count),
            .observed_cost = std::span(observed_cost).subspan(first, count),
            .weight = std::span(weight).subspan(first, count),
            .nuisance_revenue = nuisance_revenue.view().slice(first, count),
            .nuisance_cost = nuisance_cost.view().slice(first, count)};
  }
};

// Every arm occurs. Binary outcomes come with predictions within (0, 1), non-negative ones with positive predictions.
template <class T>
Sample<T> random_sample(std::uint64_t seed, std::size_t num_rows, std::size_t num_arms, std::size_t num_scores,
                        Outcomes outcomes = Outcomes::real) {
  Sample<T> sample(num_rows, num_arms, num_scores);
  core::RandomStream random(seed, core::stream_purpose("loss tests"), 0);
  const auto predicted = [&] {
    switch (outcomes) {
      case Outcomes::real: return random.uniform(-1.5, 1.5);
      case Outcomes::non_negative: return random.uniform(0.05, 3.0);
      case Outcomes::binary: return random.uniform(0.02, 0.98);
    }
    return 0.0;
  };
  const auto observed = [&] {
    switch (outcomes) {
      case Outcomes::real: return random.normal();
      case Outcomes::non_negative: return static_cast<double>(random.poisson(1.2));
      case Outcomes::binary: return static_cast<double>(random.below(2));
    }
    return 0.0;
  };
  for (auto* matrix : {&sample.revenue, &sample.cost}) {
    for (std::size_t i = 0; i < matrix->view().size(); ++i) matrix->data()[i] = static_cast<T>(predicted());
  }
  for (auto* matrix : {&sample.nuisance_revenue, &sample.nuisance_cost}) {
    for (std::size_t i = 0; i < matrix->view().size(); ++i) matrix->data()[i] = static_cast<float>(predicted());
  }
  for (std::size_t row = 0; row < num_rows; ++row) {
    sample.arm[row] =
        static_cast<std::uint8_t>(row < num_arms ? row : random.below(static_cast<std::uint32_t>(num_arms)));
    sample.observed_revenue[row] = static_cast<float>(observed());
    sample.observed_cost[row] = static_cast<float>(observed());
    sample.weight[row] = static_cast<float>(random.uniform(1.0, 6.0));
  }
  return sample;
}

// A loss on a whole sample: value (sum over rows) and gradient with scale 1.
template <class T>
struct Result {
  double value = 0.0;
  core::Matrix<T> revenue;
  core::Matrix<T> cost;
};

template <class T>
Result<T> result_of(const Loss<T>& loss, const Rows<T>& rows, double scale = 1.0) {
  Result<T> result{0.0, core::Matrix<T>(rows.num_rows(), rows.revenue.cols),
                   core::Matrix<T>(rows.num_rows(), rows.cost.cols)};
  std::fill_n(result.revenue.data(), result.revenue.view().size(), T(0));
  std::fill_n(result.cost.data(), result.cost.view().size(), T(0));
  std::vector<double> totals(loss.num_totals(), 0.0);
  loss.add_totals(rows, totals);
  result.value = loss.add_gradient(rows, totals, scale, {result.revenue.view(), result.cost.view()});
  return result;
}

template <class T>
std::vector<T> numbers(const core::Matrix<T>& matrix) {
  return std::vector<T>(matrix.data(), matrix.data() + matrix.view().size());
}

}  // namespace dfcl::loss

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/ifd_loss.h"

#include <algorithm>

#include "dfcl/loss/decision_block.h"
#include "dfcl/loss/ifd_kernel.h"

namespace dfcl::loss {
namespace {

struct Winners {
  std::size_t winner;
  std::size_t runner_up;
};

Winners winners_of(std::span<const double> score) {
  Winners top{0, 1};
  if (score[1] > score[0]) std::swap(top.winner, top.runner_up);
  for (std::size_t arm = 2; arm < score.size(); ++arm) {
    if (score[arm] > score[top.winner]) {
      top = {arm, top.winner};
    } else if (score[arm] > score[top.runner_up]) {
      top.runner_up = arm;
    }
  }
  return top;
}

}  // namespace

template <>
DFCL_FOR_EACH_PROCESSOR double DecisionLoss<float, IfdKernel>::run(const Rows<float>& rows, double scale,
                                                                   Gradient<float> gradient) const {
  const IfdKernel<float> kernel(options_);
  return add_decision_gradient(rows, options_, scale, gradient, kernel);
}

template class DecisionLoss<float, IfdKernel>;
template class DecisionLoss<double, IfdKernel>;

void ifd_closed_form(std::span<const double> score, std::span<const double> reward, std::span<double> slope) {
  const auto [k, s] = winners_of(score);
  for (std::size_t arm = 0; arm < score.size(); ++arm) {
    slope[arm] = arm == k ? (reward[k] - reward[s]) / (score[k] - score[s])
                          : (reward[arm] - reward[k]) / (score[k] - score[arm]);
  }
}

void ifd_published_form(std::span<const double> score, std::size_t received, double gain, std::span<double> slope) {
  const auto [k, s] = winners_of(score);
  std::fill(slope.begin(), slope.end(), 0.0);
  if (k == received) {
    for (std::size_t arm = 0; arm < score.size(); ++arm) {
      slope[arm] = arm == k ? gain / (score[k] - score[s]) : -gain / (score[k] - score[arm]);
    }
  } else {
    slope[received] = gain / (score[k] - score[received]);
    slope[k] = -slope[received];
  }
}

}  // namespace dfcl::loss

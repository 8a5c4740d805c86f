// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/outcome_head.h"

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/nn/network.h"

namespace dfcl::nn {

template <class T>
HeadWorkspace<T>::HeadWorkspace(std::size_t num_arms) : steps(num_arms, kTileRows) {}

template <class T>
OutcomeHead<T>::OutcomeHead(const OutcomeOptions& options) {
  lines_.facts = options;
  const bool rises = options.arm_shape != ArmShape::plain;
  if (options.control >= options.num_arms || (options.control_is_free && options.num_arms < 2)) {
    throw core::Error({.kind = core::ErrorKind::usage, .what = "an outcome needs control among its arms"});
  }
  if (options.control_is_free && rises && options.control != 0) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "control is free and predictions rise with the arm, but control is not the first arm",
                       .hint = "put control first in the order of the arms"});
  }
  const std::size_t num_predicted = options.num_arms - (options.control_is_free ? 1 : 0);
  lines_.num_outputs = lines_.has_base() ? options.num_arms : num_predicted;
  if (rises) {
    lines_.first_arm = options.control_is_free ? 1 : 0;
    lines_.first_step = options.kind == loss::OutcomeKind::real && options.control_is_free ? 0 : 1;
    lines_.num_steps = lines_.num_outputs - lines_.first_step;
  }
}

template <class T>
std::vector<std::size_t> OutcomeHead<T>::outputs_of(std::size_t arm) const {
  std::vector<std::size_t> outputs;
  if (lines_.is_free(arm)) return outputs;
  if (!lines_.is_plain()) {
    for (std::size_t i = 0; i < lines_.num_outputs; ++i) outputs.push_back(i);
    return outputs;
  }
  if (lines_.has_base()) outputs.push_back(0);
  if (!lines_.has_base() || lines_.output_of(arm) != 0) outputs.push_back(lines_.output_of(arm));
  return outputs;
}

template <class T>
void OutcomeHead<T>::forward(std::span<const T* const> raw, std::size_t num_rows, std::optional<std::size_t> only,
                             HeadWorkspace<T>& workspace, core::MatrixView<T> prediction) const {
  const bool is_free = only && lines_.is_free(*only);
  if (!lines_.is_plain() && !is_free) {
    lines_.template forward_steps<kTileRows>(raw, num_rows, workspace.steps.data(), prediction.data, prediction.cols);
  } else if (only) {
    lines_.forward_plain(raw, num_rows, *only, prediction.data, prediction.cols);
  } else {
    for (std::size_t arm = 0; arm < num_arms(); ++arm) {
      lines_.forward_plain(raw, num_rows, arm, prediction.data, prediction.cols);
    }
  }
}

template <class T>
void OutcomeHead<T>::backward(std::span<const T* const> raw, std::size_t num_rows, std::optional<std::size_t> only,
                              core::MatrixView<const T> prediction, core::MatrixView<const T> gradient,
                              HeadWorkspace<T>& workspace, std::span<T* const> raw_gradient) const {
  if (only && lines_.is_free(*only)) return;
  if (!lines_.is_plain()) {
    lines_.template backward_steps<kTileRows>(raw, num_rows, workspace.steps.data(), prediction.data, gradient.data,
                                              gradient.cols, raw_gradient);
    return;
  }
  if (lines_.has_base()) std::fill_n(raw_gradient[0], num_rows, T(0));
  for (std::size_t arm = only.value_or(0); arm < (only ? *only + 1 : num_arms()); ++arm) {
    lines_.backward_plain(raw, num_rows, arm, prediction.data, gradient.data, gradient.cols, raw_gradient);
  }
}

template struct HeadWorkspace<float>;
template struct HeadWorkspace<double>;
template class OutcomeHead<float>;
template class OutcomeHead<double>;

}  // namespace dfcl::nn

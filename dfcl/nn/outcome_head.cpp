// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/outcome_head.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/fast_exp.h"
#include "dfcl/nn/network.h"

namespace dfcl::nn {
namespace {

using loss::OutcomeKind;

template <class T>
DFCL_INLINE T bounded(T x) {
  constexpr T kBound = T(kLargestExponent);
  return x > kBound ? kBound : (x < -kBound ? -kBound : x);
}

template <class T>
DFCL_INLINE T exponential(T x) {
  return core::fast_exp(bounded(x));
}

template <class T>
DFCL_INLINE T logistic(T x) {
  return T(1) / (T(1) + core::fast_exp(-bounded(x)));
}

// log(1 + exp(x)), and its slope.
template <class T>
DFCL_INLINE T softplus(T x) {
  const T size = x < T(0) ? -x : x;
  return (x > T(0) ? x : T(0)) + std::log1p(core::fast_exp(-size));
}

template <class T>
DFCL_INLINE T softplus_slope(T x) {
  const T size = x < T(0) ? -x : x;
  const T decay = core::fast_exp(-size);
  return (x < T(0) ? decay : T(1)) / (T(1) + decay);
}

}  // namespace

template <class T>
HeadWorkspace<T>::HeadWorkspace(std::size_t num_arms) : steps(num_arms, kTileRows) {}

template <class T>
OutcomeHead<T>::OutcomeHead(const OutcomeOptions& options) : options_(options) {
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
  num_outputs_ = has_log_link() ? options.num_arms : num_predicted;
  if (rises) {
    first_arm_ = options.control_is_free ? 1 : 0;
    first_step_ = options.kind == OutcomeKind::real && options.control_is_free ? 0 : 1;
    num_steps_ = num_outputs_ - first_step_;
  }
}

// Of a plain shape: the raw output that is the arm's own. The base of a log link is output 0.
template <class T>
std::size_t OutcomeHead<T>::output_of(std::size_t arm) const {
  const bool after_free = options_.control_is_free && arm > options_.control;
  if (has_log_link() && options_.control_is_free) return after_free ? arm : arm + 1;
  return after_free ? arm - 1 : arm;
}

template <class T>
std::vector<std::size_t> OutcomeHead<T>::outputs_of(std::size_t arm) const {
  std::vector<std::size_t> outputs;
  if (is_free(arm)) return outputs;
  if (options_.arm_shape != ArmShape::plain) {
    for (std::size_t i = 0; i < num_outputs_; ++i) outputs.push_back(i);
    return outputs;
  }
  if (has_log_link()) outputs.push_back(0);
  if (!has_log_link() || output_of(arm) != 0) outputs.push_back(output_of(arm));
  return outputs;
}

template <class T>
void OutcomeHead<T>::forward_plain(Raw raw, std::size_t num_rows, std::size_t arm,
                                   core::MatrixView<T> prediction) const {
  const std::size_t stride = prediction.cols;
  T* to = prediction.data + arm;
  if (is_free(arm)) {
    for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = T(0);
    return;
  }
  const std::size_t output = output_of(arm);
  const T* u = raw[output];
  if (options_.kind == OutcomeKind::binary) {
    for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = logistic(u[i]);
  } else if (has_log_link() && output == 0) {
    for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = exponential(u[i]);
  } else if (has_log_link()) {
    const T* base = raw[0];
    for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = exponential(base[i] + u[i]);
  } else if (options_.non_negative) {
    for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = softplus(u[i]);
  } else {
    for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = u[i];
  }
}

template <class T>
void OutcomeHead<T>::forward_steps(Raw raw, std::size_t num_rows, HeadWorkspace<T>& workspace,
                                   core::MatrixView<T> prediction) const {
  for (std::size_t step = num_steps_; step-- > 0;) {
    T* d = workspace.steps.row(step).data();
    const T* u = raw[first_step_ + step];
    for (std::size_t i = 0; i < num_rows; ++i) d[i] = softplus(u[i]);
    if (options_.arm_shape == ArmShape::concave && step + 1 < num_steps_) {
      const T* later = workspace.steps.row(step + 1).data();
      for (std::size_t i = 0; i < num_rows; ++i) d[i] += later[i];
    }
  }
  // The level of the first arm predicted: its base, and a step where the base is that of control.
  T level[kTileRows];
  T factor[kTileRows];
  for (std::size_t i = 0; i < num_rows; ++i) {
    const T base = first_step_ == 1 ? raw[0][i] : T(0);
    level[i] = base;
    factor[i] = T(1);
    if (has_log_link()) {
      level[i] = options_.control_is_free ? T(0) : T(1);
      factor[i] = exponential(base);
    } else if (options_.kind == OutcomeKind::real && first_step_ == 1 && options_.non_negative) {
      level[i] = softplus(base);
    }
  }
  const std::size_t stride = prediction.cols;
  if (options_.control_is_free) {
    for (std::size_t i = 0; i < num_rows; ++i) prediction.data[i * stride] = T(0);
  }
  const std::size_t num_predicted = options_.num_arms - first_arm_;
  std::size_t step = 0;
  for (std::size_t k = 0; k < num_predicted; ++k) {
    if (k > 0 || num_steps_ == num_predicted) {
      const T* d = workspace.steps.row(step++).data();
      for (std::size_t i = 0; i < num_rows; ++i) level[i] += d[i];
    }
    T* to = prediction.data + first_arm_ + k;
    const bool binary = options_.kind == OutcomeKind::binary;
    for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = binary ? logistic(level[i]) : factor[i] * level[i];
  }
}

template <class T>
void OutcomeHead<T>::forward(Raw raw, std::size_t num_rows, std::optional<std::size_t> only,
                             HeadWorkspace<T>& workspace, core::MatrixView<T> prediction) const {
  if (options_.arm_shape != ArmShape::plain) {
    if (!only || !is_free(*only)) forward_steps(raw, num_rows, workspace, prediction);
  } else if (!only) {
    for (std::size_t arm = 0; arm < options_.num_arms; ++arm) forward_plain(raw, num_rows, arm, prediction);
  }
  if (only && (options_.arm_shape == ArmShape::plain || is_free(*only))) {
    forward_plain(raw, num_rows, *only, prediction);
  }
}

template <class T>
void OutcomeHead<T>::backward_plain(Raw raw, std::size_t num_rows, std::size_t arm,
                                    core::MatrixView<const T> prediction, core::MatrixView<const T> gradient,
                                    std::span<T* const> raw_gradient) const {
  if (is_free(arm)) return;
  const std::size_t output = output_of(arm);
  const std::size_t stride = gradient.cols;
  const T* g = gradient.data + arm;
  const T* p = prediction.data + arm;
  T* to = raw_gradient[output];
  if (options_.kind == OutcomeKind::binary) {
    for (std::size_t i = 0; i < num_rows; ++i) to[i] = g[i * stride] * p[i * stride] * (T(1) - p[i * stride]);
  } else if (has_log_link()) {
    T* base = raw_gradient[0];
    for (std::size_t i = 0; i < num_rows; ++i) {
      const T value = g[i * stride] * p[i * stride];
      base[i] += value;
      if (output != 0) to[i] = value;
    }
  } else if (options_.non_negative) {
    const T* u = raw[output];
    for (std::size_t i = 0; i < num_rows; ++i) to[i] = g[i * stride] * softplus_slope(u[i]);
  } else {
    for (std::size_t i = 0; i < num_rows; ++i) to[i] = g[i * stride];
  }
}

template <class T>
void OutcomeHead<T>::backward_steps(Raw raw, std::size_t num_rows, core::MatrixView<const T> prediction,
                                    core::MatrixView<const T> gradient, HeadWorkspace<T>& workspace,
                                    std::span<T* const> raw_gradient) const {
  // What reaches a step is the sum over its own and later arms; what reaches the base, over all.
  const std::size_t stride = gradient.cols;
  const std::size_t num_predicted = options_.num_arms - first_arm_;
  T later[kTileRows] = {};
  T base[kTileRows] = {};
  for (std::size_t k = num_predicted, step = num_steps_; k-- > 0;) {
    const T* g = gradient.data + first_arm_ + k;
    const T* p = prediction.data + first_arm_ + k;
    const bool binary = options_.kind == OutcomeKind::binary;
    for (std::size_t i = 0; i < num_rows; ++i) {
      base[i] += g[i * stride] * p[i * stride];
      later[i] += binary ? g[i * stride] * p[i * stride] * (T(1) - p[i * stride]) : g[i * stride];
    }
    if (step > 0) std::copy_n(later, num_rows, workspace.steps.row(--step).data());
  }
  if (first_step_ == 1) {
    for (std::size_t i = 0; i < num_rows; ++i) {
      const T slope = options_.kind == OutcomeKind::real && options_.non_negative ? softplus_slope(raw[0][i]) : T(1);
      raw_gradient[0][i] = has_log_link() ? base[i] : later[i] * slope;
    }
  }
  T earlier[kTileRows] = {};
  for (std::size_t step = 0; step < num_steps_; ++step) {
    const T* d = workspace.steps.row(step).data();
    const T* u = raw[first_step_ + step];
    T* to = raw_gradient[first_step_ + step];
    for (std::size_t i = 0; i < num_rows; ++i) {
      earlier[i] = options_.arm_shape == ArmShape::concave ? earlier[i] + d[i] : d[i];
      const T factor = has_log_link() ? exponential(raw[0][i]) : T(1);
      to[i] = earlier[i] * factor * softplus_slope(u[i]);
    }
  }
}

template <class T>
void OutcomeHead<T>::backward(Raw raw, std::size_t num_rows, std::optional<std::size_t> only,
                              core::MatrixView<const T> prediction, core::MatrixView<const T> gradient,
                              HeadWorkspace<T>& workspace, std::span<T* const> raw_gradient) const {
  if (only && is_free(*only)) return;
  if (options_.arm_shape != ArmShape::plain) {
    backward_steps(raw, num_rows, prediction, gradient, workspace, raw_gradient);
    return;
  }
  if (has_log_link()) std::fill_n(raw_gradient[0], num_rows, T(0));
  if (only) {
    backward_plain(raw, num_rows, *only, prediction, gradient, raw_gradient);
    return;
  }
  for (std::size_t arm = 0; arm < options_.num_arms; ++arm) {
    backward_plain(raw, num_rows, arm, prediction, gradient, raw_gradient);
  }
}

template struct HeadWorkspace<float>;
template struct HeadWorkspace<double>;
template class OutcomeHead<float>;
template class OutcomeHead<double>;

}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
//
// The mathematics of an outcome head (outcome_head.h has the formulas), for a number of rows at once on a processor or
// one row a thread on a graphics card. Raw outputs are lines: raw[i] points to the rows of raw output i; predictions
// and gradients of a row lie `stride` apart. Count is std::size_t or a std::integral_constant. No memory of its own.
#pragma once

#include <cmath>
#include <cstddef>

#include "dfcl/core/fast_exp.h"
#include "dfcl/core/for_each_processor.h"
#include "dfcl/learn/outcome_facts.h"

namespace dfcl::nn {

// exp(16) is 9 million times the mean outcome; sigmoid(16) is 1e-7 below 1.
inline constexpr double kLargestExponent = 16.0;

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

template <class T>
struct HeadLines {
  learn::OutcomeFacts facts;
  std::size_t num_outputs = 0;
  std::size_t first_arm = 0;   // of those predicted, in a rising shape
  std::size_t first_step = 0;  // raw outputs from here on are steps, in a rising shape
  std::size_t num_steps = 0;

  DFCL_INLINE bool is_plain() const { return facts.arm_shape == learn::ArmShape::plain; }
  DFCL_INLINE bool is_free(std::size_t arm) const { return facts.control_is_free && arm == facts.control; }
  DFCL_INLINE bool has_log_link() const { return facts.kind == loss::OutcomeKind::non_negative; }
  // Output 0 is the base of a log link, which the arms share.
  DFCL_INLINE bool has_base() const { return has_log_link() && !(is_plain() && facts.arms_apart); }

  // Of a plain shape: the raw output that is the arm's own.
  DFCL_INLINE std::size_t output_of(std::size_t arm) const {
    const bool after_free = facts.control_is_free && arm > facts.control;
    if (has_base() && facts.control_is_free) return after_free ? arm : arm + 1;
    return after_free ? arm - 1 : arm;
  }

  template <class Raw, class Count>
  DFCL_INLINE void forward_plain(const Raw& raw, Count num_rows, std::size_t arm, T* prediction,
                                 std::size_t stride) const {
    T* to = prediction + arm;
    if (is_free(arm)) {
      for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = T(0);
      return;
    }
    const std::size_t output = output_of(arm);
    const T* u = raw[output];
    if (facts.kind == loss::OutcomeKind::binary) {
      for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = logistic(u[i]);
    } else if (has_log_link() && (output == 0 || !has_base())) {
      for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = exponential(u[i]);
    } else if (has_log_link()) {
      const T* base = raw[0];
      for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = exponential(base[i] + u[i]);
    } else if (facts.non_negative) {
      for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = softplus(u[i]);
    } else {
      for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = u[i];
    }
  }

  // steps: arms x kMostRows, to be used by this call alone.
  template <std::size_t kMostRows, class Raw, class Count>
  DFCL_INLINE void forward_steps(const Raw& raw, Count num_rows, T* steps, T* prediction, std::size_t stride) const {
    for (std::size_t step = num_steps; step-- > 0;) {
      T* d = steps + step * kMostRows;
      const T* u = raw[first_step + step];
      for (std::size_t i = 0; i < num_rows; ++i) d[i] = softplus(u[i]);
      if (facts.arm_shape == learn::ArmShape::concave && step + 1 < num_steps) {
        const T* later = steps + (step + 1) * kMostRows;
        for (std::size_t i = 0; i < num_rows; ++i) d[i] += later[i];
      }
    }
    // The level of the first arm predicted: its base, and a step where the base is that of control.
    T level[kMostRows];
    T factor[kMostRows];
    for (std::size_t i = 0; i < num_rows; ++i) {
      const T base = first_step == 1 ? raw[0][i] : T(0);
      level[i] = base;
      factor[i] = T(1);
      if (has_log_link()) {
        level[i] = facts.control_is_free ? T(0) : T(1);
        factor[i] = exponential(base);
      } else if (facts.kind == loss::OutcomeKind::real && first_step == 1 && facts.non_negative) {
        level[i] = softplus(base);
      }
    }
    if (facts.control_is_free) {
      for (std::size_t i = 0; i < num_rows; ++i) prediction[i * stride] = T(0);
    }
    const std::size_t num_predicted = facts.num_arms - first_arm;
    std::size_t step = 0;
    for (std::size_t k = 0; k < num_predicted; ++k) {
      if (k > 0 || num_steps == num_predicted) {
        const T* d = steps + step++ * kMostRows;
        for (std::size_t i = 0; i < num_rows; ++i) level[i] += d[i];
      }
      T* to = prediction + first_arm + k;
      const bool binary = facts.kind == loss::OutcomeKind::binary;
      for (std::size_t i = 0; i < num_rows; ++i) to[i * stride] = binary ? logistic(level[i]) : factor[i] * level[i];
    }
  }

  // raw_gradient[0] of a base must be zero before the first arm. raw_gradient may be the memory of raw.
  template <class Raw, class RawGradient, class Count>
  DFCL_INLINE void backward_plain(const Raw& raw, Count num_rows, std::size_t arm, const T* prediction,
                                  const T* gradient, std::size_t stride, const RawGradient& raw_gradient) const {
    if (is_free(arm)) return;
    const std::size_t output = output_of(arm);
    const T* g = gradient + arm;
    const T* p = prediction + arm;
    T* to = raw_gradient[output];
    if (facts.kind == loss::OutcomeKind::binary) {
      for (std::size_t i = 0; i < num_rows; ++i) to[i] = g[i * stride] * p[i * stride] * (T(1) - p[i * stride]);
    } else if (has_base()) {
      T* base = raw_gradient[0];
      for (std::size_t i = 0; i < num_rows; ++i) {
        const T value = g[i * stride] * p[i * stride];
        base[i] += value;
        if (output != 0) to[i] = value;
      }
    } else if (has_log_link()) {
      for (std::size_t i = 0; i < num_rows; ++i) to[i] = g[i * stride] * p[i * stride];
    } else if (facts.non_negative) {
      const T* u = raw[output];
      for (std::size_t i = 0; i < num_rows; ++i) to[i] = g[i * stride] * softplus_slope(u[i]);
    } else {
      for (std::size_t i = 0; i < num_rows; ++i) to[i] = g[i * stride];
    }
  }

  // raw_gradient may be the memory of raw. steps as in forward_steps.
  template <std::size_t kMostRows, class Raw, class RawGradient, class Count>
  DFCL_INLINE void backward_steps(const Raw& raw, Count num_rows, T* steps, const T* prediction, const T* gradient,
                                  std::size_t stride, const RawGradient& raw_gradient) const {
    // What reaches a step is the sum over its own and later arms; what reaches the base, over all.
    const std::size_t num_predicted = facts.num_arms - first_arm;
    T later[kMostRows] = {};
    T base[kMostRows] = {};
    for (std::size_t k = num_predicted, step = num_steps; k-- > 0;) {
      const T* g = gradient + first_arm + k;
      const T* p = prediction + first_arm + k;
      const bool binary = facts.kind == loss::OutcomeKind::binary;
      for (std::size_t i = 0; i < num_rows; ++i) {
        base[i] += g[i * stride] * p[i * stride];
        later[i] += binary ? g[i * stride] * p[i * stride] * (T(1) - p[i * stride]) : g[i * stride];
      }
      if (step > 0) {
        T* const to = steps + --step * kMostRows;
        for (std::size_t i = 0; i < num_rows; ++i) to[i] = later[i];
      }
    }
    T earlier[kMostRows] = {};
    for (std::size_t step = 0; step < num_steps; ++step) {
      const T* d = steps + step * kMostRows;
      const T* u = raw[first_step + step];
      T* to = raw_gradient[first_step + step];
      for (std::size_t i = 0; i < num_rows; ++i) {
        earlier[i] = facts.arm_shape == learn::ArmShape::concave ? earlier[i] + d[i] : d[i];
        const T factor = has_log_link() ? exponential(raw[0][i]) : T(1);
        to[i] = earlier[i] * factor * softplus_slope(u[i]);
      }
    }
    if (first_step == 1) {  // last, because the steps read raw[0]
      for (std::size_t i = 0; i < num_rows; ++i) {
        const bool bent = facts.kind == loss::OutcomeKind::real && facts.non_negative;
        const T slope = bent ? softplus_slope(raw[0][i]) : T(1);
        raw_gradient[0][i] = has_log_link() ? base[i] : later[i] * slope;
      }
    }
  }
};

}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/member_loops.h"

#include <algorithm>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/nn/table/dropout_word.h"
#include "dfcl/nn/table/lanes.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kBlock = 64;  // numbers whose random bytes are made together

// The bytes of kBlock numbers, as 0 where dropped and 1 else.
DFCL_INLINE void fill_kept(const Dropout& dropout, std::uint32_t counter, std::uint8_t* kept) {
  std::uint32_t words[kBlock / 4];
  for (std::size_t i = 0; i < kBlock / 4; ++i)
    words[i] = random_word(dropout.key, counter + static_cast<std::uint32_t>(i));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words);
  for (std::size_t i = 0; i < kBlock; ++i) kept[i] = bytes[i] >= dropout.dropped ? 1 : 0;
}

template <class T>
DFCL_INLINE void member_forward_body(const MemberRows& rows, const Dropout& dropout, const MemberLayer<T>& layer,
                                     const T* in, T* out) {
  const T keep = static_cast<T>(dropout.scale());
  const auto words_per_row = static_cast<std::uint32_t>((rows.width + 3) / 4);
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    const std::uint32_t number = rows.first_row + static_cast<std::uint32_t>(row) * rows.row_step;
    for (std::size_t first = 0; first < rows.width; first += kBlock) {
      const std::size_t count = std::min(kBlock, rows.width - first);
      const T* const __restrict from = in + row * rows.width + first;
      const T* const __restrict scale = layer.scale + first;
      const T* const __restrict bias = layer.bias + first;
      T* const __restrict to = out + row * rows.width + first;
      for (std::size_t j = 0; j < count; ++j) {
        const T sum = from[j] * scale[j] + bias[j];
        to[j] = sum > T(0) ? sum : T(0);
      }
      if (dropout.dropped > 0) {
        std::uint8_t kept[kBlock];
        fill_kept(dropout, number * words_per_row + static_cast<std::uint32_t>(first / 4), kept);
        for (std::size_t j = 0; j < count; ++j) to[j] = kept[j] != 0 ? keep * to[j] : T(0);
      }
      if (layer.sign != nullptr) {
        const T* const __restrict sign = layer.sign + first;
        for (std::size_t j = 0; j < count; ++j) to[j] *= sign[j];
      }
    }
  }
}

// The columns first .. first + kVectors registers: sums over rows stay in registers.
template <class T, std::size_t kVectors>
DFCL_INLINE void second_columns(const MemberRows& rows, T keep, std::size_t first, const T* scale, const T* in,
                                const T* out, T* gradient, T* scale_gradient, T* bias_gradient) {
  using L = Lanes<T>;
  using Vector = typename L::Vector;
  Vector to_scale[kVectors], to_bias[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    to_scale[v] = L::at(scale_gradient + first + v * L::kSize);
    to_bias[v] = L::at(bias_gradient + first + v * L::kSize);
  }
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    const std::size_t place = row * rows.width + first;
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t j = place + v * L::kSize;
      const Vector passed = L::at(out + j) > T(0) ? keep * L::at(gradient + j) : Vector{};
      to_scale[v] += passed * L::at(in + j);
      to_bias[v] += passed;
      L::at(gradient + j) = passed * L::at(scale + first + v * L::kSize);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    L::at(scale_gradient + first + v * L::kSize) = to_scale[v];
    L::at(bias_gradient + first + v * L::kSize) = to_bias[v];
  }
}

template <class T>
DFCL_INLINE void second_backward_body(const MemberRows& rows, const Dropout& dropout, const T* scale, const T* in,
                                      const T* out, T* gradient, T* scale_gradient, T* bias_gradient) {
  const T keep = static_cast<T>(dropout.scale());
  constexpr std::size_t kSize = Lanes<T>::kSize;
  std::size_t first = 0;
  for (; first + 4 * kSize <= rows.width; first += 4 * kSize)
    second_columns<T, 4>(rows, keep, first, scale, in, out, gradient, scale_gradient, bias_gradient);
  for (; first < rows.width; first += kSize)
    second_columns<T, 1>(rows, keep, first, scale, in, out, gradient, scale_gradient, bias_gradient);
}

template <class T, std::size_t kVectors>
DFCL_INLINE void first_columns(const MemberRows& rows, T keep, std::size_t first, const MemberLayer<T>& layer,
                               const T* in, const T* out, const T* out_gradient, const FirstGradient<T>& gradient) {
  using L = Lanes<T>;
  using Vector = typename L::Vector;
  Vector to_scale[kVectors], to_bias[kVectors], to_sign[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    to_scale[v] = L::at(gradient.scale + first + v * L::kSize);
    to_bias[v] = L::at(gradient.bias + first + v * L::kSize);
    to_sign[v] = L::at(gradient.sign + first + v * L::kSize);
  }
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t column = first + v * L::kSize;
      const std::size_t j = row * rows.width + column;
      const Vector before = L::at(in + j);
      const Vector scale = L::at(layer.scale + column);
      const Vector kept = L::at(out + j) != T(0) ? keep * L::at(out_gradient + j) : Vector{};
      to_sign[v] += kept * (before * scale + L::at(layer.bias + column));
      const Vector passed = kept * L::at(layer.sign + column);
      to_scale[v] += passed * before;
      to_bias[v] += passed;
      L::at(gradient.in + j) += passed * scale;
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    L::at(gradient.scale + first + v * L::kSize) = to_scale[v];
    L::at(gradient.bias + first + v * L::kSize) = to_bias[v];
    L::at(gradient.sign + first + v * L::kSize) = to_sign[v];
  }
}

template <class T>
DFCL_INLINE void first_backward_body(const MemberRows& rows, const Dropout& dropout, const MemberLayer<T>& layer,
                                     const T* in, const T* out, const T* out_gradient,
                                     const FirstGradient<T>& gradient) {
  const T keep = static_cast<T>(dropout.scale());
  constexpr std::size_t kSize = Lanes<T>::kSize;
  std::size_t first = 0;
  for (; first + 4 * kSize <= rows.width; first += 4 * kSize)
    first_columns<T, 4>(rows, keep, first, layer, in, out, out_gradient, gradient);
  for (; first < rows.width; first += kSize)
    first_columns<T, 1>(rows, keep, first, layer, in, out, out_gradient, gradient);
}

// kOutputs of one row: sums over the width in lanes, whose halves are added at last.
template <class T, std::size_t kOutputs>
DFCL_INLINE void some_outputs(const ThinSize& size, std::size_t row, std::size_t first, const T* hidden,
                              const T* weight, const T* bias, T* outputs) {
  typedef T Vector __attribute__((vector_size(kLanes * sizeof(T)), aligned(alignof(T)), may_alias));
  const T* const from = hidden + row * size.width;
  const T* const factor = weight + first * size.width;
  Vector sums[kOutputs] = {};
  for (std::size_t j = 0; j < size.width; j += kLanes) {
    const Vector values = *reinterpret_cast<const Vector*>(from + j);
    for (std::size_t output = 0; output < kOutputs; ++output)
      sums[output] += values * *reinterpret_cast<const Vector*>(factor + output * size.width + j);
  }
  for (std::size_t output = 0; output < kOutputs; ++output) {
    T lanes[kLanes];
    *reinterpret_cast<Vector*>(lanes) = sums[output];
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    outputs[(first + output) * size.stride + row] = bias[first + output] + lanes[0];
  }
}

template <class T>
DFCL_INLINE void outputs_forward_body(const ThinSize& size, const T* hidden, const T* weight, const T* bias,
                                      T* outputs) {
  constexpr std::size_t kAtOnce = 5;
  for (std::size_t row = 0; row < size.num_rows; ++row) {
    std::size_t output = 0;
    for (; output + kAtOnce <= size.num_outputs; output += kAtOnce)
      some_outputs<T, kAtOnce>(size, row, output, hidden, weight, bias, outputs);
    for (; output < size.num_outputs; ++output) some_outputs<T, 1>(size, row, output, hidden, weight, bias, outputs);
  }
}

// The columns first .. first + kVectors registers: sums over rows, then over outputs, stay in registers.
template <class T, std::size_t kVectors>
DFCL_INLINE void output_columns(const ThinSize& size, std::size_t first, const T* hidden, const T* weight,
                                const T* output_gradient, T* hidden_gradient, T* weight_gradient) {
  using L = Lanes<T>;
  using Vector = typename L::Vector;
  for (std::size_t output = 0; output < size.num_outputs; ++output) {
    T* const to = weight_gradient + output * size.width + first;
    const T* const slopes = output_gradient + output * size.stride;
    Vector sums[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] = L::at(to + v * L::kSize);
    for (std::size_t row = 0; row < size.num_rows; ++row) {
      if (slopes[row] == T(0)) continue;  // arms that no loss looked at
      for (std::size_t v = 0; v < kVectors; ++v)
        sums[v] += slopes[row] * L::at(hidden + row * size.width + first + v * L::kSize);
    }
    for (std::size_t v = 0; v < kVectors; ++v) L::at(to + v * L::kSize) = sums[v];
  }
  for (std::size_t row = 0; row < size.num_rows; ++row) {
    Vector sums[kVectors] = {};
    for (std::size_t output = 0; output < size.num_outputs; ++output) {
      const T slope = output_gradient[output * size.stride + row];
      if (slope == T(0)) continue;
      for (std::size_t v = 0; v < kVectors; ++v)
        sums[v] += slope * L::at(weight + output * size.width + first + v * L::kSize);
    }
    for (std::size_t v = 0; v < kVectors; ++v)
      L::at(hidden_gradient + row * size.width + first + v * L::kSize) = sums[v];
  }
}

template <class T>
DFCL_INLINE void outputs_backward_body(const ThinSize& size, const T* hidden, const T* weight, const T* output_gradient,
                                       T* hidden_gradient, T* weight_gradient, T* bias_gradient) {
  constexpr std::size_t kSize = Lanes<T>::kSize;
  std::size_t first = 0;
  for (; first + 8 * kSize <= size.width; first += 8 * kSize)
    output_columns<T, 8>(size, first, hidden, weight, output_gradient, hidden_gradient, weight_gradient);
  for (; first < size.width; first += kSize)
    output_columns<T, 1>(size, first, hidden, weight, output_gradient, hidden_gradient, weight_gradient);
  for (std::size_t output = 0; output < size.num_outputs; ++output) {
    for (std::size_t row = 0; row < size.num_rows; ++row)
      bias_gradient[output] += output_gradient[output * size.stride + row];
  }
}

}  // namespace

DFCL_FOR_EACH_PROCESSOR void member_forward(const MemberRows& rows, const Dropout& dropout,
                                            const MemberLayer<float>& layer, const float* in, float* out) {
  member_forward_body(rows, dropout, layer, in, out);
}
void member_forward(const MemberRows& rows, const Dropout& dropout, const MemberLayer<double>& layer, const double* in,
                    double* out) {
  member_forward_body(rows, dropout, layer, in, out);
}

DFCL_FOR_EACH_PROCESSOR void second_backward(const MemberRows& rows, const Dropout& dropout, const float* scale,
                                             const float* in, const float* out, float* gradient, float* scale_gradient,
                                             float* bias_gradient) {
  second_backward_body(rows, dropout, scale, in, out, gradient, scale_gradient, bias_gradient);
}
void second_backward(const MemberRows& rows, const Dropout& dropout, const double* scale, const double* in,
                     const double* out, double* gradient, double* scale_gradient, double* bias_gradient) {
  second_backward_body(rows, dropout, scale, in, out, gradient, scale_gradient, bias_gradient);
}

DFCL_FOR_EACH_PROCESSOR void first_backward(const MemberRows& rows, const Dropout& dropout,
                                            const MemberLayer<float>& layer, const float* in, const float* out,
                                            const float* out_gradient, const FirstGradient<float>& gradient) {
  first_backward_body(rows, dropout, layer, in, out, out_gradient, gradient);
}
void first_backward(const MemberRows& rows, const Dropout& dropout, const MemberLayer<double>& layer, const double* in,
                    const double* out, const double* out_gradient, const FirstGradient<double>& gradient) {
  first_backward_body(rows, dropout, layer, in, out, out_gradient, gradient);
}

DFCL_FOR_EACH_PROCESSOR void outputs_forward(const ThinSize& size, const float* hidden, const float* weight,
                                             const float* bias, float* outputs) {
  outputs_forward_body(size, hidden, weight, bias, outputs);
}
void outputs_forward(const ThinSize& size, const double* hidden, const double* weight, const double* bias,
                     double* outputs) {
  outputs_forward_body(size, hidden, weight, bias, outputs);
}

DFCL_FOR_EACH_PROCESSOR void outputs_backward(const ThinSize& size, const float* hidden, const float* weight,
                                              const float* output_gradient, float* hidden_gradient,
                                              float* weight_gradient, float* bias_gradient) {
  outputs_backward_body(size, hidden, weight, output_gradient, hidden_gradient, weight_gradient, bias_gradient);
}
void outputs_backward(const ThinSize& size, const double* hidden, const double* weight, const double* output_gradient,
                      double* hidden_gradient, double* weight_gradient, double* bias_gradient) {
  outputs_backward_body(size, hidden, weight, output_gradient, hidden_gradient, weight_gradient, bias_gradient);
}

}  // namespace dfcl::nn

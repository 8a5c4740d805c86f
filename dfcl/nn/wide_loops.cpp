// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/wide_loops.h"

#include <type_traits>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/nn/network.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kAtOnce = 4;  // features whose sums are in registers together
static_assert(kRowStep % kLanes == 0);

// kLanes numbers; sums over rows are kept in such, which a compiler would put in memory were they arrays.
template <class T>
struct Wide {
  typedef T Vector __attribute__((vector_size(kLanes * sizeof(T)), aligned(alignof(T)), may_alias));
  static DFCL_INLINE Vector& at(T* numbers) { return *reinterpret_cast<Vector*>(numbers); }
  static DFCL_INLINE const Vector& at(const T* numbers) { return *reinterpret_cast<const Vector*>(numbers); }
};

// Halves are added to halves.
template <class T>
DFCL_INLINE T joined(const typename Wide<T>::Vector& vector) {
  T lanes[kLanes];
  Wide<T>::at(lanes) = vector;
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

// Calls body<count>(first) for all features, some at once.
template <class Body>
DFCL_INLINE void for_features(std::size_t num_features, Body&& body) {
  std::size_t feature = 0;
  for (; feature + kAtOnce <= num_features; feature += kAtOnce)
    body(std::integral_constant<std::size_t, kAtOnce>(), feature);
  for (; feature < num_features; ++feature) body(std::integral_constant<std::size_t, 1>(), feature);
}

template <class T>
DFCL_INLINE void add_bias_body(std::size_t num_features, std::size_t num_rows, const T* bias, bool relu, T* values) {
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    T* row = values + feature * kTileRows;
    const T shift = bias[feature];
    if (relu) {
      for (std::size_t i = 0; i < num_rows; ++i) {
        const T value = row[i] + shift;
        row[i] = value > T(0) ? value : T(0);
      }
    } else {
      for (std::size_t i = 0; i < num_rows; ++i) row[i] += shift;
    }
  }
}

template <class T>
DFCL_INLINE void add_row_sums_body(std::size_t num_features, std::size_t num_rows, const T* values, T* sums) {
  using W = Wide<T>;
  for_features(
      num_features, [&](auto count, std::size_t first) __attribute__((always_inline)) {
        const T* from = values + first * kTileRows;
        typename W::Vector lanes[count] = {};
        for (std::size_t i = 0; i < num_rows; i += kLanes) {
          for (std::size_t f = 0; f < count; ++f) lanes[f] += W::at(from + f * kTileRows + i);
        }
        for (std::size_t f = 0; f < count; ++f) sums[first + f] += joined<T>(lanes[f]);
      });
}

template <class T>
DFCL_INLINE void mask_gradient_body(std::size_t num_features, std::size_t num_rows, const T* activations, T* gradient,
                                    T* sums) {
  using W = Wide<T>;
  for_features(
      num_features, [&](auto count, std::size_t first) __attribute__((always_inline)) {
        const T* active = activations + first * kTileRows;
        T* slopes = gradient + first * kTileRows;
        typename W::Vector lanes[count] = {};
        for (std::size_t i = 0; i < num_rows; i += kLanes) {
          for (std::size_t f = 0; f < count; ++f) {
            typename W::Vector& slope = W::at(slopes + f * kTileRows + i);
            const typename W::Vector value = W::at(active + f * kTileRows + i) > T(0) ? slope : typename W::Vector{};
            slope = value;
            lanes[f] += value;
          }
        }
        for (std::size_t f = 0; f < count; ++f) sums[first + f] += joined<T>(lanes[f]);
      });
}

template <class T>
DFCL_INLINE void thin_forward_body(std::size_t num_features, std::size_t num_rows, const T* weight, T bias,
                                   const T* input, T* output) {
  for (std::size_t begin = 0; begin < num_rows; begin += kRowStep) {
    T sums[kRowStep];
    for (std::size_t i = 0; i < kRowStep; ++i) sums[i] = bias;
    for (std::size_t feature = 0; feature < num_features; ++feature) {
      const T factor = weight[feature];
      const T* row = input + feature * kTileRows + begin;
      for (std::size_t i = 0; i < kRowStep; ++i) sums[i] += factor * row[i];
    }
    for (std::size_t i = 0; i < kRowStep; ++i) output[begin + i] = sums[i];
  }
}

template <class T>
DFCL_INLINE void thin_backward_body(std::size_t num_features, std::size_t num_rows, const T* weight,
                                    const T* output_gradient, T* activations, T* weight_gradient, T* bias_gradient) {
  using W = Wide<T>;
  for_features(
      num_features, [&](auto count, std::size_t first) __attribute__((always_inline)) {
        T* rows = activations + first * kTileRows;
        typename W::Vector products[count] = {};
        typename W::Vector sums[count] = {};
        for (std::size_t i = 0; i < num_rows; i += kLanes) {
          const typename W::Vector step = W::at(output_gradient + i);
          for (std::size_t f = 0; f < count; ++f) {
            typename W::Vector& active = W::at(rows + f * kTileRows + i);
            const typename W::Vector kept = active > T(0) ? step : typename W::Vector{};
            products[f] += active * step;
            sums[f] += kept;
            active = weight[first + f] * kept;
          }
        }
        for (std::size_t f = 0; f < count; ++f) {
          weight_gradient[first + f] += joined<T>(products[f]);
          bias_gradient[first + f] += weight[first + f] * joined<T>(sums[f]);
        }
      });
}

}  // namespace

DFCL_FOR_EACH_PROCESSOR void add_bias(std::size_t num_features, std::size_t num_rows, const float* bias, bool relu,
                                      float* values) {
  add_bias_body(num_features, num_rows, bias, relu, values);
}

DFCL_FOR_EACH_PROCESSOR void add_row_sums(std::size_t num_features, std::size_t num_rows, const float* values,
                                          float* sums) {
  add_row_sums_body(num_features, num_rows, values, sums);
}

DFCL_FOR_EACH_PROCESSOR void mask_gradient(std::size_t num_features, std::size_t num_rows, const float* activations,
                                           float* gradient, float* sums) {
  mask_gradient_body(num_features, num_rows, activations, gradient, sums);
}

DFCL_FOR_EACH_PROCESSOR void thin_forward(std::size_t num_features, std::size_t num_rows, const float* weight,
                                          float bias, const float* input, float* output) {
  thin_forward_body(num_features, num_rows, weight, bias, input, output);
}

DFCL_FOR_EACH_PROCESSOR void thin_backward(std::size_t num_features, std::size_t num_rows, const float* weight,
                                           const float* output_gradient, float* activations, float* weight_gradient,
                                           float* bias_gradient) {
  thin_backward_body(num_features, num_rows, weight, output_gradient, activations, weight_gradient, bias_gradient);
}

void add_bias(std::size_t num_features, std::size_t num_rows, const double* bias, bool relu, double* values) {
  add_bias_body(num_features, num_rows, bias, relu, values);
}

void add_row_sums(std::size_t num_features, std::size_t num_rows, const double* values, double* sums) {
  add_row_sums_body(num_features, num_rows, values, sums);
}

void mask_gradient(std::size_t num_features, std::size_t num_rows, const double* activations, double* gradient,
                   double* sums) {
  mask_gradient_body(num_features, num_rows, activations, gradient, sums);
}

void thin_forward(std::size_t num_features, std::size_t num_rows, const double* weight, double bias,
                  const double* input, double* output) {
  thin_forward_body(num_features, num_rows, weight, bias, input, output);
}

void thin_backward(std::size_t num_features, std::size_t num_rows, const double* weight, const double* output_gradient,
                   double* activations, double* weight_gradient, double* bias_gradient) {
  thin_backward_body(num_features, num_rows, weight, output_gradient, activations, weight_gradient, bias_gradient);
}

}  // namespace dfcl::nn

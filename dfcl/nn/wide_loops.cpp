// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/wide_loops.h"

#include "dfcl/core/for_each_processor.h"
#include "dfcl/nn/network.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kLanes = 16;
static_assert(kRowStep % kLanes == 0);

// Halves are added to halves.
template <class T>
DFCL_INLINE T joined(T* lanes) {
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
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
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    const T* row = values + feature * kTileRows;
    T lanes[kLanes] = {};
    for (std::size_t i = 0; i < num_rows; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += row[i + lane];
    }
    sums[feature] += joined(lanes);
  }
}

template <class T>
DFCL_INLINE void mask_gradient_body(std::size_t num_features, std::size_t num_rows, const T* activations, T* gradient,
                                    T* sums) {
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    const T* active = activations + feature * kTileRows;
    T* row = gradient + feature * kTileRows;
    T lanes[kLanes] = {};
    for (std::size_t i = 0; i < num_rows; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const T value = active[i + lane] > T(0) ? row[i + lane] : T(0);
        row[i + lane] = value;
        lanes[lane] += value;
      }
    }
    sums[feature] += joined(lanes);
  }
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
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    T* row = activations + feature * kTileRows;
    const T factor = weight[feature];
    T products[kLanes] = {};
    T sums[kLanes] = {};
    for (std::size_t i = 0; i < num_rows; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const T active = row[i + lane];
        const T step = output_gradient[i + lane];
        const T kept = active > T(0) ? step : T(0);
        products[lane] += active * step;
        sums[lane] += kept;
        row[i + lane] = factor * kept;
      }
    }
    weight_gradient[feature] += joined(products);
    bias_gradient[feature] += factor * joined(sums);
  }
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

// SPDX-License-Identifier: Apache-2.0
//
// The loops around the matrix products: bias, ReLU and its mask, sums over rows, output layers of one number. All work
// on wide matrices (features x rows, rows contiguous, kTileRows apart). One pass over memory each, in vectors.
// Sums over the rows of a tile run in 16 lanes and are joined in a fixed order.
#pragma once

#include <cstddef>

namespace dfcl::nn {

// values (features x rows) = values + bias of the feature, cut at zero where `relu`.
void add_bias(std::size_t num_features, std::size_t num_rows, const float* bias, bool relu, float* values);
void add_bias(std::size_t num_features, std::size_t num_rows, const double* bias, bool relu, double* values);

// sums[feature] += sum over rows.
void add_row_sums(std::size_t num_features, std::size_t num_rows, const float* values, float* sums);
void add_row_sums(std::size_t num_features, std::size_t num_rows, const double* values, double* sums);

// The gradient through a ReLU: zero where the activation is zero. Adds the sums over rows to `sums` (the bias).
void mask_gradient(std::size_t num_features, std::size_t num_rows, const float* activations, float* gradient,
                   float* sums);
void mask_gradient(std::size_t num_features, std::size_t num_rows, const double* activations, double* gradient,
                   double* sums);

// output[row] = bias + sum over features of weight * input.
void thin_forward(std::size_t num_features, std::size_t num_rows, const float* weight, float bias, const float* input,
                  float* output);
void thin_forward(std::size_t num_features, std::size_t num_rows, const double* weight, double bias,
                  const double* input, double* output);

// Back through thin_forward and the ReLU before it: `activations` become their own gradient. Adds to the gradients of
// the weights (features) and of the biases of the layer before (features).
void thin_backward(std::size_t num_features, std::size_t num_rows, const float* weight, const float* output_gradient,
                   float* activations, float* weight_gradient, float* bias_gradient);
void thin_backward(std::size_t num_features, std::size_t num_rows, const double* weight, const double* output_gradient,
                   double* activations, double* weight_gradient, double* bias_gradient);

}  // namespace dfcl::nn

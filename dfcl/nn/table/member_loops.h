// SPDX-License-Identifier: Apache-2.0
//
// What lies between the products of a network for tables, one pass over memory each, in vectors: scales, biases and
// ReLU of the members with dropout, the thin output layers, and the way back. All matrices are row-major with rows of
// `width` numbers. The rows of a tile are those of member 0, then those of member 1, and so on.
//
// Dropout takes one random byte a number from a hash of (key, row, column), so nothing of it is stored: a number that
// was dropped, or cut by the ReLU, is zero, and so the gradient knows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dfcl::nn {

struct Dropout {
  std::uint32_t key = 0;
  std::uint32_t dropped = 0;  // of 256; 0: none
  double scale() const { return 256.0 / (256.0 - static_cast<double>(dropped)); }
};

// One member's rows of a tile.
struct MemberRows {
  std::size_t num_rows;
  std::size_t width;
  std::uint32_t first_row;  // number of the first row, for dropout; the next row is row_step further
  std::uint32_t row_step;
};

// out = dropout(relu(in x scale + bias)) x sign; sign may be null: 1.
template <class T>
struct MemberLayer {
  const T* scale;
  const T* bias;
  const T* sign;
};
void member_forward(const MemberRows& rows, const Dropout& dropout, const MemberLayer<float>& layer, const float* in,
                    float* out);
void member_forward(const MemberRows& rows, const Dropout& dropout, const MemberLayer<double>& layer, const double* in,
                    double* out);

// Back through the second layer's member: gradient (that of out) becomes the gradient of in; scale and bias get theirs
// added.
void second_backward(const MemberRows& rows, const Dropout& dropout, const float* scale, const float* in,
                     const float* out, float* gradient, float* scale_gradient, float* bias_gradient);
void second_backward(const MemberRows& rows, const Dropout& dropout, const double* scale, const double* in,
                     const double* out, double* gradient, double* scale_gradient, double* bias_gradient);

// Back through the first layer's member, which all members share the input of: in_gradient gets the members' added.
template <class T>
struct FirstGradient {
  T* in;
  T* scale;
  T* bias;
  T* sign;
};
void first_backward(const MemberRows& rows, const Dropout& dropout, const MemberLayer<float>& layer, const float* in,
                    const float* out, const float* out_gradient, const FirstGradient<float>& gradient);
void first_backward(const MemberRows& rows, const Dropout& dropout, const MemberLayer<double>& layer, const double* in,
                    const double* out, const double* out_gradient, const FirstGradient<double>& gradient);

// outputs[o * stride + row] = bias[o] + weight[o] . hidden[row]; weight is outputs x width.
struct ThinSize {
  std::size_t num_rows;
  std::size_t width;
  std::size_t num_outputs;
  std::size_t stride;
};
void outputs_forward(const ThinSize& size, const float* hidden, const float* weight, const float* bias, float* outputs);
void outputs_forward(const ThinSize& size, const double* hidden, const double* weight, const double* bias,
                     double* outputs);
// Sets hidden_gradient and adds to the gradients of weight and bias.
void outputs_backward(const ThinSize& size, const float* hidden, const float* weight, const float* output_gradient,
                      float* hidden_gradient, float* weight_gradient, float* bias_gradient);
void outputs_backward(const ThinSize& size, const double* hidden, const double* weight, const double* output_gradient,
                      double* hidden_gradient, double* weight_gradient, double* bias_gradient);

}  // namespace dfcl::nn

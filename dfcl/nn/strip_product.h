// SPDX-License-Identifier: Apache-2.0
//
// The layers of a network for prediction, on strips of kStripRows rows that stay in the first- and second-level cache
// from the inputs to the outputs: product, bias and ReLU in one pass, nothing packed and nothing kept for gradients.
// Sums run over the inputs in their order, so the numbers of a row depend on nothing but that row. Reaches 90 % and
// more of the processor's multiply-adds a second where a layer has at least 32 inputs.
#pragma once

#include <cstddef>
#include <vector>

#include "dfcl/core/matrix.h"

namespace dfcl::nn {

// Rows of a strip.
inline constexpr std::size_t kStripRows = 64;

// A layer, or the block of a layer that reads one input. Outputs x inputs, row-major.
template <class T>
struct StripLayer {
  std::size_t outputs;
  std::size_t inputs;
  const T* weight;
  const T* bias;
  bool relu;
  bool bias_first;  // the sum starts from the bias; else the bias is added to it
};

// output (outputs x kStripRows, its rows output_stride apart) from input (inputs x kStripRows).
void strip_product(const StripLayer<float>& layer, const float* input, float* output, std::size_t output_stride);
void strip_product(const StripLayer<double>& layer, const double* input, double* output, std::size_t output_stride);

// All ways of doing so that this processor knows, the one used first. For tests.
template <class T>
using StripProduct = void (*)(const StripLayer<T>& layer, const T* input, T* output, std::size_t output_stride);
template <class T>
std::vector<StripProduct<T>> all_strip_products();

// strip (features x kStripRows) = the transpose of rows (at most kStripRows x features), with zeros for missing rows.
void fill_strip(core::MatrixView<const float> rows, float* strip);
void fill_strip(core::MatrixView<const double> rows, double* strip);

}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
//
// A feed-forward network with ReLU: shared layers, then heads of one shape that all read the last shared layer. A
// single trunk is one head without hidden layers. Parameters are one flat vector with a table of named tensors, so
// that optimisers, checkpoints, averages and files need to know nothing else. Rows pass through in tiles: inputs are
// rows x features, all later activations are features x rows ("wide"), so that bias, ReLU and thin output layers are
// plain loops over contiguous rows and each layer is one matrix product. T is float for training and double for
// checks of gradients. Memory: a workspace holds about kTileRows x (inputs + 2 x widths) numbers and fits the
// second-level cache for the networks of this library; time is that of the products, 6 operations a weight and row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"

namespace dfcl::nn {

// Rows of a full tile.
inline constexpr std::size_t kTileRows = 256;
// Training tiles may be shorter: a multiple of this.
inline constexpr std::size_t kRowStep = 32;

struct NetworkShape {
  std::size_t inputs = 0;
  std::vector<std::size_t> shared = {};  // widths of the shared hidden layers; may be empty
  std::size_t num_heads = 1;
  std::vector<std::size_t> head_hidden = {};  // widths of the hidden layers of each head; may be empty
  std::size_t outputs_per_head = 1;

  std::size_t num_outputs() const { return num_heads * outputs_per_head; }
  bool operator==(const NetworkShape&) const = default;
};

// A part of the parameter vector: a row-major matrix of outputs x inputs (weight) or outputs x 1 (bias).
struct Tensor {
  std::string name;  // shared.0.weight, heads.2.1.bias: layers count from the input
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t offset = 0;

  std::size_t size() const { return rows * cols; }
};

// Heads first .. first + count - 1.
struct HeadRange {
  std::size_t first = 0;
  std::size_t count = 0;
  bool operator==(const HeadRange&) const = default;
};

template <class T>
class Network;

// The activations and gradients of one tile; one for each thread, used again for every tile.
template <class T>
class Workspace {
 public:
  explicit Workspace(const NetworkShape& shape);

  // kTileRows x inputs, to be filled before forward.
  core::MatrixView<T> inputs() { return inputs_.view(); }
  // outputs x kTileRows: raw outputs after forward.
  core::MatrixView<T> outputs() { return wide_.back().view(); }
  // outputs x kTileRows: d loss / d raw output, to be filled before backward.
  core::MatrixView<T> output_gradient() { return output_gradient_.view(); }

 private:
  friend class Network<T>;
  core::Matrix<T> inputs_;
  std::vector<core::Matrix<T>> wide_;  // one a layer: width x kTileRows; the last are the outputs
  core::Matrix<T> output_gradient_;
  core::Matrix<T> gradient_[2];  // of the layer at hand and of the one before it: largest width x kTileRows
  core::Matrix<T> strips_;       // for predict, of the inputs and all hidden layers: features x kStripRows
};

template <class T>
class Network {
 public:
  // Throws a usage error for a shape without inputs or outputs or with an empty layer. Parameters start at zero.
  explicit Network(const NetworkShape& shape);

  const NetworkShape& shape() const { return shape_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  std::span<T> parameters() { return parameters_; }
  std::span<const T> parameters() const { return parameters_; }
  std::size_t num_parameters() const { return parameters_.size(); }
  // Every head, the default of forward and backward.
  std::span<const HeadRange> all_heads() const { return {&all_heads_, 1}; }

  // Normal weights of variance 2 / inputs before a ReLU (He et al. 2015), 1 / inputs before the outputs; biases zero.
  // Each tensor has a stream of its own.
  void initialise(std::uint64_t seed);

  // Fills workspace.outputs() for the first num_rows of the tile (a multiple of kRowStep) and the heads named; the
  // outputs of other heads are left as they were. The numbers of a row depend on nothing but its inputs.
  void forward(Workspace<T>& workspace, std::size_t num_rows, std::span<const HeadRange> heads) const;
  // After forward with the same rows and heads: adds the gradient of the parameters from workspace.output_gradient().
  // Overwrites the activations.
  void backward(Workspace<T>& workspace, std::size_t num_rows, std::span<const HeadRange> heads,
                std::span<T> gradient) const;
  // Fills workspace.outputs() for the first num_rows of the tile (any number) and all heads, faster than forward and
  // leaving nothing for backward. The numbers of a row depend on nothing but its inputs.
  void predict(Workspace<T>& workspace, std::size_t num_rows) const;

 private:
  // A layer of `groups` blocks of equal shape: one for a shared layer, one a head else. Weights are
  // groups x outputs x inputs, so that neighbouring heads with a common input are one matrix.
  struct Layer {
    std::size_t groups = 1;
    std::size_t inputs = 0;    // of one group
    std::size_t outputs = 0;   // of one group
    bool common_input = true;  // all groups read the same input
    bool is_output = false;    // linear; else ReLU
    std::size_t weight = 0;    // offset
    std::size_t bias = 0;      // offset
  };
  // A matrix with its layout: inputs of the first layer are rows x features, all others features x rows.
  struct Activations {
    const T* data;
    bool wide;
    std::size_t stride;
  };

  void add_layers();
  void add_tensors();
  Activations input_of(const Workspace<T>& workspace, std::size_t layer, std::size_t first_feature) const;
  void forward_block(const Layer& layer, HeadRange groups, Activations input, std::size_t num_rows, T* output) const;
  void backward_block(const Layer& layer, HeadRange groups, Activations input, const T* output_gradient,
                      std::size_t num_rows, bool add_input_gradient, T* input_gradient, std::span<T> gradient) const;
  void undo_relu(const Workspace<T>& workspace, std::size_t index, std::size_t num_rows,
                 std::span<const HeadRange> ranges, T* layer_gradient, std::span<T> gradient) const;
  const T* backward_thin(Workspace<T>& workspace, std::size_t index, std::size_t num_rows,
                         std::span<const HeadRange> ranges, std::span<T> gradient) const;
  bool is_thin(const Layer& layer) const;

  NetworkShape shape_;
  HeadRange all_heads_;
  std::vector<Layer> layers_;
  std::vector<Tensor> tensors_;
  std::vector<T> parameters_;
};

extern template class Workspace<float>;
extern template class Workspace<double>;
extern template class Network<float>;
extern template class Network<double>;

}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/nn/gemm.h"
#include "dfcl/nn/strip_product.h"
#include "dfcl/nn/wide_loops.h"

namespace dfcl::nn {
namespace {

void check_shape(const NetworkShape& shape) {
  const auto refuse = [](const char* what) {
    throw core::Error({.kind = core::ErrorKind::usage, .what = what, .expected = "at least 1"});
  };
  if (shape.inputs == 0) refuse("a network needs inputs");
  if (shape.num_heads == 0 || shape.outputs_per_head == 0) refuse("a network needs outputs");
  for (const auto* widths : {&shape.shared, &shape.head_hidden}) {
    if (std::ranges::find(*widths, std::size_t{0}) != widths->end()) refuse("a hidden layer has no units");
  }
}

// The next multiple of 64 bytes, where lines of the cache start.
template <class T>
T* start_of_line(T* data) {
  return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(data) + 63) / 64 * 64);
}

}  // namespace

template <class T>
Workspace<T>::Workspace(const NetworkShape& shape)
    : inputs_(kTileRows, shape.inputs), output_gradient_(shape.num_outputs(), kTileRows) {
  std::size_t widest = 1;
  for (const std::size_t width : shape.shared) wide_.emplace_back(width, kTileRows);
  for (const std::size_t width : shape.head_hidden) wide_.emplace_back(shape.num_heads * width, kTileRows);
  for (const auto& activations : wide_) widest = std::max(widest, activations.rows());
  std::size_t num_features = shape.inputs;
  for (const auto& activations : wide_) num_features += activations.rows();
  strips_ = core::Matrix<T>(num_features + 1, kStripRows);  // one more, to start at a multiple of 64 bytes
  wide_.emplace_back(shape.num_outputs(), kTileRows);
  for (auto& gradient : gradient_) gradient = core::Matrix<T>(widest, kTileRows);
  // Heads that are skipped leave their part as it was, and rows that pad a tile are computed too: start from numbers.
  std::fill_n(inputs_.data(), inputs_.rows() * inputs_.cols(), T(0));
  std::fill_n(output_gradient_.data(), output_gradient_.rows() * kTileRows, T(0));
  for (auto& activations : wide_) std::fill_n(activations.data(), activations.rows() * kTileRows, T(0));
}

template <class T>
Network<T>::Network(const NetworkShape& shape) : shape_(shape), all_heads_{0, shape.num_heads} {
  check_shape(shape);
  add_layers();
  add_tensors();
}

template <class T>
void Network<T>::add_layers() {
  std::size_t offset = 0;
  const auto add = [&](std::size_t groups, std::size_t inputs, std::size_t outputs, bool common_input, bool is_output) {
    const std::size_t weight = offset;
    const std::size_t bias = weight + groups * outputs * inputs;
    offset = bias + groups * outputs;
    layers_.push_back({groups, inputs, outputs, common_input, is_output, weight, bias});
  };
  std::size_t width = shape_.inputs;
  for (const std::size_t outputs : shape_.shared) {
    add(1, width, outputs, true, false);
    width = outputs;
  }
  bool common_input = true;
  for (const std::size_t outputs : shape_.head_hidden) {
    add(shape_.num_heads, width, outputs, common_input, false);
    width = outputs;
    common_input = false;
  }
  add(shape_.num_heads, width, shape_.outputs_per_head, common_input, true);
  parameters_.assign(offset, T(0));
}

template <class T>
void Network<T>::add_tensors() {
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    const bool shared = index < shape_.shared.size();
    for (std::size_t group = 0; group < layer.groups; ++group) {
      const std::string name =
          shared ? fmt::format("shared.{}", index) : fmt::format("heads.{}.{}", group, index - shape_.shared.size());
      tensors_.push_back(
          {name + ".weight", layer.outputs, layer.inputs, layer.weight + group * layer.outputs * layer.inputs});
      tensors_.push_back({name + ".bias", layer.outputs, 1, layer.bias + group * layer.outputs});
    }
  }
}

template <class T>
void Network<T>::initialise(std::uint64_t seed) {
  std::ranges::fill(parameters_, T(0));
  std::uint64_t stream_index = 0;
  for (const Layer& layer : layers_) {
    const double deviation = std::sqrt((layer.is_output ? 1.0 : 2.0) / static_cast<double>(layer.inputs));
    for (std::size_t group = 0; group < layer.groups; ++group) {
      core::RandomStream random(seed, core::stream_purpose("network weights"), stream_index++);
      T* weight = parameters_.data() + layer.weight + group * layer.outputs * layer.inputs;
      for (std::size_t i = 0; i < layer.outputs * layer.inputs; ++i) {
        weight[i] = static_cast<T>(deviation * random.normal());
      }
    }
  }
}

template <class T>
typename Network<T>::Activations Network<T>::input_of(const Workspace<T>& workspace, std::size_t layer,
                                                      std::size_t first_feature) const {
  if (layer == 0) return {workspace.inputs_.data(), false, shape_.inputs};
  return {workspace.wide_[layer - 1].data() + first_feature * kTileRows, true, kTileRows};
}

template <class T>
bool Network<T>::is_thin(const Layer& layer) const {
  const bool reads_hidden = layers_.size() > 1;
  return layer.is_output && layer.outputs == 1 && reads_hidden && (layer.groups == 1 || !layer.common_input);
}

template <class T>
void Network<T>::forward_block(const Layer& layer, HeadRange groups, Activations input, std::size_t num_rows,
                               T* output) const {
  const T* weight = parameters_.data() + layer.weight + groups.first * layer.outputs * layer.inputs;
  const T* bias = parameters_.data() + layer.bias + groups.first * layer.outputs;
  if (is_thin(layer)) {
    thin_forward(layer.inputs, num_rows, weight, *bias, input.data, output);
    return;
  }
  const std::size_t outputs = groups.count * layer.outputs;
  multiply(outputs, num_rows, layer.inputs, Factor<T>{weight, layer.inputs},
           Factor<T>{input.data, input.stride, !input.wide}, false, output, kTileRows);
  add_bias(outputs, num_rows, bias, !layer.is_output, output);
}

template <class T>
void Network<T>::forward(Workspace<T>& workspace, std::size_t num_rows, std::span<const HeadRange> heads) const {
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    T* output = workspace.wide_[index].data();
    if (index < shape_.shared.size()) {
      forward_block(layer, {0, 1}, input_of(workspace, index, 0), num_rows, output);
      continue;
    }
    for (const HeadRange& range : heads) {
      if (layer.common_input) {
        forward_block(layer, range, input_of(workspace, index, 0), num_rows,
                      output + range.first * layer.outputs * kTileRows);
        continue;
      }
      for (std::size_t head = range.first; head < range.first + range.count; ++head) {
        forward_block(layer, {head, 1}, input_of(workspace, index, head * layer.inputs), num_rows,
                      output + head * layer.outputs * kTileRows);
      }
    }
  }
}

template <class T>
void Network<T>::predict(Workspace<T>& workspace, std::size_t num_rows) const {
  for (std::size_t first = 0; first < num_rows; first += kStripRows) {
    T* input = start_of_line(workspace.strips_.data());
    fill_strip(workspace.inputs().slice(first, std::min(kStripRows, num_rows - first)), input);
    T* hidden = input + shape_.inputs * kStripRows;
    for (std::size_t index = 0; index < layers_.size(); ++index) {
      const Layer& layer = layers_[index];
      const std::size_t stride = layer.is_output ? kTileRows : kStripRows;
      T* output = layer.is_output ? workspace.outputs().data + first : hidden;
      const std::size_t blocks = layer.common_input ? 1 : layer.groups;
      const std::size_t outputs = layer.groups / blocks * layer.outputs;
      for (std::size_t block = 0; block < blocks; ++block) {
        const StripLayer<T> part{.outputs = outputs,
                                 .inputs = layer.inputs,
                                 .weight = parameters_.data() + layer.weight + block * outputs * layer.inputs,
                                 .bias = parameters_.data() + layer.bias + block * outputs,
                                 .relu = !layer.is_output,
                                 .bias_first = is_thin(layer)};  // as forward does
        strip_product(part, input + block * layer.inputs * kStripRows, output + block * outputs * stride, stride);
      }
      input = output;
      hidden += layer.groups * layer.outputs * kStripRows;
    }
  }
}

template <class T>
void Network<T>::backward_block(const Layer& layer, HeadRange groups, Activations input, const T* output_gradient,
                                std::size_t num_rows, bool add_input_gradient, T* input_gradient,
                                std::span<T> gradient) const {
  const std::size_t offset = layer.weight + groups.first * layer.outputs * layer.inputs;
  const std::size_t outputs = groups.count * layer.outputs;
  multiply(outputs, layer.inputs, num_rows, Factor<T>{output_gradient, kTileRows},
           Factor<T>{input.data, input.stride, input.wide}, true, gradient.data() + offset, layer.inputs);
  if (input_gradient == nullptr) return;
  multiply(layer.inputs, num_rows, outputs, Factor<T>{parameters_.data() + offset, layer.inputs, true},
           Factor<T>{output_gradient, kTileRows}, add_input_gradient, input_gradient, kTileRows);
}

// The gradient of the layer at hand is that of its sums before the ReLU. The biases of a hidden layer get theirs where
// its ReLU is undone, those of the output layer at the start.
template <class T>
void Network<T>::backward(Workspace<T>& workspace, std::size_t num_rows, std::span<const HeadRange> heads,
                          std::span<T> gradient) const {
  const HeadRange trunk[1] = {{0, 1}};
  const T* current = workspace.output_gradient_.data();
  for (const HeadRange& range : heads) {
    const std::size_t first = range.first * shape_.outputs_per_head;
    add_row_sums(range.count * shape_.outputs_per_head, num_rows, current + first * kTileRows,
                 gradient.data() + layers_.back().bias + first);
  }
  for (std::size_t index = layers_.size(); index-- > 0;) {
    const Layer& layer = layers_[index];
    const bool in_heads = index >= shape_.shared.size();
    const std::span<const HeadRange> ranges = in_heads ? heads : std::span<const HeadRange>(trunk);
    if (is_thin(layer)) {
      current = backward_thin(workspace, index, num_rows, ranges, gradient);
      continue;
    }
    T* before = index == 0 ? nullptr : workspace.gradient_[index % 2].data();
    bool add = false;
    for (const HeadRange& range : ranges) {
      if (layer.common_input) {
        backward_block(layer, range, input_of(workspace, index, 0), current + range.first * layer.outputs * kTileRows,
                       num_rows, add, before, gradient);
        add = true;
        continue;
      }
      for (std::size_t head = range.first; head < range.first + range.count; ++head) {
        backward_block(layer, {head, 1}, input_of(workspace, index, head * layer.inputs),
                       current + head * layer.outputs * kTileRows, num_rows, false,
                       before + head * layer.inputs * kTileRows, gradient);
      }
    }
    if (before != nullptr) undo_relu(workspace, index - 1, num_rows, ranges, before, gradient);
    current = before;
  }
}

// Through the ReLU of layer `index`, of which layer `index + 1` used the groups of `ranges`.
template <class T>
void Network<T>::undo_relu(const Workspace<T>& workspace, std::size_t index, std::size_t num_rows,
                           std::span<const HeadRange> ranges, T* layer_gradient, std::span<T> gradient) const {
  const Layer& layer = layers_[index];
  const auto undo = [&](std::size_t first, std::size_t count) {
    mask_gradient(count, num_rows, workspace.wide_[index].data() + first * kTileRows,
                  layer_gradient + first * kTileRows, gradient.data() + layer.bias + first);
  };
  if (layers_[index + 1].common_input) {
    undo(0, layer.outputs);
    return;
  }
  for (const HeadRange& range : ranges) undo(range.first * layer.outputs, range.count * layer.outputs);
}

// An output layer of one number a head, with the ReLU before it: the activations of that layer become their gradient.
template <class T>
const T* Network<T>::backward_thin(Workspace<T>& workspace, std::size_t index, std::size_t num_rows,
                                   std::span<const HeadRange> ranges, std::span<T> gradient) const {
  const Layer& layer = layers_[index];
  T* activations = workspace.wide_[index - 1].data();
  for (const HeadRange& range : ranges) {
    for (std::size_t head = range.first; head < range.first + range.count; ++head) {
      const std::size_t first = head * layer.inputs;
      thin_backward(layer.inputs, num_rows, parameters_.data() + layer.weight + first,
                    workspace.output_gradient_.data() + head * kTileRows, activations + first * kTileRows,
                    gradient.data() + layer.weight + first, gradient.data() + layers_[index - 1].bias + first);
    }
  }
  return activations;
}

template class Workspace<float>;
template class Workspace<double>;
template class Network<float>;
template class Network<double>;

}  // namespace dfcl::nn

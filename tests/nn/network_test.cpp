// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "tests/gradient_check.h"

namespace dfcl::nn {
namespace {

constexpr std::uint64_t kSeed = 11;

const NetworkShape kTrunk{.inputs = 7, .shared = {9, 6, 5}, .num_heads = 1, .head_hidden = {}, .outputs_per_head = 4};
const NetworkShape kHeads{.inputs = 5, .shared = {8}, .num_heads = 4, .head_hidden = {6}, .outputs_per_head = 1};
const NetworkShape kDeepHeads{
    .inputs = 5, .shared = {8, 7}, .num_heads = 3, .head_hidden = {6, 4}, .outputs_per_head = 2};
const NetworkShape kOnlyHeads{.inputs = 5, .shared = {}, .num_heads = 2, .head_hidden = {6}, .outputs_per_head = 1};
const NetworkShape kLinearHeads{.inputs = 5, .shared = {8}, .num_heads = 3, .head_hidden = {}, .outputs_per_head = 1};
const NetworkShape kOneOutput{.inputs = 5, .shared = {8, 4}, .num_heads = 1, .head_hidden = {}, .outputs_per_head = 1};
const NetworkShape kLinear{.inputs = 5, .shared = {}, .num_heads = 2, .head_hidden = {}, .outputs_per_head = 1};
const NetworkShape kCriteo{.inputs = 12, .shared = {128}, .num_heads = 4, .head_hidden = {64}, .outputs_per_head = 1};
const NetworkShape kMarketing{
    .inputs = 107, .shared = {64, 32, 32}, .num_heads = 1, .head_hidden = {}, .outputs_per_head = 10};

template <class T>
void fill_randomly(std::span<T> values, std::uint64_t index) {
  core::RandomStream random(kSeed, core::stream_purpose("network test"), index);
  for (T& value : values) value = static_cast<T>(random.normal());
}

template <class T>
std::span<T> all(core::MatrixView<T> matrix) {
  return {matrix.data, matrix.size()};
}

template <class T>
Network<T> random_network(const NetworkShape& shape) {
  Network<T> network(shape);
  network.initialise(kSeed);
  for (const Tensor& tensor : network.tensors()) {  // biases too
    if (tensor.cols == 1) fill_randomly(network.parameters().subspan(tensor.offset, tensor.size()), tensor.offset);
  }
  return network;
}

// loss = sum over the rows and active heads of coefficient x output.
void check_gradient(const NetworkShape& shape, std::vector<HeadRange> heads, std::size_t num_rows) {
  Network<double> network = random_network<double>(shape);
  Workspace<double> workspace(shape);
  std::vector<double> inputs(kTileRows * shape.inputs);
  fill_randomly<double>(inputs, 1);
  std::vector<double> coefficients(shape.num_outputs() * kTileRows, 0.0);
  for (const HeadRange& range : heads) {
    const std::size_t first = range.first * shape.outputs_per_head;
    for (std::size_t output = first; output < first + range.count * shape.outputs_per_head; ++output) {
      fill_randomly(std::span(coefficients).subspan(output * kTileRows, num_rows), 100 + output);
    }
  }
  const auto value = [&] {
    std::ranges::copy(inputs, workspace.inputs().data);
    network.forward(workspace, num_rows, heads);
    double sum = 0.0;
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      if (coefficients[i] != 0.0) sum += coefficients[i] * workspace.outputs().data[i];
    }
    return sum;
  };
  value();
  std::vector<double> gradient(network.num_parameters(), 0.0);
  std::ranges::copy(coefficients, workspace.output_gradient().data);
  network.backward(workspace, num_rows, heads, gradient);
  expect_gradient(network.parameters(), gradient, value, through_corners());
}

TEST(NetworkTest, gradients_equal_symmetric_differences_for_every_shape) {
  for (const NetworkShape& shape : {kTrunk, kHeads, kDeepHeads, kOnlyHeads, kLinearHeads, kOneOutput, kLinear}) {
    check_gradient(shape, {{0, shape.num_heads}}, 32);
  }
}

TEST(NetworkTest, gradients_equal_symmetric_differences_where_heads_are_skipped) {
  check_gradient(kHeads, {{0, 1}, {2, 2}}, 64);
  check_gradient(kDeepHeads, {{0, 1}, {2, 1}}, 32);
  check_gradient(kOnlyHeads, {{1, 1}}, 32);
  check_gradient(kLinearHeads, {{0, 1}, {2, 1}}, 32);
}

// The same numbers by the plainest loops.
std::vector<double> plain_outputs(const Network<double>& network, std::span<const double> input) {
  const auto layer = [&](const std::string& name, const std::vector<double>& from, bool relu) {
    const auto tensor = [&](const std::string& what) {
      return *std::ranges::find(network.tensors(), name + what, &Tensor::name);
    };
    const Tensor weight = tensor(".weight");
    const Tensor bias = tensor(".bias");
    std::vector<double> to(weight.rows);
    for (std::size_t i = 0; i < weight.rows; ++i) {
      to[i] = network.parameters()[bias.offset + i];
      for (std::size_t j = 0; j < weight.cols; ++j) {
        to[i] += network.parameters()[weight.offset + i * weight.cols + j] * from[j];
      }
      if (relu) to[i] = std::max(to[i], 0.0);
    }
    return to;
  };
  const NetworkShape& shape = network.shape();
  std::vector<double> trunk(input.begin(), input.end());
  for (std::size_t i = 0; i < shape.shared.size(); ++i) trunk = layer("shared." + std::to_string(i), trunk, true);
  std::vector<double> outputs;
  for (std::size_t head = 0; head < shape.num_heads; ++head) {
    std::vector<double> values = trunk;
    for (std::size_t i = 0; i <= shape.head_hidden.size(); ++i) {
      values = layer("heads." + std::to_string(head) + "." + std::to_string(i), values, i < shape.head_hidden.size());
    }
    outputs.insert(outputs.end(), values.begin(), values.end());
  }
  return outputs;
}

TEST(NetworkTest, outputs_equal_those_of_plain_loops) {
  for (const NetworkShape& shape :
       {kTrunk, kHeads, kDeepHeads, kOnlyHeads, kLinearHeads, kOneOutput, kLinear, kCriteo}) {
    const Network<double> network = random_network<double>(shape);
    Workspace<double> workspace(shape);
    fill_randomly(all(workspace.inputs()), 1);
    network.forward(workspace, kTileRows, network.all_heads());
    for (const std::size_t row : {std::size_t{0}, std::size_t{17}, kTileRows - 1}) {
      const std::vector<double> expected = plain_outputs(network, workspace.inputs().row(row));
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(workspace.outputs()(i, row), expected[i], 1e-12);
    }
    constexpr std::size_t kSomeRows = 101;  // no multiple of anything
    std::ranges::fill(all(workspace.outputs()), 0.0);
    network.predict(workspace, kSomeRows);
    for (const std::size_t row : {std::size_t{0}, std::size_t{63}, std::size_t{64}, kSomeRows - 1}) {
      const std::vector<double> expected = plain_outputs(network, workspace.inputs().row(row));
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(workspace.outputs()(i, row), expected[i], 1e-12);
    }
  }
}

TEST(NetworkTest, predicted_outputs_of_a_row_do_not_depend_on_its_place_or_neighbours) {
  for (const NetworkShape& shape : {kTrunk, kHeads, kCriteo, kMarketing}) {
    const Network<float> network = random_network<float>(shape);
    Workspace<float> workspace(shape);
    std::vector<float> input(shape.inputs);
    fill_randomly<float>(input, 1);
    std::vector<float> first;
    for (std::size_t place = 0; place < kTileRows; place += 5) {
      fill_randomly(all(workspace.inputs()), 2 + place);
      std::ranges::copy(input, workspace.inputs().row(place).begin());
      network.predict(workspace, std::min(kTileRows, place + 1 + place % 7));
      std::vector<float> outputs;
      for (std::size_t i = 0; i < shape.num_outputs(); ++i) outputs.push_back(workspace.outputs()(i, place));
      if (first.empty()) first = outputs;
      ASSERT_EQ(std::memcmp(outputs.data(), first.data(), outputs.size() * sizeof(float)), 0) << "place " << place;
    }
  }
}

TEST(NetworkTest, tensors_tile_the_parameters_without_holes) {
  const Network<float> network(kDeepHeads);
  std::vector<Tensor> tensors = network.tensors();
  std::ranges::sort(tensors, {}, &Tensor::offset);
  std::size_t end = 0;
  std::set<std::string> names;
  for (const Tensor& tensor : tensors) {
    EXPECT_EQ(tensor.offset, end) << tensor.name;
    end += tensor.size();
    names.insert(tensor.name);
  }
  EXPECT_EQ(end, network.num_parameters());
  EXPECT_EQ(names.size(), tensors.size());
  EXPECT_TRUE(names.contains("shared.1.weight"));
  EXPECT_TRUE(names.contains("heads.2.1.bias"));
}

TEST(NetworkTest, weights_have_the_variance_of_he_and_differ_between_tensors_and_seeds) {
  Network<float> network(kCriteo);
  network.initialise(3);
  const std::vector<float> first(network.parameters().begin(), network.parameters().end());
  for (const Tensor& tensor : network.tensors()) {
    double squares = 0.0;
    for (const float value : network.parameters().subspan(tensor.offset, tensor.size())) squares += value * value;
    const double is_output = tensor.rows == 1 ? 1.0 : 2.0;
    const double expected = tensor.cols == 1 ? 0.0 : is_output / static_cast<double>(tensor.cols);
    const double tolerance = 6.0 * expected * std::sqrt(2.0 / static_cast<double>(tensor.size()));
    EXPECT_NEAR(squares / static_cast<double>(tensor.size()), expected, tolerance) << tensor.name;
  }
  network.initialise(3);
  EXPECT_TRUE(std::ranges::equal(first, network.parameters()));
  network.initialise(4);
  EXPECT_FALSE(std::ranges::equal(first, network.parameters()));
}

TEST(NetworkTest, a_shape_with_an_empty_layer_is_refused) {
  EXPECT_THROW(Network<float>({.inputs = 3, .shared = {4, 0}}), core::Error);
  EXPECT_THROW(Network<float>({.inputs = 0, .shared = {4}}), core::Error);
  EXPECT_THROW(Network<float>({.inputs = 2, .shared = {4}, .num_heads = 0}), core::Error);
}

}  // namespace
}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
//
// A network with its two outcome heads: features in, revenue and cost of every arm out. What training moves and
// prediction runs. Memory: the parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/nn/network.h"
#include "dfcl/nn/outcome_head.h"
#include "dfcl/nn/workspace_pool.h"  // for callers that lend tile workspaces

namespace dfcl::nn {

struct OutcomeNetworkOptions {
  std::size_t inputs = 0;
  std::vector<std::size_t> shared = {};  // hidden layers of the trunk
  // Hidden layers of a head for every raw output; without a value, all outputs are one linear layer on the trunk.
  std::optional<std::vector<std::size_t>> heads = {};
  OutcomeOptions revenue;
  OutcomeOptions cost;

  bool operator==(const OutcomeNetworkOptions&) const = default;
};

template <class T>
class OutcomeNetwork {
 public:
  explicit OutcomeNetwork(const OutcomeNetworkOptions& options);

  Network<T>& network() { return network_; }
  const Network<T>& network() const { return network_; }
  const OutcomeHead<T>& revenue() const { return revenue_; }
  const OutcomeHead<T>& cost() const { return cost_; }
  // The network's output that is raw output i of the head. With heads, those of one arm are neighbours.
  std::span<const std::size_t> revenue_outputs() const { return revenue_outputs_; }
  std::span<const std::size_t> cost_outputs() const { return cost_outputs_; }
  // The network's heads that the predictions of one arm depend on; one range for all where heads cannot be skipped.
  std::vector<HeadRange> heads_of(std::size_t arm) const;
  bool can_skip_heads() const { return network_.shape().num_heads > 1; }

 private:
  OutcomeHead<T> revenue_;
  OutcomeHead<T> cost_;
  Network<T> network_;
  std::vector<std::size_t> revenue_outputs_;
  std::vector<std::size_t> cost_outputs_;
};

// Everything a thread needs for one tile of rows. About 1 MB for the networks of the published tables.
template <class T>
class TileWorkspace {
 public:
  explicit TileWorkspace(const OutcomeNetwork<T>& model);

  core::MatrixView<T> inputs() { return network_.inputs(); }
  core::MatrixView<T> revenue() { return revenue_.view(); }                    // kTileRows x arms, after forward
  core::MatrixView<T> cost() { return cost_.view(); }                          // kTileRows x arms, after forward
  core::MatrixView<T> revenue_gradient() { return revenue_gradient_.view(); }  // to be filled before backward
  core::MatrixView<T> cost_gradient() { return cost_gradient_.view(); }        // to be filled before backward

  // Predictions of the first num_rows rows, computed on num_computed (a multiple of kRowStep; the rows after num_rows
  // are set to zero inputs). With `only`, of that arm alone, through the heads given.
  void forward(const OutcomeNetwork<T>& model, std::size_t num_rows, std::size_t num_computed,
               std::optional<std::size_t> only, std::span<const HeadRange> heads);
  // After forward with the same arguments: adds the gradient of the parameters.
  void backward(const OutcomeNetwork<T>& model, std::size_t num_rows, std::size_t num_computed,
                std::optional<std::size_t> only, std::span<const HeadRange> heads, std::span<T> gradient);
  // Predictions of the first num_rows rows, nothing kept for backward (Network::predict).
  void predict(const OutcomeNetwork<T>& model, std::size_t num_rows);

 private:
  Workspace<T> network_;
  HeadWorkspace<T> revenue_head_;
  HeadWorkspace<T> cost_head_;
  core::Matrix<T> revenue_;
  core::Matrix<T> cost_;
  core::Matrix<T> revenue_gradient_;
  core::Matrix<T> cost_gradient_;
  std::vector<const T*> revenue_raw_;
  std::vector<const T*> cost_raw_;
  std::vector<T*> revenue_raw_gradient_;
  std::vector<T*> cost_raw_gradient_;
};

// Fills inputs (rows x inputs) with the rows first, first + 1, ... of the units.
template <class T>
using FillRange = std::function<void(std::size_t first, core::MatrixView<T> inputs)>;

// Revenue and cost (rows x arms) of all units, by all threads. The numbers of a unit depend on nothing but its inputs.
template <class T>
void predict(core::RunContext& context, const OutcomeNetwork<T>& model, std::size_t num_rows,
             const FillRange<T>& fill_inputs, core::MatrixView<T> revenue, core::MatrixView<T> cost);

extern template class OutcomeNetwork<float>;
extern template class OutcomeNetwork<double>;
extern template class TileWorkspace<float>;
extern template class TileWorkspace<double>;

}  // namespace dfcl::nn

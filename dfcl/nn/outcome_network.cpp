// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/outcome_network.h"

#include <algorithm>
#include <memory>

#include "dfcl/core/parallel.h"

namespace dfcl::nn {
namespace {

template <class T>
NetworkShape shape_of(const OutcomeNetworkOptions& options, const OutcomeHead<T>& revenue, const OutcomeHead<T>& cost) {
  const std::size_t outputs = revenue.num_outputs() + cost.num_outputs();
  NetworkShape shape{.inputs = options.inputs, .shared = options.shared};
  if (options.heads) {
    shape.num_heads = outputs;
    shape.head_hidden = *options.heads;
  } else {
    shape.outputs_per_head = outputs;
  }
  return shape;
}

}  // namespace

template <class T>
OutcomeNetwork<T>::OutcomeNetwork(const OutcomeNetworkOptions& options)
    : revenue_(options.revenue), cost_(options.cost), network_(shape_of(options, revenue_, cost_)) {
  const std::size_t num_revenue = revenue_.num_outputs();
  const std::size_t num_cost = cost_.num_outputs();
  if (!options.heads) {
    for (std::size_t i = 0; i < num_revenue; ++i) revenue_outputs_.push_back(i);
    for (std::size_t i = 0; i < num_cost; ++i) cost_outputs_.push_back(num_revenue + i);
    return;
  }
  // Counted from the last arm, because a free control has no output.
  const std::size_t most = std::max(num_revenue, num_cost);
  std::size_t next = 0;
  for (std::size_t place = 0; place < most; ++place) {
    if (place + num_revenue >= most) revenue_outputs_.push_back(next++);
    if (place + num_cost >= most) cost_outputs_.push_back(next++);
  }
}

template <class T>
std::vector<HeadRange> OutcomeNetwork<T>::heads_of(std::size_t arm) const {
  if (!can_skip_heads()) return {network_.all_heads()[0]};
  std::vector<std::size_t> heads;
  if (arm < revenue_.num_arms()) {
    for (const std::size_t output : revenue_.outputs_of(arm)) heads.push_back(revenue_outputs_[output]);
  }
  if (arm < cost_.num_arms()) {
    for (const std::size_t output : cost_.outputs_of(arm)) heads.push_back(cost_outputs_[output]);
  }
  std::ranges::sort(heads);
  std::vector<HeadRange> ranges;
  for (const std::size_t head : heads) {
    if (!ranges.empty() && ranges.back().first + ranges.back().count == head) {
      ++ranges.back().count;
    } else {
      ranges.push_back({head, 1});
    }
  }
  return ranges;
}

template <class T>
TileWorkspace<T>::TileWorkspace(const OutcomeNetwork<T>& model)
    : network_(model.network().shape()),
      revenue_head_(model.revenue().num_arms()),
      cost_head_(model.cost().num_arms()),
      revenue_(kTileRows, model.revenue().num_arms()),
      cost_(kTileRows, model.cost().num_arms()),
      revenue_gradient_(kTileRows, model.revenue().num_arms()),
      cost_gradient_(kTileRows, model.cost().num_arms()) {
  for (auto* matrix : {&revenue_, &cost_}) std::fill_n(matrix->data(), matrix->rows() * matrix->cols(), T(0));
  for (const std::size_t output : model.revenue_outputs()) {
    revenue_raw_.push_back(network_.outputs().row(output).data());
    revenue_raw_gradient_.push_back(network_.output_gradient().row(output).data());
  }
  for (const std::size_t output : model.cost_outputs()) {
    cost_raw_.push_back(network_.outputs().row(output).data());
    cost_raw_gradient_.push_back(network_.output_gradient().row(output).data());
  }
}

template <class T>
void TileWorkspace<T>::forward(const OutcomeNetwork<T>& model, std::size_t num_rows, std::size_t num_computed,
                               std::optional<std::size_t> only, std::span<const HeadRange> heads) {
  const core::MatrixView<T> padding = network_.inputs().slice(num_rows, num_computed - num_rows);
  std::fill_n(padding.data, padding.size(), T(0));
  model.network().forward(network_, num_computed, heads);
  model.revenue().forward(revenue_raw_, num_rows, only, revenue_head_, revenue_.view());
  model.cost().forward(cost_raw_, num_rows, only, cost_head_, cost_.view());
}

template <class T>
void TileWorkspace<T>::backward(const OutcomeNetwork<T>& model, std::size_t num_rows, std::size_t num_computed,
                                std::optional<std::size_t> only, std::span<const HeadRange> heads,
                                std::span<T> gradient) {
  model.revenue().backward(revenue_raw_, num_rows, only, revenue_.view(), revenue_gradient_.view(), revenue_head_,
                           revenue_raw_gradient_);
  model.cost().backward(cost_raw_, num_rows, only, cost_.view(), cost_gradient_.view(), cost_head_, cost_raw_gradient_);
  if (num_computed > num_rows) {
    for (std::size_t output = 0; output < network_.output_gradient().rows; ++output) {
      std::fill_n(&network_.output_gradient()(output, num_rows), num_computed - num_rows, T(0));
    }
  }
  model.network().backward(network_, num_computed, heads, gradient);
}

template <class T>
void TileWorkspace<T>::predict(const OutcomeNetwork<T>& model, std::size_t num_rows) {
  model.network().predict(network_, num_rows);
  model.revenue().forward(revenue_raw_, num_rows, {}, revenue_head_, revenue_.view());
  model.cost().forward(cost_raw_, num_rows, {}, cost_head_, cost_.view());
}

template <class T>
void predict(core::RunContext& context, const OutcomeNetwork<T>& model, std::size_t num_rows,
             const FillRange<T>& fill_inputs, core::MatrixView<T> revenue, core::MatrixView<T> cost) {
  WorkspacePool<TileWorkspace<T>> workspaces([&] { return std::make_unique<TileWorkspace<T>>(model); });
  constexpr std::size_t kChunkRows = 16 * kTileRows;
  core::for_each_chunk(context, num_rows, kChunkRows, [&](std::size_t begin, std::size_t end, std::size_t) {
    typename WorkspacePool<TileWorkspace<T>>::Loan loan(workspaces);
    TileWorkspace<T>& workspace = *loan;
    for (std::size_t first = begin; first < end; first += kTileRows) {
      const std::size_t count = std::min(kTileRows, end - first);
      fill_inputs(first, workspace.inputs().slice(0, count));
      workspace.predict(model, count);
      std::copy_n(workspace.revenue().data, count * revenue.cols, revenue.data + first * revenue.cols);
      std::copy_n(workspace.cost().data, count * cost.cols, cost.data + first * cost.cols);
    }
  });
}

template class OutcomeNetwork<float>;
template class OutcomeNetwork<double>;
template class TileWorkspace<float>;
template class TileWorkspace<double>;
template void predict(core::RunContext&, const OutcomeNetwork<float>&, std::size_t, const FillRange<float>&,
                      core::MatrixView<float>, core::MatrixView<float>);
template void predict(core::RunContext&, const OutcomeNetwork<double>&, std::size_t, const FillRange<double>&,
                      core::MatrixView<double>, core::MatrixView<double>);

}  // namespace dfcl::nn

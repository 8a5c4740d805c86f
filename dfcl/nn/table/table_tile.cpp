// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/table_tile.h"

#include <algorithm>

#include "dfcl/nn/table/panel_product.h"

namespace dfcl::nn {
namespace {

// Rows that products compute.
constexpr std::size_t padded(std::size_t rows) { return (rows + kBlockRows - 1) / kBlockRows * kBlockRows; }

template <class T>
void clear(T* data, std::size_t size) {
  std::fill_n(data, size, T(0));
}

}  // namespace

template <class T>
TableTile<T>::TableTile(const TableNetwork<T>& network)
    : raw_(network.num_outputs(), kTileRows),
      raw_gradient_(network.num_outputs(), kTileRows),
      revenue_(kTileRows, network.revenue().num_arms()),
      cost_(kTileRows, network.cost().num_arms()),
      revenue_gradient_(kTileRows, network.revenue().num_arms()),
      cost_gradient_(kTileRows, network.cost().num_arms()),
      revenue_head_(network.revenue().num_arms()),
      cost_head_(network.cost().num_arms()) {
  for (AlignedBuffer<T>* buffer : {&hidden1_, &sums2_, &hidden2_, &gradient1_, &gradient2_, &columns_, &panels_})
    *buffer = AlignedBuffer<T>(kTileRows * network.width());
  const std::size_t num_revenue = network.revenue().num_outputs();
  for (std::size_t output = 0; output < network.num_outputs(); ++output) {
    const bool is_revenue = output < num_revenue;
    (is_revenue ? revenue_raw_ : cost_raw_).push_back(raw_.row(output).data());
    (is_revenue ? revenue_raw_gradient_ : cost_raw_gradient_).push_back(raw_gradient_.row(output).data());
  }
}

template <class T>
MemberRows TableTile<T>::rows_of(const TableNetwork<T>& network, std::size_t num_units, std::size_t member,
                                 std::uint32_t first_unit) const {
  const auto members = static_cast<std::uint32_t>(network.members());
  return {num_units, network.width(), first_unit * members + static_cast<std::uint32_t>(member), members};
}

template <class T>
void TableTile<T>::forward(const TableNetwork<T>& network, const T* sums, std::size_t num_units,
                           const TileDropout& dropout) {
  const TableLayout& layout = network.layout();
  const T* const parameters = network.parameters().data();
  const std::size_t width = network.width();
  const std::size_t num_outputs = network.num_outputs();
  const std::size_t num_rows = num_units * network.members();
  for (std::size_t member = 0; member < network.members(); ++member) {
    const std::size_t place = member * width;
    const MemberLayer<T> layer{parameters + layout.scale1 + place, parameters + layout.bias1 + place,
                               parameters + layout.sign + place};
    member_forward(rows_of(network, num_units, member, dropout.first_unit), dropout.first, layer, sums,
                   hidden1_.data() + member * num_units * width);
  }
  clear(hidden1_.data() + num_rows * width, (padded(num_rows) - num_rows) * width);
  panel_product({padded(num_rows), width, width}, hidden1_.data(), width, network.second_panels(), sums2_.data(),
                width);
  for (std::size_t member = 0; member < network.members(); ++member) {
    const std::size_t place = member * width;
    const std::size_t row = member * num_units;
    const MemberLayer<T> layer{parameters + layout.scale2 + place, parameters + layout.bias2 + place, nullptr};
    member_forward(rows_of(network, num_units, member, dropout.first_unit), dropout.second, layer,
                   sums2_.data() + row * width, hidden2_.data() + row * width);
    outputs_forward({num_units, width, num_outputs, kTileRows}, hidden2_.data() + row * width,
                    parameters + layout.heads + place * num_outputs,
                    parameters + layout.head_bias + member * num_outputs, raw_.data() + row);
  }
  network.revenue().forward(revenue_raw_, num_rows, {}, revenue_head_, revenue_.view());
  network.cost().forward(cost_raw_, num_rows, {}, cost_head_, cost_.view());
}

// From the gradient of the predictions to that of the second layer's sums, in gradient2_.
template <class T>
void TableTile<T>::backward_outputs(const TableNetwork<T>& network, std::size_t num_units, const TileDropout& dropout,
                                    T* gradient) {
  const TableLayout& layout = network.layout();
  const T* const parameters = network.parameters().data();
  const std::size_t width = network.width();
  const std::size_t num_outputs = network.num_outputs();
  const std::size_t num_rows = num_units * network.members();
  const auto part = [&](std::size_t offset) { return gradient + (offset - layout.first_bias); };
  const OutcomeHead<T>& revenue = network.revenue();
  const OutcomeHead<T>& cost = network.cost();
  revenue.backward(revenue_raw_, num_rows, {}, std::as_const(revenue_).view(), std::as_const(revenue_gradient_).view(),
                   revenue_head_, revenue_raw_gradient_);
  cost.backward(cost_raw_, num_rows, {}, std::as_const(cost_).view(), std::as_const(cost_gradient_).view(), cost_head_,
                cost_raw_gradient_);
  for (std::size_t member = 0; member < network.members(); ++member) {
    const std::size_t place = member * width;
    const std::size_t row = member * num_units;
    T* const slopes = gradient2_.data() + row * width;
    outputs_backward({num_units, width, num_outputs, kTileRows}, hidden2_.data() + row * width,
                     parameters + layout.heads + place * num_outputs, raw_gradient_.data() + row, slopes,
                     part(layout.heads + place * num_outputs), part(layout.head_bias + member * num_outputs));
    second_backward(rows_of(network, num_units, member, dropout.first_unit), dropout.second,
                    parameters + layout.scale2 + place, sums2_.data() + row * width, hidden2_.data() + row * width,
                    slopes, part(layout.scale2 + place), part(layout.bias2 + place));
  }
  clear(gradient2_.data() + num_rows * width, (padded(num_rows) - num_rows) * width);
}

template <class T>
void TableTile<T>::backward(const TableNetwork<T>& network, const T* sums, std::size_t num_units,
                            const TileDropout& dropout, T* sums_gradient, T* gradient) {
  const TableLayout& layout = network.layout();
  const T* const parameters = network.parameters().data();
  const std::size_t width = network.width();
  const std::size_t num_rows = num_units * network.members();
  const auto part = [&](std::size_t offset) { return gradient + (offset - layout.first_bias); };
  backward_outputs(network, num_units, dropout, gradient);

  pack_columns(num_rows, width, hidden1_.data(), width, columns_.data());
  pack_panels(num_rows, width, gradient2_.data(), width, false, panels_.data());
  columns_product({width, width, num_rows}, columns_.data(), panels_.data(), part(layout.second), width);
  panel_product({padded(num_rows), width, width}, gradient2_.data(), width, network.transposed_panels(),
                gradient1_.data(), width);

  clear(sums_gradient, num_units * width);
  for (std::size_t member = 0; member < network.members(); ++member) {
    const std::size_t place = member * width;
    const std::size_t row = member * num_units * width;
    const MemberLayer<T> layer{parameters + layout.scale1 + place, parameters + layout.bias1 + place,
                               parameters + layout.sign + place};
    first_backward(rows_of(network, num_units, member, dropout.first_unit), dropout.first, layer, sums,
                   hidden1_.data() + row, gradient1_.data() + row,
                   {sums_gradient, part(layout.scale1 + place), part(layout.bias1 + place), part(layout.sign + place)});
  }
  T* const bias_gradient = part(layout.first_bias);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    for (std::size_t j = 0; j < width; ++j) bias_gradient[j] += sums_gradient[unit * width + j];
  }
}

template class TableTile<float>;
template class TableTile<double>;

}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/table_network.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/nn/table/lookup_layer.h"
#include "dfcl/nn/table/panel_product.h"

namespace dfcl::nn {
namespace {

bool is_valid(const TableEncoding& encoding, const TableOptions& options) {
  return options.width > 0 && options.width <= kMostTableWidth && options.width % kTableWidthStep == 0 &&
         options.members > 0 && options.members <= kMostTableMembers && encoding.num_weights() > 0 &&
         encoding.num_weights() <= kMostFirstWeights / options.width;
}

TableLayout layout_of(const TableEncoding& encoding, const TableOptions& options, std::size_t num_outputs) {
  TableLayout layout;
  const auto add = [&](std::size_t& offset, std::size_t size) {
    offset = layout.size;
    layout.size += size;
  };
  const std::size_t each = options.members * options.width;
  add(layout.first, encoding.num_weights() * options.width);
  add(layout.first_bias, options.width);
  add(layout.scale1, each);
  add(layout.bias1, each);
  add(layout.sign, each);
  add(layout.second, options.width * options.width);
  add(layout.scale2, each);
  add(layout.bias2, each);
  add(layout.heads, each * num_outputs);
  add(layout.head_bias, options.members * num_outputs);
  return layout;
}

// How many inputs the encodings stand for. A category has one at a time that is not 0, a number about half of its bins.
double num_inputs(const TableEncoding& encoding) {
  double count = 0.0;
  for (const TableColumn& column : encoding.columns())
    count += column.kind == TableColumnKind::category ? 2.0 : static_cast<double>(column.num_weights);
  return count;
}

}  // namespace

std::size_t num_table_parameters(const TableEncoding& encoding, const TableOptions& options) {
  if (!is_valid(encoding, options)) return 0;
  const std::size_t num_outputs =
      OutcomeHead<float>(options.revenue).num_outputs() + OutcomeHead<float>(options.cost).num_outputs();
  return layout_of(encoding, options, num_outputs).size;
}

template <class T>
TableNetwork<T>::TableNetwork(const TableEncoding& encoding, const TableOptions& options)
    : encoding_(&encoding), options_(options), revenue_(options.revenue), cost_(options.cost) {
  if (!is_valid(encoding, options)) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "a network for tables cannot have this size",
                       .hint = "[columns] min_level_units pools rare levels of categories"});
  }
  layout_ = layout_of(encoding, options, num_outputs());
  parameters_.assign(layout_.size, T(0));
  values_ = AlignedBuffer<T>((encoding.num_values() + 1) * width());
  second_panels_ = AlignedBuffer<T>(width() * width());
  transposed_panels_ = AlignedBuffer<T>(width() * width());
}

template <class T>
std::vector<Tensor> TableNetwork<T>::tensors() const {
  const std::size_t members = options_.members;
  return {{"first.weight", encoding_->num_weights(), width(), layout_.first},
          {"first.bias", 1, width(), layout_.first_bias},
          {"members.scale1", members, width(), layout_.scale1},
          {"members.bias1", members, width(), layout_.bias1},
          {"members.sign", members, width(), layout_.sign},
          {"second.weight", width(), width(), layout_.second},
          {"members.scale2", members, width(), layout_.scale2},
          {"members.bias2", members, width(), layout_.bias2},
          {"heads.weight", members * num_outputs(), width(), layout_.heads},
          {"heads.bias", members, num_outputs(), layout_.head_bias}};
}

template <class T>
void TableNetwork<T>::initialise(std::uint64_t seed) {
  std::ranges::fill(parameters_, T(0));
  const auto fill = [&](std::size_t offset, std::size_t size, std::uint64_t index, auto&& draw) {
    core::RandomStream random(seed, core::stream_purpose("table network weights"), index);
    for (std::size_t i = 0; i < size; ++i) parameters_[offset + i] = static_cast<T>(draw(random));
  };
  const std::size_t each = members() * width();
  const double bound1 = 1.0 / std::sqrt(num_inputs(*encoding_));
  const double bound2 = 1.0 / std::sqrt(static_cast<double>(width()));
  const auto first = [&](auto& random) { return random.uniform(-bound1, bound1); };
  fill(layout_.first, layout_.scale1, 0, first);
  fill(layout_.scale1, each, 1, [](auto& random) { return 1.0 + 0.5 * random.normal(); });
  fill(layout_.sign, each, 2, [](auto& random) { return random.bernoulli(0.5) ? 1.0 : -1.0; });
  fill(layout_.second, width() * width(), 3, [&](auto& random) { return random.uniform(-bound2, bound2); });
  std::fill_n(parameters_.begin() + static_cast<std::ptrdiff_t>(layout_.scale2), each, T(1));
  fill(layout_.heads, each * num_outputs(), 4, [](auto& random) { return 0.02 * random.normal(); });
  // What is missing starts without effect, also where no training unit ever moves it.
  for (const TableColumn& column : encoding_->columns()) {
    if (column.kind == TableColumnKind::category) continue;
    const std::size_t row = column.first_weight + column.num_weights - 1;
    std::fill_n(parameters_.begin() + static_cast<std::ptrdiff_t>(layout_.first + row * width()), width(), T(0));
  }
}

// A column's rows of values, or one of the two packings of the second layer.
template <class T>
void TableNetwork<T>::refresh_part(std::size_t part) {
  const std::size_t num_columns = encoding_->num_columns();
  const T* const parameters = parameters_.data();
  if (part < num_columns) {
    fill_values(*encoding_, encoding_->columns()[part], width(), parameters + layout_.first, values_.data());
    return;
  }
  const bool transposed = part > num_columns;
  pack_panels(width(), width(), parameters + layout_.second, width(), transposed,
              transposed ? transposed_panels_.data() : second_panels_.data());
}

template <class T>
void TableNetwork<T>::refresh(core::RunContext& context) {
  context.pool.run(encoding_->num_columns() + 2, [this](std::size_t part) { refresh_part(part); });
}

template <class T>
void TableNetwork<T>::refresh() {
  for (std::size_t part = 0; part < encoding_->num_columns() + 2; ++part) refresh_part(part);
}

template class TableNetwork<float>;
template class TableNetwork<double>;

}  // namespace dfcl::nn

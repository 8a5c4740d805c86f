// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/binned_units.h"

#include <array>

#include "dfcl/core/parallel.h"

namespace dfcl::boost {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kSmallRow = 32;

std::size_t rounded(std::size_t size, std::size_t to) { return (size + to - 1) / to * to; }

}  // namespace

BinnedUnits::BinnedUnits(const std::vector<trees::FeatureBins>& features, core::MatrixView<const float> values,
                         std::span<const std::uint32_t> rows, std::span<const std::uint8_t> arm, std::size_t num_arms,
                         core::RunContext& context)
    : num_units_(rows.size()),
      padded_units_(rounded(rows.size(), kBlockUnits)),
      by_row_(context.scratch()),
      by_column_(context.scratch()) {
  for (const trees::FeatureBins& bins : features) {
    num_bins_.push_back(static_cast<std::uint16_t>(bins.num_bins()));
    is_category_.push_back(bins.categorical ? 1 : 0);
  }
  num_bins_.push_back(static_cast<std::uint16_t>(num_arms + 1));
  is_category_.push_back(0);
  stride_ = num_columns() <= kSmallRow ? rounded(num_columns(), 8) : rounded(num_columns(), kLine);
  by_row_.resize(num_units_ * stride_);
  by_column_.resize(num_columns() * padded_units_);
  core::for_each_chunk(context, num_units_, kBlockUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::array<float, kBlockUnits> block;
    const std::size_t count = end - begin;
    for (std::size_t column = 0; column < num_columns(); ++column) {
      std::uint8_t* to = by_column_.data() + column * padded_units_ + begin;
      if (column == arm_column()) {
        for (std::size_t i = 0; i < count; ++i) to[i] = arm_bin(arm[rows[begin + i]]);
      } else {
        for (std::size_t i = 0; i < count; ++i) block[i] = values(rows[begin + i], column);
        trees::find_bins(features[column], {block.data(), count}, to);
      }
      for (std::size_t i = 0; i < count; ++i) by_row_[(begin + i) * stride_ + column] = to[i];
    }
  });
}

}  // namespace dfcl::boost

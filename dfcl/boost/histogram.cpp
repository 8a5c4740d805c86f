// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "dfcl/core/parallel.h"

namespace dfcl::boost {
namespace {

constexpr std::size_t kGroup = 16;            // columns whose histograms are filled together
constexpr std::size_t kTile = 256;            // units that all groups go through before the next ones
constexpr double kMostSum = 2.0e9;            // below 2^31, with room for rounding
constexpr std::size_t kLeastWork = 200'000;   // additions for which more than one thread pays
constexpr std::size_t kAddedTogether = 1024;  // sums of parts
constexpr std::size_t kLeastRows = 4096;      // of a part, which costs as much as 500 to clear and to add up

// Units next to each other in a node, but seldom in memory.
struct Tile {
  const std::uint8_t* rows[kTile];
  Sum sums[kTile];
  std::size_t count = 0;
};

void fill(const BinnedUnits& units, std::span<const std::uint32_t> rows, std::span<const Sum> sums, std::size_t first,
          Tile& tile) {
  tile.count = first < rows.size() ? std::min(kTile, rows.size() - first) : 0;
  for (std::size_t i = 0; i < tile.count; ++i) {
    const std::uint32_t unit = rows[first + i];
    tile.rows[i] = units.row(unit);
    tile.sums[i] = sums[unit];
  }
}

// ahead: the units whose rows are fetched meanwhile, at this place; null: none.
template <std::size_t N>
void add_group(const Tile& tile, const Tile* ahead, std::size_t ahead_place, const std::uint32_t* columns,
               Sum* histograms) {
  std::size_t places[N];
  for (std::size_t k = 0; k < N; ++k) places[k] = columns[k];
  const std::size_t num_ahead = ahead == nullptr ? 0 : std::min(tile.count, ahead->count);
  std::size_t i = 0;
  for (; i < num_ahead; ++i) {
    __builtin_prefetch(ahead->rows[i] + ahead_place);
    const std::uint8_t* row = tile.rows[i];
    const Sum sum = tile.sums[i];
    for (std::size_t k = 0; k < N; ++k) histograms[k * kHistogramBins + row[places[k]]] += sum;
  }
  for (; i < tile.count; ++i) {
    const std::uint8_t* row = tile.rows[i];
    const Sum sum = tile.sums[i];
    for (std::size_t k = 0; k < N; ++k) histograms[k * kHistogramBins + row[places[k]]] += sum;
  }
}

using AddGroup = void (*)(const Tile&, const Tile*, std::size_t, const std::uint32_t*, Sum*);
template <std::size_t... N>
constexpr std::array<AddGroup, sizeof...(N)> add_groups(std::index_sequence<N...>) {
  return {add_group<N + 1>...};
}
constexpr auto kAddGroups = add_groups(std::make_index_sequence<kGroup>());

void add_columns(const BinnedUnits& units, std::span<const std::uint32_t> rows, std::span<const Sum> sums,
                 std::span<const std::uint32_t> columns, Sum* histograms) {
  Tile tiles[2];
  fill(units, rows, sums, 0, tiles[0]);
  for (std::size_t i = 0; i < tiles[0].count; ++i) {
    __builtin_prefetch(tiles[0].rows[i] + columns.front());
    __builtin_prefetch(tiles[0].rows[i] + columns.back());
  }
  std::size_t now = 0;
  for (std::size_t first = 0; first < rows.size(); first += kTile, now = 1 - now) {
    Tile& next = tiles[1 - now];
    fill(units, rows, sums, first + kTile, next);
    for (std::size_t group = 0; group < columns.size(); group += kGroup) {
      const std::size_t count = std::min(kGroup, columns.size() - group);
      const Tile* ahead = group <= kGroup ? &next : nullptr;  // the first two groups fetch a line each
      kAddGroups[count - 1](tiles[now], ahead, group == 0 ? columns.front() : columns.back(), columns.data() + group,
                            histograms + group * kHistogramBins);
    }
  }
}

double step_of(double total, double room) {
  if (!(total > 0.0)) return 1.0;
  return std::exp2(std::ceil(std::log2(total / room)));
}

}  // namespace

Steps steps_for(double total_gradient, double total_hessian, std::size_t num_units) {
  const double room = kMostSum - static_cast<double>(num_units);  // rounding adds half a step a unit
  return {step_of(total_gradient, room), step_of(total_hessian, room)};
}

void add_units(const BinnedUnits& units, std::span<const std::uint32_t> rows, std::span<const Sum> sums,
               std::span<const std::uint32_t> columns, bool in_parallel, Sum* histograms, std::vector<Sum>& spare,
               core::RunContext& context) {
  const std::size_t num_groups = (columns.size() + kGroup - 1) / kGroup;
  const auto threads = static_cast<std::size_t>(context.pool.threads());
  if (!in_parallel || threads == 1 || rows.size() * columns.size() < kLeastWork)
    return add_columns(units, rows, sums, columns, histograms);
  // The sums are exact, so that rows may be cut anyhow.
  const std::size_t num_parts =
      std::clamp<std::size_t>((2 * threads - 1) / num_groups, 1, std::max<std::size_t>(1, rows.size() / kLeastRows));
  const std::size_t num_tasks = num_parts > 1 ? num_groups : std::min(num_groups, threads);
  const std::size_t width = columns.size() * kHistogramBins;
  if (spare.size() < (num_parts - 1) * width) spare.resize((num_parts - 1) * width);
  context.pool.run(num_tasks * num_parts, [&](std::size_t index) {
    const std::size_t task = index % num_tasks;
    const std::size_t part = index / num_tasks;
    const std::size_t begin = task * num_groups / num_tasks * kGroup;
    const std::size_t end = std::min(columns.size(), (task + 1) * num_groups / num_tasks * kGroup);
    const std::size_t first = part * rows.size() / num_parts;
    const std::size_t last = (part + 1) * rows.size() / num_parts;
    Sum* own = (part == 0 ? histograms : spare.data() + (part - 1) * width) + begin * kHistogramBins;
    if (part > 0) std::fill_n(own, (end - begin) * kHistogramBins, Sum{0});
    add_columns(units, rows.subspan(first, last - first), sums, columns.subspan(begin, end - begin), own);
  });
  if (num_parts == 1) return;
  core::for_each_chunk(context, width, kAddedTogether, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t part = 1; part < num_parts; ++part) {
      const Sum* own = spare.data() + (part - 1) * width;
      for (std::size_t i = begin; i < end; ++i) histograms[i] += own[i];
    }
  });
}

void subtract(std::span<Sum> parent, std::span<const Sum> child) {
  for (std::size_t i = 0; i < parent.size(); ++i) parent[i] -= child[i];
}

}  // namespace dfcl::boost

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/histogram.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::boost {
namespace {

constexpr std::size_t kGroup = 8;            // columns whose histograms are filled together
constexpr std::size_t kTile = 512;           // units that all groups go through before the next ones
constexpr double kMostSum = 2.0e9;           // below 2^31, with room for rounding
constexpr std::size_t kLeastWork = 200'000;  // additions for which more than one thread pays

template <std::size_t N>
DFCL_INLINE void add_group(const std::uint8_t* const* unit_rows, const Sum* sums, std::size_t count,
                           const std::uint32_t* columns, Sum* histograms) {
  std::size_t places[N];
  for (std::size_t k = 0; k < N; ++k) places[k] = columns[k];
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* row = unit_rows[i];
    const Sum sum = sums[i];
    for (std::size_t k = 0; k < N; ++k) histograms[k * kHistogramBins + row[places[k]]] += sum;
  }
}

void add_any(const std::uint8_t* const* unit_rows, const Sum* sums, std::size_t count, const std::uint32_t* columns,
             std::size_t num_columns, Sum* histograms) {
  switch (num_columns) {
    case 8: return add_group<8>(unit_rows, sums, count, columns, histograms);
    case 7: return add_group<7>(unit_rows, sums, count, columns, histograms);
    case 6: return add_group<6>(unit_rows, sums, count, columns, histograms);
    case 5: return add_group<5>(unit_rows, sums, count, columns, histograms);
    case 4: return add_group<4>(unit_rows, sums, count, columns, histograms);
    case 3: return add_group<3>(unit_rows, sums, count, columns, histograms);
    case 2: return add_group<2>(unit_rows, sums, count, columns, histograms);
    default: return add_group<1>(unit_rows, sums, count, columns, histograms);
  }
}

void add_columns(const BinnedUnits& units, std::span<const std::uint32_t> rows, std::span<const Sum> sums,
                 std::span<const std::uint32_t> columns, Sum* histograms) {
  const std::uint8_t* tile_rows[kTile];
  Sum tile_sums[kTile];
  for (std::size_t first = 0; first < rows.size(); first += kTile) {
    const std::size_t count = std::min(kTile, rows.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t unit = rows[first + i];
      tile_rows[i] = units.row(unit);
      tile_sums[i] = sums[unit];
      __builtin_prefetch(tile_rows[i] + columns.front());
      __builtin_prefetch(tile_rows[i] + columns.back());
    }
    for (std::size_t group = 0; group < columns.size(); group += kGroup) {
      add_any(tile_rows, tile_sums, count, columns.data() + group, std::min(kGroup, columns.size() - group),
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
               std::span<const std::uint32_t> columns, bool in_parallel, Sum* histograms, core::RunContext& context) {
  const std::size_t num_groups = (columns.size() + kGroup - 1) / kGroup;
  std::size_t num_tasks = 1;
  if (in_parallel && rows.size() * columns.size() >= kLeastWork)
    num_tasks = std::min(num_groups, static_cast<std::size_t>(context.pool.threads()));
  context.pool.run(num_tasks, [&](std::size_t task) {
    const std::size_t begin = task * num_groups / num_tasks * kGroup;
    const std::size_t end = std::min(columns.size(), (task + 1) * num_groups / num_tasks * kGroup);
    add_columns(units, rows, sums, columns.subspan(begin, end - begin), histograms + begin * kHistogramBins);
  });
}

void subtract(std::span<Sum> parent, std::span<const Sum> child) {
  for (std::size_t i = 0; i < parent.size(); ++i) parent[i] -= child[i];
}

}  // namespace dfcl::boost

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/lookup_layer.h"

#include <algorithm>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/nn/table/lanes.h"

namespace dfcl::nn {
namespace {

// kVectors registers of one unit's sums, over the columns.
template <class T, std::size_t kVectors>
DFCL_INLINE void add_unit(const Lookup* lookups, std::size_t count, std::size_t width, const T* values, T* sums) {
  using L = Lanes<T>;
  typename L::Vector sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = L::at(sums + v * L::kSize);
  for (std::size_t i = 0; i < count; ++i) {
    const T* const row = values + lookups[i].row * width;
    const T share = static_cast<T>(lookups[i].share);
    const T rest = T(1) - share;
    for (std::size_t v = 0; v < kVectors; ++v)
      sum[v] += rest * L::at(row + v * L::kSize) + share * L::at(row + width + v * L::kSize);
  }
  for (std::size_t v = 0; v < kVectors; ++v) L::at(sums + v * L::kSize) = sum[v];
}

template <class T>
DFCL_INLINE void add_lookups_body(const LookupUnits& units, std::size_t first, std::size_t count, std::size_t width,
                                  const T* values, T* sums) {
  constexpr std::size_t kSize = Lanes<T>::kSize;
  for (std::size_t unit = 0; unit < units.num_units; ++unit) {
    const Lookup* lookups = units.lookups + unit * units.num_columns + first;
    T* const to = sums + unit * width;
    std::size_t j = 0;
    for (; j + 8 * kSize <= width; j += 8 * kSize) add_unit<T, 8>(lookups, count, width, values + j, to + j);
    for (; j < width; j += kSize) add_unit<T, 1>(lookups, count, width, values + j, to + j);
  }
}

template <class T>
DFCL_INLINE void add_value_gradient_body(const LookupUnits& units, std::size_t column, std::size_t first_value,
                                         std::size_t width, const T* gradient, T* value_gradient) {
  using L = Lanes<T>;
  for (std::size_t unit = 0; unit < units.num_units; ++unit) {
    const Lookup lookup = units.lookups[unit * units.num_columns + column];
    const T* const from = gradient + unit * width;
    T* const to = value_gradient + (lookup.row - first_value) * width;
    const T share = static_cast<T>(lookup.share);
    const T rest = T(1) - share;
    for (std::size_t j = 0; j < width; j += L::kSize) {
      const typename L::Vector slope = L::at(from + j);
      L::at(to + j) += rest * slope;
      L::at(to + width + j) += share * slope;
    }
  }
}

}  // namespace

DFCL_FOR_EACH_PROCESSOR void add_lookups(const LookupUnits& units, std::size_t first, std::size_t count,
                                         std::size_t width, const float* values, float* sums) {
  add_lookups_body(units, first, count, width, values, sums);
}
void add_lookups(const LookupUnits& units, std::size_t first, std::size_t count, std::size_t width,
                 const double* values, double* sums) {
  add_lookups_body(units, first, count, width, values, sums);
}

DFCL_FOR_EACH_PROCESSOR void add_value_gradient(const LookupUnits& units, std::size_t column, std::size_t first_value,
                                                std::size_t width, const float* gradient, float* value_gradient) {
  add_value_gradient_body(units, column, first_value, width, gradient, value_gradient);
}
void add_value_gradient(const LookupUnits& units, std::size_t column, std::size_t first_value, std::size_t width,
                        const double* gradient, double* value_gradient) {
  add_value_gradient_body(units, column, first_value, width, gradient, value_gradient);
}

template <class T>
void fill_values(const TableEncoding& encoding, const TableColumn& column, std::size_t width, const T* weights,
                 T* values) {
  const T* const own = weights + column.first_weight * width;
  T* const to = values + column.first_value * width;
  switch (column.kind) {
    case TableColumnKind::flag:
      std::fill_n(to, width, T(0));
      std::copy_n(own, width, to + width);
      return;
    case TableColumnKind::category: {
      const std::span<const float> shares = encoding.shares(column);
      std::copy_n(own, shares.size() * width, to);
      T* const unseen = to + shares.size() * width;
      std::fill_n(unseen, width, T(0));
      for (std::size_t level = 0; level < shares.size(); ++level) {
        const T share = static_cast<T>(shares[level]);
        for (std::size_t j = 0; j < width; ++j) unseen[j] += share * own[level * width + j];
      }
      return;
    }
    case TableColumnKind::number: break;
  }
  const std::size_t num_bins = column.num_bins();
  const T* const linear = own + num_bins * width;
  std::vector<T> sum(width, T(0));
  std::size_t done = 0;
  for (std::size_t knot = 0; knot < column.knots.size(); ++knot) {
    for (; done < column.bins_below(knot); ++done) {
      for (std::size_t j = 0; j < width; ++j) sum[j] += own[done * width + j];
    }
    const T z = static_cast<T>(column.knots[knot]);
    for (std::size_t j = 0; j < width; ++j) to[knot * width + j] = sum[j] + z * linear[j];
  }
  std::copy_n(linear + width, width, to + column.knots.size() * width);
}

template <class T>
void fill_weight_gradient(const TableEncoding& encoding, const TableColumn& column, std::size_t width,
                          T* value_gradient, T* weight_gradient) {
  T* const own = weight_gradient + column.first_weight * width;
  switch (column.kind) {
    case TableColumnKind::flag: std::copy_n(value_gradient + width, width, own); return;
    case TableColumnKind::category: {
      const std::span<const float> shares = encoding.shares(column);
      const T* const unseen = value_gradient + shares.size() * width;
      for (std::size_t level = 0; level < shares.size(); ++level) {
        const T share = static_cast<T>(shares[level]);
        const T* const from = value_gradient + level * width;
        for (std::size_t j = 0; j < width; ++j) own[level * width + j] = from[j] + share * unseen[j];
      }
      return;
    }
    case TableColumnKind::number: break;
  }
  const std::size_t num_bins = column.num_bins();
  const std::size_t num_knots = column.knots.size();
  T* const linear = own + num_bins * width;
  std::fill_n(linear, width, T(0));
  // A bin counts at every knot above it: sums from the last knot down.
  std::vector<T> above(width, T(0));
  std::size_t open = num_bins;
  for (std::size_t knot = num_knots; knot-- > 0;) {
    for (; open > column.bins_below(knot); --open) std::copy_n(above.data(), width, own + (open - 1) * width);
    const T z = static_cast<T>(column.knots[knot]);
    const T* const from = value_gradient + knot * width;
    for (std::size_t j = 0; j < width; ++j) {
      linear[j] += z * from[j];
      above[j] += from[j];
    }
  }
  std::copy_n(value_gradient + num_knots * width, width, linear + width);
}

template void fill_values(const TableEncoding&, const TableColumn&, std::size_t, const float*, float*);
template void fill_values(const TableEncoding&, const TableColumn&, std::size_t, const double*, double*);
template void fill_weight_gradient(const TableEncoding&, const TableColumn&, std::size_t, float*, float*);
template void fill_weight_gradient(const TableEncoding&, const TableColumn&, std::size_t, double*, double*);

}  // namespace dfcl::nn

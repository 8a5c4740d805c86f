// SPDX-License-Identifier: Apache-2.0
//
// The first layer of a network for tables, by lookup (inputs/table_encoding.h): a unit's sum is one row of values, and
// a share of the next, for each column, whatever the number of bins. The gradient goes to the values, and once a step
// from there to the weights. All matrices are row-major with rows of `width` numbers, a multiple of 16. Time: two
// multiply-adds a column and number; memory: none.
#pragma once

#include <cstddef>

#include "dfcl/nn/inputs/table_encoding.h"

namespace dfcl::nn {

// The rows of values of one column from the rows of all weights.
template <class T>
void fill_values(const TableEncoding& encoding, const TableColumn& column, std::size_t width, const T* weights,
                 T* values);

// The gradient of one column's rows of weights, in the matrix of all, from that of its own rows of values, which are
// overwritten.
template <class T>
void fill_weight_gradient(const TableEncoding& encoding, const TableColumn& column, std::size_t width,
                          T* value_gradient, T* weight_gradient);

// Units in a row; the lookups of a unit are num_columns apart.
struct LookupUnits {
  const Lookup* lookups;
  std::size_t num_units;
  std::size_t num_columns;
};

// sums (units x width) += the columns first .. first + count - 1. values has one row after the last.
void add_lookups(const LookupUnits& units, std::size_t first, std::size_t count, std::size_t width, const float* values,
                 float* sums);
void add_lookups(const LookupUnits& units, std::size_t first, std::size_t count, std::size_t width,
                 const double* values, double* sums);

// value_gradient (rows of one column, and one more) += from gradient (units x width).
void add_value_gradient(const LookupUnits& units, std::size_t column, std::size_t first_value, std::size_t width,
                        const float* gradient, float* value_gradient);
void add_value_gradient(const LookupUnits& units, std::size_t column, std::size_t first_value, std::size_t width,
                        const double* gradient, double* value_gradient);

}  // namespace dfcl::nn

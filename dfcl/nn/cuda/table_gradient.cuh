// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a step of a network for tables, from partial sums in their order; that of the first layer's values
// becomes that of its weights (lookup_layer.h).
#pragma once

#include "dfcl/nn/cuda/table_batch.cuh"

namespace dfcl::nn::cuda {

// Rows of values that a thread reads at once.
inline constexpr int kRowsAtOnce = 8;

// Parts that four threads add up side by side: this one's, `step` apart, then all four's.
__device__ __forceinline__ float4 sum_of_parts(const float* from, std::size_t step, int part, int count) {
  float4 sum = {};
#pragma unroll 8
  for (int i = part; i < count; i += 4) sum = sum4(sum, load4(from + i * step));
#pragma unroll
  for (int distance = 8; distance < 32; distance *= 2) {
    const float4 other = {__shfl_xor_sync(0xffffffffu, sum.x, distance), __shfl_xor_sync(0xffffffffu, sum.y, distance),
                          __shfl_xor_sync(0xffffffffu, sum.z, distance), __shfl_xor_sync(0xffffffffu, sum.w, distance)};
    sum = sum4(sum, other);
  }
  return sum;
}

// Four shared positions, by four threads of a warp, eight lanes apart; all lanes of the warp must come here. Returns
// the positions' part of the gradient's squared length.
__device__ __forceinline__ double shared_gradient(const TablePlan& plan, const TableJob& job, int position, int part) {
  const float* from = job.second_partials + position;
  std::size_t step = kSecondSize;
  int count = job.second_splits;
  if (position >= kSecondSize) {
    const int member = (position - kSecondSize) / plan.member_size;
    const int offset = (position - kSecondSize) % plan.member_size;
    const bool first = offset < kScale2;
    const int size = first ? kScale2 : plan.member_size - kScale2;
    from = (first ? job.first_partials + offset : job.head_partials + offset - kScale2) + member * size;
    step = std::size_t(plan.members) * size;
    count = first ? job.first_slots : job.head_slots;
  }
  const float4 sum = sum_of_parts(from, step, part, count);
  if (part != 0) return 0.0;
  const float parts[4] = {sum.x, sum.y, sum.z, sum.w};
  double squares = 0.0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (job.parameter_of[position + i] < 0) continue;
    job.gradient[position + i] = parts[i];
    squares += static_cast<double>(parts[i]) * parts[i];
  }
  return squares;
}

// The gradient of rows first .. first + kRowsAtOnce - 1 of values, summed over the groups of units.
__device__ __forceinline__ void read_rows(const TablePlan& plan, const TableJob& job, int groups, int first, int end,
                                          int column, float (&rows)[kRowsAtOnce]) {
#pragma unroll
  for (float& row : rows) row = 0.0f;
#pragma unroll 4
  for (int group = 0; group < groups; ++group) {
    const float* from = job.value_partials + (std::size_t(group) * plan.encoded + first) * kCardWidth + column;
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      if (first + i < end) rows[i] += __ldcg(from + std::size_t(i) * kCardWidth);
    }
  }
}

__device__ __forceinline__ double set_gradient(float* gradient, std::size_t row, int width, float value) {
  gradient[row * width] = value;
  return static_cast<double>(value) * value;
}

// As fill_weight_gradient. `own` is the gradient of the column's first weight. The rows' sum is that of the bias.
__device__ __forceinline__ double number_gradient(const TablePlan& plan, const TableJob& job, const CardColumn& column,
                                                  int groups, int j, float* own, float& total) {
  const int knots = column.num_values - 1;
  const int bins = column.num_weights - 2;
  const float* z = job.facts + column.first_fact;
  double squares = 0.0;
  float above = 0.0f;
  float linear = 0.0f;
  for (int end = column.num_values; end > 0; end -= kRowsAtOnce) {
    const int first = max(0, end - kRowsAtOnce);
    float rows[kRowsAtOnce];
    read_rows(plan, job, groups, column.first_value + first, column.first_value + end, j, rows);
#pragma unroll
    for (int i = kRowsAtOnce - 1; i >= 0; --i) {
      const int knot = first + i;
      if (knot >= end) continue;
      total += rows[i];
      if (knot == knots) {  // missing
        squares += set_gradient(own, bins + 1, kCardWidth, rows[i]);
        continue;
      }
      linear += z[knot] * rows[i];
      above += rows[i];
      const int bin = knot - column.low - 1;  // the last that lies below the knot
      if (bin >= 0 && bin < bins) squares += set_gradient(own, bin, kCardWidth, above);
    }
  }
  return squares + set_gradient(own, bins, kCardWidth, linear);
}

__device__ __forceinline__ double category_gradient(const TablePlan& plan, const TableJob& job,
                                                    const CardColumn& column, int groups, int j, float* own,
                                                    float& total) {
  const int levels = column.num_weights;
  const int unseen_row = column.first_value + levels;
  float last[kRowsAtOnce];
  read_rows(plan, job, groups, unseen_row, unseen_row + 1, j, last);
  const float unseen = last[0];
  total += unseen;
  double squares = 0.0;
  for (int first = 0; first < levels; first += kRowsAtOnce) {
    float rows[kRowsAtOnce];
    read_rows(plan, job, groups, column.first_value + first, unseen_row, j, rows);
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      if (first + i >= levels) continue;
      total += rows[i];
      squares += set_gradient(own, first + i, kCardWidth, rows[i] + job.facts[column.first_fact + first + i] * unseen);
    }
  }
  return squares;
}

// Of one column of the table and one of the layer.
__device__ __forceinline__ double first_gradient(const TablePlan& plan, const TableJob& job, int index, int j) {
  const int groups = job.value_splits;
  const CardColumn& column = job.columns[index];
  float* first = job.gradient + plan.shared_size + j;
  float* own = first + std::size_t(column.first_weight) * kCardWidth;
  float total = 0.0f;  // of all rows: every unit has one place in the column
  double squares = 0.0;
  switch (static_cast<TableColumnKind>(column.kind)) {
    case TableColumnKind::number: squares = number_gradient(plan, job, column, groups, j, own, total); break;
    case TableColumnKind::category: squares = category_gradient(plan, job, column, groups, j, own, total); break;
    case TableColumnKind::flag: {
      float rows[kRowsAtOnce];
      read_rows(plan, job, groups, column.first_value, column.first_value + 2, j, rows);
      total = rows[0] + rows[1];
      squares = set_gradient(own, 0, kCardWidth, rows[1]);
      break;
    }
  }
  if (index == 0) squares += set_gradient(first, plan.num_weights, kCardWidth, total);
  return squares;
}

}  // namespace dfcl::nn::cuda

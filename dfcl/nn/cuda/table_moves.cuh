// SPDX-License-Identifier: Apache-2.0
//
// Adam on the parameters of a network for tables, and the values at the knots from its first layer's weights.
#pragma once

#include "dfcl/nn/cuda/card_step.cuh"
#include "dfcl/nn/cuda/table_gradient.cuh"

namespace dfcl::nn::cuda {

// One position.
template <Precision kPrecision>
__device__ __forceinline__ void move_position(const TablePlan& plan, const TableJob& job, const StepNumbers& step,
                                              float scale, std::size_t position) {
  const bool shared = position < static_cast<std::size_t>(plan.shared_size);
  if (shared && job.parameter_of[position] < 0) return;
  const float p = moved(job, step, position, scale);
  if (!shared) return;
  // The library's products read the second layer and its transpose, the heads' kernel what lies behind them.
  for (const std::int32_t place : {job.forward_of[position], job.backward_of[position]}) {
    if (place >= 2 * kSecondSize) {
      set_packed<kOfHeads<kPrecision>>(job.packed, place, p);
    } else if (place >= 0) {
      set_packed<kPrecision>(job.packed, place, p);
    }
  }
}

// Values of one column of the table, in its order, each thread those of one column of the layer; written some at a time
// so that neighbouring threads write neighbours. All threads of the block push together.
template <Precision kPrecision>
class ValueWriter {
 public:
  static constexpr int kMost = 32;
  using Rows = float[kMost][kCardWidth + 1];

  __device__ __forceinline__ ValueWriter(Rows& rows, Number<kPrecision>* to, int step)
      : rows_(rows), to_(to), step_(step) {}
  __device__ __forceinline__ void push(float value) {
    rows_[count_++][threadIdx.x] = operand_or_nan<kPrecision>(value);
    if (count_ == kMost) flush();
  }
  __device__ __forceinline__ void flush() {
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count_ * kCardWidth; i += kCardWidth) {
      to_[std::size_t(i / count_) * step_ + i % count_] = Number<kPrecision>(rows_[i % count_][i / count_]);
    }
    __syncthreads();
    to_ += count_;
    count_ = 0;
  }

 private:
  Rows& rows_;
  Number<kPrecision>* to_;
  int step_;
  int count_ = 0;
};

// `count` weights of the first layer from row `first` on.
__device__ __forceinline__ void read_weights(const float* own, int first, int count, float (&p)[kRowsAtOnce]) {
#pragma unroll
  for (int i = 0; i < kRowsAtOnce; ++i) {
    if (i < count) p[i] = own[std::size_t(first + i) * kCardWidth];
  }
}

// As fill_values of the processor.
template <class Writer>
__device__ __forceinline__ void write_number(const CardColumn& column, const float* z, const float* own,
                                             Writer& writer) {
  const int knots = column.num_values - 1;
  const int bins = column.num_weights - 2;
  const float linear = own[std::size_t(bins) * kCardWidth];
  const float missing = own[std::size_t(bins + 1) * kCardWidth];
  float sum = 0.0f;
  int knot = 0;
  const auto write = [&] {
    writer.push(sum + z[knot] * linear);
    ++knot;
  };
  while (knot <= column.low) write();
  for (int first = 0; first < bins; first += kRowsAtOnce) {
    float p[kRowsAtOnce];
    const int count = min(kRowsAtOnce, bins - first);
    read_weights(own, first, count, p);
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      if (i >= count) continue;
      sum += p[i];
      write();
    }
  }
  while (knot < knots) write();
  writer.push(missing);
}

template <class Writer>
__device__ __forceinline__ void write_category(const CardColumn& column, const float* shares, const float* own,
                                               Writer& writer) {
  const int levels = column.num_weights;
  float unseen = 0.0f;
  for (int first = 0; first < levels; first += kRowsAtOnce) {
    float p[kRowsAtOnce];
    const int count = min(kRowsAtOnce, levels - first);
    read_weights(own, first, count, p);
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      if (i >= count) continue;
      unseen += shares[first + i] * p[i];
      writer.push(p[i]);
    }
  }
  writer.push(unseen);
}

template <Precision kPrecision>
__device__ __forceinline__ void write_values(const TablePlan& plan, const TableJob& job, const CardColumn& column,
                                             typename ValueWriter<kPrecision>::Rows& rows) {
  const float* own = job.parameters + plan.shared_size + std::size_t(column.first_weight) * kCardWidth + threadIdx.x;
  const float* facts = job.facts + column.first_fact;
  ValueWriter<kPrecision> writer(rows, numbers<kPrecision>(job.values) + column.first_value, plan.encoded);
  switch (static_cast<TableColumnKind>(column.kind)) {
    case TableColumnKind::number: write_number(column, facts, own, writer); break;
    case TableColumnKind::category: write_category(column, facts, own, writer); break;
    case TableColumnKind::flag:
      writer.push(0.0f);
      writer.push(own[0]);
      break;
  }
  writer.flush();
}

}  // namespace dfcl::nn::cuda

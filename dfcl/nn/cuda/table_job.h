// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a step for a network for tables, in the order in which they run. Between them run five products of a
// library (table_products.h); all of a step is one CUDA graph, which the host starts once a step without waiting.
//   encode           units of the batch          -> encoded        units x encoded
//     product        encoded, values             -> sums           units x width
//   first_forward    sums                        -> hidden         members x units x width
//     product        hidden, second layer        -> second         members x units x width
//   heads            second, outcomes            -> second, now its slopes; partial sums; losses
//     products       slopes, hidden              -> second_partials; hidden, now its slopes
//   first_back       slopes of hidden, sums      -> sums_slopes    units x width; partial sums
//     product        encoded, sums_slopes        -> value_partials
//   reduce           partial sums                -> gradient, and its length
//   move             gradient                    -> parameters by Adam, packed
//   fill_values      parameters                  -> values
// The order of all sums is fixed. Units beyond the batch's count are zeros all the way.
#pragma once

#include <cuda_bf16.h>

#include <type_traits>

#include "dfcl/nn/cuda/kernels.h"
#include "dfcl/nn/cuda/table_plan.h"

namespace dfcl::nn::cuda {

struct TableStep {
  StepNumbers adam;
  std::uint32_t first_key;  // of the dropout of each hidden layer
  std::uint32_t second_key;
};

// What changes from step to step and from epoch to epoch, in the memory of the card.
struct TableState {
  std::uint32_t step;        // of those in TableJob::steps
  std::uint32_t done;        // blocks of `reduce`
  std::uint32_t first_step;  // of the epoch
  RowOrder rows;
  float scale;  // of the step's gradient; NaN: it is not finite
};

struct TableJob : StepsJob<TableStep> {
  TableState* state;
  const Lookup* lookups;   // units x columns
  std::uint32_t capacity;  // units of a step: the batch, padded to kTileUnits
  std::uint32_t padded;    // of encoded and sums: so many that value_splits divides them
  std::uint32_t dropped;   // of 256
  float keep;              // what is kept grows by this
  // how sums are cut
  int second_splits, value_splits, head_slots, first_slots;
  // memory
  const CardColumn* columns;
  const float* facts;
  float* sums;  // padded x width
  // of Number
  void* values;       // width x encoded
  void* encoded;      // padded x encoded
  void* sums_slopes;  // padded x width
  void* hidden;       // members x capacity x width
  void* second;       // likewise
  // of float
  float* second_partials;  // second_splits x width x width
  float* value_partials;   // value_splits x encoded x width
  float* head_partials;    // head_slots x members x (member_size - kScale2)
  float* first_partials;   // first_slots x members x kScale2
  // predictions: members x capacity x arms, whose means go to revenue and cost; or null
  float* member_revenue;
  float* member_cost;

  bool operator==(const TableJob&) const = default;
};

inline constexpr int kTileUnits = 64;

// Each starts one kernel.
template <Precision kPrecision>
struct TableKernels {
  static cudaError_t encode(const TablePlan& plan, const TableJob& job, int processors, cudaStream_t stream);
  static cudaError_t first_forward(const TablePlan& plan, const TableJob& job, cudaStream_t stream);
  static cudaError_t first_back(const TablePlan& plan, const TableJob& job, cudaStream_t stream);
  static cudaError_t reduce(const TablePlan& plan, const TableJob& job, cudaStream_t stream);
  static cudaError_t move(const TablePlan& plan, const TableJob& job, cudaStream_t stream);
  static cudaError_t fill_values(const TablePlan& plan, const TableJob& job, cudaStream_t stream);
  static cudaError_t mean_predictions(const TablePlan& plan, const TableJob& job, cudaStream_t stream);
};
extern template struct TableKernels<Precision::tf32>;
extern template struct TableKernels<Precision::fp32>;
extern template struct TableKernels<Precision::bf16>;

template <Precision kPrecision>
struct HeadsKernel {
  // Blocks that one multiprocessor holds at a time; 0: its memory is too small.
  static int blocks(const TablePlan& plan);
  static cudaError_t run(const TablePlan& plan, const TableJob& job, cudaStream_t stream);
};
extern template struct HeadsKernel<Precision::tf32>;
extern template struct HeadsKernel<Precision::fp32>;
extern template struct HeadsKernel<Precision::bf16>;

// What products read and activations are kept in.
template <Precision kPrecision>
using Number = std::conditional_t<kPrecision == Precision::bf16, __nv_bfloat16, float>;
template <Precision kPrecision>
DFCL_INLINE Number<kPrecision>* numbers(void* data) {
  return static_cast<Number<kPrecision>*>(data);
}

// Blocks of `reduce`: of shared positions, then of the first layer's.
inline constexpr int kStepThreads = 256;
inline int shared_blocks(const TablePlan& plan) { return (plan.shared_size + kStepThreads - 1) / kStepThreads; }
inline int reduce_blocks(const TablePlan& plan) {
  return shared_blocks(plan) + (plan.num_columns * kCardWidth + kStepThreads - 1) / kStepThreads;
}

}  // namespace dfcl::nn::cuda

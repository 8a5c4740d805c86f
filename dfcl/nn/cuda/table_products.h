// SPDX-License-Identifier: Apache-2.0
//
// The five products of a step of a network for tables, by cuBLAS: in tf32, in bf16, or in float32 alone. Factors of
// tf32 are rounded before, so that nothing is cut. Sums over many units are cut into parts whose sums are added up
// later, in their order. The library gives the same bytes for the same call on one kind of card.
#pragma once

#include <cublas_v2.h>

#include "dfcl/nn/cuda/card_memory.h"
#include "dfcl/nn/cuda/table_job.h"

namespace dfcl::nn::cuda {

class TableProducts {
 public:
  TableProducts(Precision precision, const Stream& stream);
  ~TableProducts();
  TableProducts(const TableProducts&) = delete;
  TableProducts& operator=(const TableProducts&) = delete;

  void first(const TablePlan& plan, const TableJob& job);            // -> sums
  void second(const TablePlan& plan, const TableJob& job);           // -> second
  void second_gradient(const TablePlan& plan, const TableJob& job);  // -> second_partials
  void second_back(const TablePlan& plan, const TableJob& job);      // -> hidden
  void value_gradient(const TablePlan& plan, const TableJob& job);   // -> value_partials

  // Into how many parts the sums over units are cut. Of the second layer: a power of two that divides the capacity; of
  // the values: such that the last round of blocks over the multiprocessors is nearly full.
  static int second_splits(const TablePlan& plan, std::uint32_t capacity);
  static int value_splits(const TablePlan& plan, std::uint32_t capacity, int processors);

 private:
  // to (rows x columns) = rows of `a` times rows of `b`, of k numbers each.
  void multiply_rows(const void* a, const void* b, void* to, cudaDataType_t type, std::int64_t rows,
                     std::int64_t columns, std::int64_t k);
  // In each part: to (rows x columns) = sum over `count` units of a (units x rows) times b (units x columns).
  void multiply_units(const void* a, const void* b, float* to, std::int64_t rows, std::int64_t columns,
                      std::int64_t count, int parts);

  cublasHandle_t handle_ = nullptr;
  CardArray<unsigned char> workspace_;
  cublasComputeType_t type_;
  cudaDataType_t factors_;  // kept as these
};

}  // namespace dfcl::nn::cuda

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "dfcl/nn/cuda/table_products.h"

namespace dfcl::nn::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
constexpr std::uint32_t kUnitsOfPart = 256;  // at least

void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw core::Error({.kind = core::ErrorKind::unavailable,
                     .what = "the graphics card's library for products failed",
                     .found = cublasGetStatusString(status),
                     .hint = "train on the processor"});
}

}  // namespace

TableProducts::TableProducts(Precision precision, const Stream& stream)
    : workspace_(stream, kWorkspaceBytes),
      type_(precision == Precision::fp32   ? CUBLAS_COMPUTE_32F_PEDANTIC
            : precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                           : CUBLAS_COMPUTE_32F),
      factors_(precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F) {
  check(cublasCreate(&handle_));
  check(cublasSetStream(handle_, stream));
  check(cublasSetWorkspace(handle_, workspace_.data(), kWorkspaceBytes));
}
TableProducts::~TableProducts() { cublasDestroy(handle_); }

int TableProducts::second_splits(const TablePlan& plan, std::uint32_t capacity) {
  const std::uint64_t rows = std::uint64_t{capacity} * static_cast<std::uint64_t>(plan.members);
  return static_cast<int>(std::min<std::uint64_t>(64, std::bit_floor(std::max<std::uint64_t>(1, rows / kUnitsOfPart))));
}
int TableProducts::value_splits(const TablePlan& plan, std::uint32_t capacity, int processors) {
  constexpr double kStart = 100.0;   // of a block: so many units' time
  constexpr double kPartial = 80.0;  // to write and read a part
  const double tiles = std::ceil(plan.encoded / 128.0) * (kCardWidth / 128);
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int parts = 1; parts <= 16 && capacity / parts >= kUnitsOfPart; ++parts) {
    const double rounds = std::ceil(tiles * parts / processors);
    const double time = rounds * (static_cast<double>(capacity) / parts + kStart) + kPartial * parts;
    if (time < least) {
      least = time;
      best = parts;
    }
  }
  return best;
}

// The library's matrices are stored by columns: ours are their transposes.
void TableProducts::multiply_rows(const void* a, const void* b, void* to, cudaDataType_t type, std::int64_t rows,
                                  std::int64_t columns, std::int64_t k) {
  const float one = 1.0f;
  const float zero = 0.0f;
  check(cublasGemmEx_64(handle_, CUBLAS_OP_T, CUBLAS_OP_N, columns, rows, k, &one, b, factors_, k, a, factors_, k,
                        &zero, to, type, columns, type_, CUBLAS_GEMM_DEFAULT));
}

void TableProducts::multiply_units(const void* a, const void* b, float* to, std::int64_t rows, std::int64_t columns,
                                   std::int64_t count, int parts) {
  const float one = 1.0f;
  const float zero = 0.0f;
  const std::int64_t units = count / parts;
  check(cublasGemmStridedBatchedEx_64(handle_, CUBLAS_OP_N, CUBLAS_OP_T, columns, rows, units, &one, b, factors_,
                                      columns, units * columns, a, factors_, rows, units * rows, &zero, to, CUDA_R_32F,
                                      columns, rows * columns, parts, type_, CUBLAS_GEMM_DEFAULT));
}

void TableProducts::first(const TablePlan& plan, const TableJob& job) {
  multiply_rows(job.encoded, job.values, job.sums, CUDA_R_32F, job.capacity, kCardWidth, plan.encoded);
}
void TableProducts::second(const TablePlan& plan, const TableJob& job) {
  multiply_rows(job.hidden, job.packed, job.second, factors_, std::int64_t{job.capacity} * plan.members, kCardWidth,
                kCardWidth);
}
void TableProducts::second_gradient(const TablePlan& plan, const TableJob& job) {
  multiply_units(job.second, job.hidden, job.second_partials, kCardWidth, kCardWidth,
                 std::int64_t{job.capacity} * plan.members, job.second_splits);
}
void TableProducts::second_back(const TablePlan& plan, const TableJob& job) {
  const int transposed = factors_ == CUDA_R_16BF ? kSecondSize / 2 : kSecondSize;  // in words
  multiply_rows(job.second, job.packed + transposed, job.hidden, factors_, std::int64_t{job.capacity} * plan.members,
                kCardWidth, kCardWidth);
}
void TableProducts::value_gradient(const TablePlan& plan, const TableJob& job) {
  multiply_units(job.encoded, job.sums_slopes, job.value_partials, plan.encoded, kCardWidth, job.padded,
                 job.value_splits);
}

}  // namespace dfcl::nn::cuda

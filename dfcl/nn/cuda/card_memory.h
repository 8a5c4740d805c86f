// SPDX-License-Identifier: Apache-2.0
//
// Memory on the graphics card, and errors of its runtime as Errors of ours.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/core/error.h"

namespace dfcl::nn::cuda {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not meet it again
  if (status == cudaErrorMemoryAllocation) {
    throw core::Error({.kind = core::ErrorKind::unavailable,
                       .what = "the memory of the graphics card is too small",
                       .hint = "train on the processor, or with a smaller batch"});
  }
  throw core::Error({.kind = core::ErrorKind::unavailable,
                     .what = std::string("the graphics card failed: ") + what,
                     .found = cudaGetErrorString(status),
                     .hint = "train on the processor"});
}

int num_processors();  // of the card

// An array of numbers on the card, zero at first.
template <class T>
class CardArray {
 public:
  CardArray() = default;
  explicit CardArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    check(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)), "no memory");
    check(cudaMemset(data_, 0, size * sizeof(T)), "clearing memory");
  }
  CardArray(CardArray&& other) noexcept { *this = std::move(other); }
  CardArray& operator=(CardArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~CardArray() { cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  void copy_from(std::span<const T> from, std::size_t offset = 0) {
    check(cudaMemcpy(data_ + offset, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "copying to it");
  }
  void copy_to(std::span<T> to) const {
    check(cudaMemcpy(to.data(), data_, to.size() * sizeof(T), cudaMemcpyDeviceToHost), "copying from it");
  }
  std::vector<T> to_vector() const {
    std::vector<T> values(size_);
    copy_to(values);
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace dfcl::nn::cuda

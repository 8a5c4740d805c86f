// SPDX-License-Identifier: Apache-2.0
//
// Memory on the graphics card, the stream in whose order it is used, and errors of CUDA's runtime as Errors of ours.
// Nothing here waits for another stream, so that several may work at the same time.
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

// Waits for no other stream, and none waits for it.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  operator cudaStream_t() const { return stream_; }
  void wait(const char* for_what) const { check(cudaStreamSynchronize(stream_), for_what); }

 private:
  cudaStream_t stream_ = nullptr;
};

// An array of numbers on the card, zero at first. Made, used and given back in the order of the stream, which must
// outlive it.
template <class T>
class CardArray {
 public:
  CardArray() = default;
  CardArray(const Stream& stream, std::size_t size) : size_(size), stream_(stream) {
    if (size == 0) return;
    check(cudaMallocAsync(reinterpret_cast<void**>(&data_), size * sizeof(T), stream_), "no memory");
    const cudaError_t status = cudaMemsetAsync(data_, 0, size * sizeof(T), stream_);
    if (status != cudaSuccess) cudaFreeAsync(data_, stream_);
    check(status, "clearing memory");
  }
  CardArray(const Stream& stream, const std::vector<T>& values) : CardArray(stream, values.size()) { set(values); }
  CardArray(CardArray&& other) noexcept { *this = std::move(other); }
  CardArray& operator=(CardArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~CardArray() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Both end when the copy has.
  void set(std::span<const T> from) { copy(data_, from.data(), from.size(), cudaMemcpyHostToDevice, "copying to it"); }
  void get(std::span<T> to) const { copy(to.data(), data_, to.size(), cudaMemcpyDeviceToHost, "copying from it"); }
  std::vector<T> to_vector() const {
    std::vector<T> values(size_);
    get(values);
    return values;
  }

 private:
  void copy(T* to, const T* from, std::size_t count, cudaMemcpyKind kind, const char* what) const {
    if (count == 0) return;
    check(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream_), what);
    check(cudaStreamSynchronize(stream_), what);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace dfcl::nn::cuda

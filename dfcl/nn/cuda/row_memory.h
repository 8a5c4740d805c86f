// SPDX-License-Identifier: Apache-2.0
//
// Arrays of rows on the card, filled piece by piece through pinned memory of the machine: the next piece is written
// while the last one is on its way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "dfcl/nn/cuda/card_memory.h"

namespace dfcl::nn::cuda {

// Memory of the machine that the card copies from by itself.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t size) {
    if (size == 0) return;
    const cudaError_t status = cudaHostAlloc(reinterpret_cast<void**>(&data_), size * sizeof(T), cudaHostAllocDefault);
    if (status == cudaSuccess) return;
    cudaGetLastError();  // so that the next call does not meet it again
    throw core::Error({.kind = core::ErrorKind::unavailable,
                       .what = "this machine has no memory for copies to the graphics card",
                       .hint = "train on the processor"});
  }
  PinnedArray(PinnedArray&& other) noexcept { *this = std::move(other); }
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~PinnedArray() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

// Filled from the front to the back, in pieces of at most `kPiece` rows: a row is `width` numbers.
template <class T>
class RowArray {
 public:
  static constexpr std::size_t kPiece = 65'536;

  RowArray() = default;
  RowArray(const Stream& stream, std::size_t rows, std::size_t width)
      : width_(width), memory_(stream, rows * width), stage_size_(std::min(rows, kPiece) * width) {}

  // Where the host writes the rows from `first` on, and what copies them; then waits for the last of them.
  T* piece(std::size_t first) {
    Stage& stage = stages_[first / kPiece % 2];
    stage.copied.wait();
    if (stage.memory.data() == nullptr) stage.memory = PinnedArray<T>(stage_size_);
    return stage.memory.data();
  }
  void push(const Stream& stream, std::size_t first, std::size_t count) {
    if (width_ == 0) return;
    Stage& stage = stages_[first / kPiece % 2];
    check(cudaMemcpyAsync(memory_.data() + first * width_, stage.memory.data(), count * width_ * sizeof(T),
                          cudaMemcpyHostToDevice, stream),
          "copying to it");
    stage.copied.record(stream);
  }
  // Pinned memory is needed no more.
  void release_pinned() {
    for (Stage& stage : stages_) stage = {};
  }

  const T* data() const { return memory_.data(); }

 private:
  class Event {
   public:
    Event() = default;
    Event(Event&& other) noexcept { std::swap(event_, other.event_); }
    Event& operator=(Event&& other) noexcept {
      std::swap(event_, other.event_);
      return *this;
    }
    ~Event() {
      if (event_ != nullptr) cudaEventDestroy(event_);
    }
    void record(cudaStream_t stream) {
      if (event_ == nullptr) check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event");
      check(cudaEventRecord(event_, stream), "copying to it");
    }
    void wait() const {
      if (event_ != nullptr) check(cudaEventSynchronize(event_), "copying to it");
    }

   private:
    cudaEvent_t event_ = nullptr;
  };
  struct Stage {
    PinnedArray<T> memory;
    Event copied;
  };

  std::size_t width_ = 0;
  CardArray<T> memory_;
  std::size_t stage_size_ = 0;
  Stage stages_[2];
};

}  // namespace dfcl::nn::cuda

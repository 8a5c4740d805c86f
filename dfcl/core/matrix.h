// SPDX-License-Identifier: Apache-2.0
//
// Row-major matrices: MatrixView points into memory of somebody else, Matrix owns it, on the heap or in a file (see
// memory.h). Matrix grows by rows through realloc, which for large blocks moves pages instead of copying, so that a
// table of unknown length can be read without holding it twice. Memory is exactly rows x cols x sizeof(T) after
// shrink_to_fit; growth reserves a quarter more, untouched.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "dfcl/core/memory.h"

namespace dfcl::core {

template <class T>
struct MatrixView {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;

  std::span<T> row(std::size_t i) const { return {data + i * cols, cols}; }
  T& operator()(std::size_t i, std::size_t j) const { return data[i * cols + j]; }
  std::size_t size() const { return rows * cols; }
  MatrixView slice(std::size_t first_row, std::size_t num_rows) const {
    return {data + first_row * cols, num_rows, cols};
  }
  operator MatrixView<const T>() const requires(!std::is_const_v<T>) { return {data, rows, cols}; }
};

template <class T>
class Matrix {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Matrix() = default;
  explicit Matrix(std::size_t rows, std::size_t cols) : cols_(cols) { resize(rows); }
  // In memory of this kind; what the memory holds are the first rows.
  Matrix(Memory memory, std::size_t rows, std::size_t cols)
      : memory_(std::move(memory)),
        rows_(cols == 0 ? 0 : memory_.bytes() / sizeof(T) / cols),
        cols_(cols),
        capacity_(memory_.bytes() / sizeof(T)) {
    resize(rows);
  }
  Matrix(Matrix&& other) noexcept { *this = std::move(other); }
  Matrix& operator=(Matrix&& other) noexcept {
    memory_ = std::move(other.memory_);
    rows_ = std::exchange(other.rows_, 0);
    cols_ = std::exchange(other.cols_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  T* data() { return static_cast<T*>(memory_.data()); }
  const T* data() const { return static_cast<const T*>(memory_.data()); }
  T& operator()(std::size_t i, std::size_t j) { return data()[i * cols_ + j]; }
  const T& operator()(std::size_t i, std::size_t j) const { return data()[i * cols_ + j]; }
  std::span<T> row(std::size_t i) { return {data() + i * cols_, cols_}; }
  std::span<const T> row(std::size_t i) const { return {data() + i * cols_, cols_}; }
  MatrixView<T> view() { return {data(), rows_, cols_}; }
  MatrixView<const T> view() const { return {data(), rows_, cols_}; }

  // New rows are not initialised.
  void resize(std::size_t rows) {
    if (rows * cols_ > capacity_) reserve_elements(rows_ == 0 ? rows * cols_ : (rows + rows / 4) * cols_);
    rows_ = rows;
  }
  void shrink_to_fit() { reserve_elements(rows_ * cols_); }

 private:
  void reserve_elements(std::size_t elements) {
    if (elements == 0) return;
    memory_.resize(elements * sizeof(T));
    capacity_ = elements;
  }
  Memory memory_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace dfcl::core

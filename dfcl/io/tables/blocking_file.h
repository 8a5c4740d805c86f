// SPDX-License-Identifier: Apache-2.0
//
// A file for Arrow's readers, read through our own calls and in the calling thread only. Arrow's own files hand some
// reads to background threads, which may let go of buffers after the reader and its memory pool are gone. Several share
// one descriptor. Internal to io.
#pragma once

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/future.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "dfcl/core/file_calls.h"

namespace dfcl::io {

class BlockingFile final : public arrow::io::RandomAccessFile {
 public:
  BlockingFile(std::shared_ptr<const core::Descriptor> file, std::uint64_t size, arrow::MemoryPool* pool)
      : file_(std::move(file)), size_(static_cast<std::int64_t>(size)), pool_(pool) {}

  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return is_closed_; }
  arrow::Result<std::int64_t> Tell() const override { return place_; }
  arrow::Status Seek(std::int64_t position) override {
    if (position < 0) return arrow::Status::Invalid("a place before the start of the file");
    place_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<std::int64_t> GetSize() override { return size_; }
  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t got, ReadAt(place_, bytes, out));
    place_ += got;
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(place_, bytes));
    place_ += buffer->size();
    return buffer;
  }
  arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t bytes, void* out) override {
    if (position < 0 || bytes < 0) return arrow::Status::Invalid("a place outside the file");
    std::int64_t done = 0;
    while (done < bytes) {
      const ssize_t got =
          core::read_some_at(file_->number(), static_cast<char*>(out) + done, static_cast<std::size_t>(bytes - done),
                             static_cast<std::uint64_t>(position + done));
      if (got < 0) return arrow::Status::IOError(std::strerror(errno));
      if (got == 0) break;
      done += got;
    }
    return done;
  }
  // A damaged length never allocates more than the file holds.
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position, std::int64_t bytes) override {
    if (position < 0 || bytes < 0) return arrow::Status::Invalid("a place outside the file");
    const std::int64_t most = std::min(bytes, std::max<std::int64_t>(0, size_ - position));
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::ResizableBuffer> buffer, arrow::AllocateResizableBuffer(most, pool_));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t got, ReadAt(position, most, buffer->mutable_data()));
    if (got < most) ARROW_RETURN_NOT_OK(buffer->Resize(got, false));
    return buffer;
  }
  arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext&, std::int64_t position,
                                                          std::int64_t bytes, bool) override {
    return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(ReadAt(position, bytes));
  }

 private:
  std::shared_ptr<const core::Descriptor> file_;
  std::int64_t size_;
  arrow::MemoryPool* pool_;
  std::int64_t place_ = 0;
  bool is_closed_ = false;
};

}  // namespace dfcl::io

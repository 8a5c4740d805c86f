// SPDX-License-Identifier: Apache-2.0
//
// A file for Arrow's readers whose reads all happen in the calling thread. Arrow's own files hand some reads to
// background threads, which may let go of buffers after the reader and its memory pool are gone. Internal to io.
#pragma once

#include <arrow/io/file.h>
#include <arrow/util/future.h>

#include <algorithm>
#include <memory>
#include <string>

namespace dfcl::io {

class BlockingFile final : public arrow::io::RandomAccessFile {
 public:
  static arrow::Result<std::shared_ptr<BlockingFile>> open(const std::string& path, arrow::MemoryPool* pool) {
    ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path, pool));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t size, file->GetSize());
    return std::shared_ptr<BlockingFile>(new BlockingFile(std::move(file), size));
  }

  arrow::Status Close() override { return file_->Close(); }
  bool closed() const override { return file_->closed(); }
  arrow::Result<std::int64_t> Tell() const override { return file_->Tell(); }
  arrow::Status Seek(std::int64_t position) override { return file_->Seek(position); }
  arrow::Result<std::int64_t> GetSize() override { return size_; }
  arrow::Result<std::int64_t> Read(std::int64_t bytes, void* out) override { return file_->Read(bytes, out); }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t bytes) override {
    return file_->Read(std::min(bytes, size_));
  }
  arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t bytes, void* out) override {
    return file_->ReadAt(position, bytes, out);
  }
  // A damaged length never allocates more than the file holds.
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position, std::int64_t bytes) override {
    return file_->ReadAt(position, std::min(bytes, size_));
  }
  arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext&, std::int64_t position,
                                                          std::int64_t bytes, bool) override {
    return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(ReadAt(position, bytes));
  }

 private:
  BlockingFile(std::shared_ptr<arrow::io::ReadableFile> file, std::int64_t size)
      : file_(std::move(file)), size_(size) {}

  std::shared_ptr<arrow::io::ReadableFile> file_;
  std::int64_t size_;
};

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/batch_stream.h"

#include <arrow/api.h>
#include <arrow/c/abi.h>
#include <arrow/c/bridge.h>

#include "dfcl/io/tables/arrow_status.h"
#include "dfcl/io/tables/record_batches.h"

namespace dfcl::io {
namespace {

class BatchStream : public arrow::RecordBatchReader {
 public:
  BatchStream(std::unique_ptr<data::BatchSource> source, std::shared_ptr<arrow::Schema> schema)
      : source_(std::move(source)), schema_(std::move(schema)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* record_batch) override {
    try {
      data::Batch batch;
      if (!source_->next(batch)) {
        record_batch->reset();
        return arrow::Status::OK();
      }
      ARROW_ASSIGN_OR_RAISE(*record_batch, to_record_batch(schema_, batch));
      return arrow::Status::OK();
    } catch (const std::exception& failure) {  // no exception may cross the C interface
      return arrow::Status::ExecutionError(failure.what());
    }
  }

 private:
  std::unique_ptr<data::BatchSource> source_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

ArrowArrayStream* new_stream(std::unique_ptr<data::BatchSource> source, const data::Provenance& provenance) {
  auto schema = arrow_schema(source->columns(), provenance);
  const auto reader = std::make_shared<BatchStream>(std::move(source), std::move(schema));
  auto stream = std::make_unique<ArrowArrayStream>();
  require_good(arrow::ExportRecordBatchReader(reader, stream.get()), "<stream>", "write");
  return stream.release();
}

void delete_stream(ArrowArrayStream* stream) {
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

}  // namespace dfcl::io

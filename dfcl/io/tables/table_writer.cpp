// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/table_writer.h"

#include <arrow/api.h>
#include <arrow/csv/writer.h>
#include <arrow/io/api.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>

#include <nlohmann/json.hpp>

#include "dfcl/core/error.h"
#include "dfcl/io/tables/arrow_status.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/record_batches.h"

namespace dfcl::io {
namespace {

nlohmann::ordered_json object_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [name, value] : entries) object[name] = value;
  return object;
}

}  // namespace

struct TableWriter::Impl {
  explicit Impl(const std::string& path) : file(path) {}

  const std::string& path() const { return file.path(); }
  void check(const arrow::Status& status) const { require_good(status, path(), "write"); }
  template <class T>
  T check(arrow::Result<T> result) const {
    return require_value(std::move(result), path(), "write");
  }

  AtomicFile file;
  std::shared_ptr<arrow::Schema> schema;
  std::shared_ptr<arrow::io::OutputStream> stream;
  std::unique_ptr<parquet::arrow::FileWriter> parquet_writer;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> batch_writer;  // CSV and Arrow IPC
};

TableWriter::TableWriter(const std::string& path, std::vector<data::ColumnInfo> columns,
                         const data::Provenance& provenance, Values values) {
  const FileFormat format = format_of_name(path);
  impl_ = std::make_unique<Impl>(path);
  impl_->schema = arrow_schema(columns, provenance);
  impl_->stream = impl_->check(arrow::io::FileOutputStream::Open(impl_->file.temporary_path()));
  switch (format) {
    case FileFormat::parquet: {
      parquet::WriterProperties::Builder builder;
      builder.compression(parquet::Compression::SNAPPY);
      if (values == Values::seldom_repeat) builder.disable_dictionary();
      const auto properties = builder.build();
      const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
      impl_->parquet_writer = impl_->check(parquet::arrow::FileWriter::Open(
          *impl_->schema, arrow::default_memory_pool(), impl_->stream, properties, arrow_properties));
      break;
    }
    case FileFormat::arrow_file:
    case FileFormat::arrow_stream:
      impl_->batch_writer = impl_->check(arrow::ipc::MakeFileWriter(impl_->stream, impl_->schema));
      break;
    case FileFormat::csv_gzip: {
      auto codec = impl_->check(arrow::util::Codec::Create(arrow::Compression::GZIP));
      impl_->stream = impl_->check(arrow::io::CompressedOutputStream::Make(codec.get(), impl_->stream));
      [[fallthrough]];
    }
    case FileFormat::csv: {
      auto options = arrow::csv::WriteOptions::Defaults();
      options.quoting_header = arrow::csv::QuotingStyle::Needed;
      impl_->batch_writer = impl_->check(arrow::csv::MakeCSVWriter(impl_->stream, impl_->schema, options));
      break;
    }
  }
}

TableWriter::~TableWriter() = default;

void TableWriter::write(const data::Batch& batch) {
  const auto rows = static_cast<std::int64_t>(batch.num_rows);
  const auto record_batch = impl_->check(to_record_batch(impl_->schema, batch));
  if (impl_->parquet_writer) {
    const auto table = impl_->check(arrow::Table::FromRecordBatches(impl_->schema, {record_batch}));
    impl_->check(impl_->parquet_writer->WriteTable(*table, std::max<std::int64_t>(rows, 1)));
  } else {
    impl_->check(impl_->batch_writer->WriteRecordBatch(*record_batch));
  }
}

void TableWriter::commit(const std::vector<std::pair<std::string, std::string>>& figures) {
  if (impl_->parquet_writer) {
    if (!figures.empty()) {
      impl_->check(impl_->parquet_writer->AddKeyValueMetadata(
          arrow::key_value_metadata({{kFiguresKey, object_of(figures).dump()}})));
    }
    impl_->check(impl_->parquet_writer->Close());
  }
  if (impl_->batch_writer) impl_->check(impl_->batch_writer->Close());
  impl_->check(impl_->stream->Close());
  impl_->file.commit();
}

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/table_writer.h"

#include <arrow/api.h>
#include <arrow/csv/writer.h>
#include <arrow/io/api.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "dfcl/core/error.h"
#include "dfcl/io/arrow_status.h"
#include "dfcl/io/atomic_file.h"
#include "dfcl/io/file_format.h"

namespace dfcl::io {
namespace {

std::shared_ptr<arrow::DataType> arrow_type(data::ColumnType type) {
  switch (type) {
    case data::ColumnType::float32: return arrow::float32();
    case data::ColumnType::float64: return arrow::float64();
    case data::ColumnType::int64: return arrow::int64();
    case data::ColumnType::text: return arrow::utf8();
  }
  return arrow::utf8();
}

template <class Builder, class Value>
arrow::Result<std::shared_ptr<arrow::Array>> floats_to_arrow(const std::vector<Value>& values) {
  Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<std::int64_t>(values.size())));
  for (const Value value : values) {
    if (std::isnan(value)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(value);
    }
  }
  return builder.Finish();
}

struct ToArrow {
  arrow::Result<std::shared_ptr<arrow::Array>> operator()(const std::vector<float>& values) const {
    return floats_to_arrow<arrow::FloatBuilder>(values);
  }
  arrow::Result<std::shared_ptr<arrow::Array>> operator()(const std::vector<double>& values) const {
    return floats_to_arrow<arrow::DoubleBuilder>(values);
  }
  arrow::Result<std::shared_ptr<arrow::Array>> operator()(const std::vector<std::int64_t>& values) const {
    arrow::Int64Builder builder;
    ARROW_RETURN_NOT_OK(builder.AppendValues(values));
    return builder.Finish();
  }
  arrow::Result<std::shared_ptr<arrow::Array>> operator()(const data::TextColumn& values) const {
    arrow::StringBuilder builder;
    for (std::size_t row = 0; row < values.size(); ++row) {
      ARROW_RETURN_NOT_OK(values[row].empty() ? builder.AppendNull() : builder.Append(values[row]));
    }
    return builder.Finish();
  }
};

nlohmann::ordered_json object_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [name, value] : entries) object[name] = value;
  return object;
}

std::string provenance_json(const data::Provenance& provenance) {
  return nlohmann::ordered_json{{"kind", provenance.kind},
                                {"version", provenance.version},
                                {"verb", provenance.verb},
                                {"options", object_of(provenance.options)}}
      .dump();
}

}  // namespace

struct TableWriter::Impl {
  Impl(const std::string& path, std::vector<data::ColumnInfo> infos) : file(path), columns(std::move(infos)) {}

  const std::string& path() const { return file.path(); }
  void check(const arrow::Status& status) const { require_good(status, path(), "write"); }
  template <class T>
  T check(arrow::Result<T> result) const {
    return require_value(std::move(result), path(), "write");
  }

  AtomicFile file;
  std::vector<data::ColumnInfo> columns;
  std::shared_ptr<arrow::Schema> schema;
  std::shared_ptr<arrow::io::OutputStream> stream;
  std::unique_ptr<parquet::arrow::FileWriter> parquet_writer;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> batch_writer;  // CSV and Arrow IPC
};

TableWriter::TableWriter(const std::string& path, std::vector<data::ColumnInfo> columns,
                         const data::Provenance& provenance) {
  const FileFormat format = format_of_name(path);
  impl_ = std::make_unique<Impl>(path, std::move(columns));
  arrow::FieldVector fields;
  for (const data::ColumnInfo& column : impl_->columns) {
    fields.push_back(arrow::field(column.name, arrow_type(column.type)));
  }
  impl_->schema = arrow::schema(fields, arrow::key_value_metadata({{kProvenanceKey, provenance_json(provenance)}}));
  impl_->stream = impl_->check(arrow::io::FileOutputStream::Open(impl_->file.temporary_path()));
  switch (format) {
    case FileFormat::parquet: {
      const auto properties = parquet::WriterProperties::Builder().compression(parquet::Compression::SNAPPY)->build();
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
  arrow::ArrayVector arrays;
  for (const data::ColumnValues& values : batch.columns) arrays.push_back(impl_->check(std::visit(ToArrow(), values)));
  const auto rows = static_cast<std::int64_t>(batch.num_rows);
  const auto record_batch = arrow::RecordBatch::Make(impl_->schema, rows, std::move(arrays));
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

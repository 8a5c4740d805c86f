// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/record_batches.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "dfcl/io/tables/file_format.h"

namespace dfcl::io {
namespace {

std::shared_ptr<arrow::DataType> arrow_type(data::ColumnType type) {
  switch (type) {
    case data::ColumnType::float32: return arrow::float32();
    case data::ColumnType::float64: return arrow::float64();
    case data::ColumnType::int64: return arrow::int64();
    case data::ColumnType::uint64: return arrow::uint64();
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
  arrow::Result<std::shared_ptr<arrow::Array>> operator()(const std::vector<std::uint64_t>& values) const {
    arrow::UInt64Builder builder;
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

std::string provenance_json(const data::Provenance& provenance) {
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  for (const auto& [name, value] : provenance.options) options[name] = value;
  return nlohmann::ordered_json{
      {"kind", provenance.kind}, {"version", provenance.version}, {"verb", provenance.verb}, {"options", options}}
      .dump();
}

}  // namespace

std::shared_ptr<arrow::Schema> arrow_schema(const std::vector<data::ColumnInfo>& columns,
                                            const data::Provenance& provenance) {
  arrow::FieldVector fields;
  for (const data::ColumnInfo& column : columns) fields.push_back(arrow::field(column.name, arrow_type(column.type)));
  return arrow::schema(fields, arrow::key_value_metadata({{kProvenanceKey, provenance_json(provenance)}}));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> to_record_batch(const std::shared_ptr<arrow::Schema>& schema,
                                                                   const data::Batch& batch) {
  arrow::ArrayVector arrays;
  for (const data::ColumnValues& values : batch.columns) {
    ARROW_ASSIGN_OR_RAISE(auto array, std::visit(ToArrow(), values));
    arrays.push_back(std::move(array));
  }
  return arrow::RecordBatch::Make(schema, static_cast<std::int64_t>(batch.num_rows), std::move(arrays));
}

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/table_writer.h"

#include <nlohmann/json.hpp>

#include "dfcl/core/error.h"
#include "dfcl/io/tables/arrow_status.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/meta_file.h"
#include "dfcl/io/tables/record_batches.h"
#include "dfcl/io/tables/record_sink.h"
#include "dfcl/io/tables/table_format.h"

namespace dfcl::io {
namespace {

// What Arrow's writers write, through our own calls.
class SeamStream final : public arrow::io::OutputStream {
 public:
  explicit SeamStream(AtomicFile& file) : file_(file) {}

  arrow::Status Write(const void* bytes, std::int64_t size) override {
    try {
      file_.write({static_cast<const char*>(bytes), static_cast<std::size_t>(size)});
    } catch (const core::Error& error) {
      return arrow::Status::IOError(error.details().found);
    }
    place_ += size;
    return arrow::Status::OK();
  }
  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return is_closed_; }
  arrow::Result<std::int64_t> Tell() const override { return place_; }

 private:
  AtomicFile& file_;
  std::int64_t place_ = 0;
  bool is_closed_ = false;
};

}  // namespace

std::string figures_json(const Figures& figures) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [name, value] : figures) object[name] = value;
  return object.dump();
}

struct TableWriter::Impl {
  Impl(const std::string& path, const data::Provenance& made)
      : format(format_of_name(path)), file(path), provenance(made) {}

  const TableFormat& format;
  AtomicFile file;
  data::Provenance provenance;
  std::shared_ptr<arrow::Schema> schema;
  std::unique_ptr<RecordSink> sink;
  std::size_t num_rows = 0;
};

TableWriter::TableWriter(const std::string& path, std::vector<data::ColumnInfo> columns,
                         const data::Provenance& provenance, Values values)
    : impl_(std::make_unique<Impl>(path, provenance)) {
  impl_->schema = arrow_schema(columns, provenance);
  impl_->sink = impl_->format.create(std::make_shared<SeamStream>(impl_->file), path, impl_->schema, values);
}

TableWriter::~TableWriter() = default;

void TableWriter::write(const data::Batch& batch) {
  impl_->sink->write(require_value(to_record_batch(impl_->schema, batch), impl_->file.path(), "write"));
  impl_->num_rows += batch.num_rows;
}

void TableWriter::commit(const Figures& figures) {
  impl_->sink->close(figures);
  const std::string beside = meta_path(impl_->file.path());
  if (impl_->file.is_stream()) return;
  // The table first: where it cannot be kept, what is beside the old one stays.
  if (impl_->format.is_text && !impl_->provenance.kind.empty()) {
    const std::string text = meta_text(impl_->provenance, figures, impl_->schema->field_names(), impl_->num_rows,
                                       impl_->file.descriptor(), impl_->file.path());
    impl_->file.commit();
    write_text_file(beside, text);
  } else {
    impl_->file.commit();
    remove_meta(beside);  // of a table that was here before
  }
}

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
//
// An input file as record batches, whatever its format. Internal to io. Parts are taken in order by one caller at a
// time (read and decompress); any thread may then decode a part (parse and validate), which is where the time goes.
// Memory: one part of about 8 MiB of text or 65,536 rows for each thread, and Arrow's buffers. What Arrow may allocate
// is capped by what the file can hold.
#pragma once

#include <arrow/api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/core/file_calls.h"
#include "dfcl/io/tables/bad_row.h"
#include "dfcl/io/tables/blocking_file.h"
#include "dfcl/io/tables/table_format.h"

namespace dfcl::io {

// What a column of a text file is to be parsed as; other formats say themselves what they hold.
enum class ParseAs : std::uint8_t { as_found, float32, float64, text, labels };

struct WantedColumn {
  std::string name;
  ParseAs parse_as = ParseAs::as_found;
};

struct Part {
  std::shared_ptr<arrow::Buffer> text;        // CSV: whole rows
  bool newlines_in_values = false;            // CSV: some quoted value holds a line end
  std::optional<std::size_t> open_quote;      // CSV: a quote that is never closed
  std::shared_ptr<arrow::RecordBatch> batch;  // other formats
  int row_group = -1;                         // Parquet in small row groups: not read yet
  std::int64_t num_rows = 0;                  // where counts_parts()
};

struct Decoded {
  std::shared_ptr<arrow::RecordBatch> batch;  // the wanted columns in the wanted order; null where bad is set
  std::int64_t num_rows = 0;
  std::int64_t num_lines = 0;  // CSV: lines in the part, empty ones included
  std::optional<BadRow> bad;
};

class RecordSource {
 public:
  virtual ~RecordSource() = default;

  const std::string& path() const { return path_; }
  const TableFormat& format() const { return format_; }
  // A text file says nothing of the types of its columns.
  bool is_text_file() const { return format_.is_text; }
  // All columns of the file; a text file's types are guessed from its first megabyte.
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  std::uint64_t file_bytes() const { return file_bytes_; }
  virtual std::uint64_t bytes_read() const = 0;
  // Of the file when it was opened. It stays open, so a file put in its place changes nothing of what is read.
  const core::FileVersion& version() const { return version_; }
  // Throws Error of kind file where the file was changed since.
  void require_unchanged() const;
  // Rows, where the file says it.
  virtual std::optional<std::int64_t> num_rows() const { return std::nullopt; }
  // Whether a part says how many rows it has before it is decoded.
  virtual bool counts_parts() const { return false; }
  // Bytes of the file that are in memory at a time beside the parts, after select().
  virtual std::uint64_t group_bytes() const { return 0; }

  // Must be called once before next().
  virtual void select(const std::vector<WantedColumn>& wanted) = 0;
  virtual std::optional<Part> next() = 0;
  virtual Decoded decode(const Part& part) const = 0;

  // The error of a bad row; the counts are of what came before the part.
  core::Error error_of(const BadRow& bad, const Part& part, std::int64_t rows_before, std::int64_t lines_before) const;
  // "trial.csv:1042" or "trial.parquet, row 1041", for a row of a part.
  std::string location(const Part& part, std::int64_t row, std::int64_t rows_before, std::int64_t lines_before) const;

 protected:
  RecordSource(std::string path, const TableFormat& format);
  // The indices of the wanted columns in the schema, or an Error with "did you mean".
  std::vector<int> indices_of(const std::vector<WantedColumn>& wanted) const;
  // The line of the file (from 1) of a row of a part, where the part is text.
  virtual std::int64_t line_of(const Part&, std::int64_t /*row*/, std::int64_t lines_before) const {
    return lines_before;
  }
  // Checks names once the schema is known: no columns, duplicated names and names that are not UTF-8 are errors.
  void set_schema(std::shared_ptr<arrow::Schema> schema);
  arrow::MemoryPool* pool() const { return pool_.get(); }
  // The file for one of Arrow's readers; all of them share one descriptor.
  std::shared_ptr<BlockingFile> open_file() const;

 private:
  std::string path_;
  const TableFormat& format_;
  std::shared_ptr<const core::Descriptor> file_;  // none for a table in memory
  core::FileVersion version_;
  std::uint64_t file_bytes_ = 0;
  std::unique_ptr<arrow::MemoryPool> pool_;
  std::shared_ptr<arrow::Schema> schema_;
};

// By the first bytes of the file, whatever its name. threads > 1 lets the columns of a file be decoded side by side.
std::unique_ptr<RecordSource> open_records(const std::string& path, int threads);

// Null where no MemoryTable has this name.
std::unique_ptr<RecordSource> open_memory_records(const std::string& path);

// Throws Error of kind file where a file is another one than it was in an earlier pass.
void require_same_file(const core::FileVersion& before, const RecordSource& now);

// The size of a file; 0 for a table in memory.
std::uint64_t bytes_of(const std::string& file);

}  // namespace dfcl::io

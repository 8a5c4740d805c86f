// SPDX-License-Identifier: Apache-2.0
//
// CSV and gzipped CSV as a RecordSource and a RecordSink. The file is cut into blocks of whole rows (quotes are
// followed, so a value may hold a line end); each block is parsed by Arrow's reader on one thread, so that a bad value
// comes with its row.
#include <arrow/csv/api.h>
#include <arrow/csv/writer.h>
#include <arrow/io/api.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "dfcl/core/error.h"
#include "dfcl/io/tables/arrow_status.h"
#include "dfcl/io/tables/blocking_file.h"
#include "dfcl/io/tables/csv_rows.h"
#include "dfcl/io/tables/record_source.h"
#include "dfcl/io/tables/table_format.h"

namespace dfcl::io {

extern const TableFormat kCsvFormat;
extern const TableFormat kGzippedCsvFormat;

namespace {

constexpr std::int64_t kProbeBytes = std::int64_t{1} << 20;
constexpr std::int64_t kBlockBytes = std::int64_t{4} << 20;
constexpr std::ptrdiff_t kMostColumns = 200'000;  // Arrow takes some 10 kB for each
constexpr std::int64_t kMostRowBytes = std::int64_t{64} << 20;

// The whole number after a mark in one of Arrow's messages, if it is there.
std::optional<std::int64_t> number_after(std::string_view message, std::string_view mark) {
  const std::size_t found = message.find(mark);
  if (found == std::string_view::npos) return std::nullopt;
  std::int64_t number = 0;
  const char* begin = message.data() + found + mark.size();
  const auto result = std::from_chars(begin, message.data() + message.size(), number);
  return result.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::string between(std::string_view message, std::string_view open, std::string_view close) {
  const std::size_t begin = message.find(open);
  if (begin == std::string_view::npos) return "";
  const std::size_t end = message.find(close, begin + open.size());
  return std::string(
      message.substr(begin + open.size(), end == std::string_view::npos ? end : end - begin - open.size()));
}

std::shared_ptr<arrow::DataType> arrow_type(ParseAs parse_as, const arrow::DataType& guessed) {
  switch (parse_as) {
    case ParseAs::float32: return arrow::float32();
    case ParseAs::float64: return arrow::float64();
    case ParseAs::text: return arrow::utf8();
    case ParseAs::labels: return arrow::dictionary(arrow::int32(), arrow::utf8());
    case ParseAs::as_found: break;
  }
  const bool number = guessed.id() == arrow::Type::INT64 || guessed.id() == arrow::Type::DOUBLE;
  return number ? arrow::float64() : arrow::utf8();
}

// Whether the column is to be read as the whole numbers that it seems to hold: as real ones, those beyond 2^53 would
// lose digits.
bool seems_whole(ParseAs parse_as, const arrow::DataType& guessed) {
  return parse_as == ParseAs::as_found && guessed.id() == arrow::Type::INT64;
}

class CsvSource : public RecordSource {
 public:
  CsvSource(const std::string& path, const TableFormat& format) : RecordSource(path, format) {
    file_ = open_file();
    stream_ = file_;
    if (&format == &kGzippedCsvFormat) {
      codec_ = check(arrow::util::Codec::Create(arrow::Compression::GZIP));
      stream_ = check(arrow::io::CompressedInputStream::Make(codec_.get(), file_, pool()));
    }
    read_header();
  }

  std::uint64_t bytes_read() const override {
    const auto position = file_->Tell();
    return position.ok() ? static_cast<std::uint64_t>(*position) : 0;
  }

  void select(const std::vector<WantedColumn>& wanted) override {
    const std::vector<int> indices = indices_of(wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      convert_.include_columns.push_back(wanted[i].name);
      convert_.column_types[wanted[i].name] = arrow_type(wanted[i].parse_as, *schema()->field(indices[i])->type());
    }
    if (wanted.empty()) convert_.include_columns.push_back(schema()->field(0)->name());  // none would mean all
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!seems_whole(wanted[i].parse_as, *schema()->field(indices[i])->type())) continue;
      if (!convert_whole_) convert_whole_ = convert_;
      convert_whole_->column_types[wanted[i].name] = arrow::int64();
    }
  }

  std::optional<Part> next() override {
    for (;;) {
      if (ended_ && carry_ == nullptr) return std::nullopt;
      std::shared_ptr<arrow::Buffer> text = ended_ ? std::exchange(carry_, nullptr) : read_more(kBlockBytes);
      const RowCut cut = cut_rows(std::string_view(*text), separator_);
      const bool too_long = cut.rows_end == 0 && text->size() > kMostRowBytes;
      const bool never_closed = cut.open_quote && (ended_ || too_long);
      if (too_long && !never_closed) check(arrow::Status::Invalid("a row of more than 64 MiB"));
      const std::int64_t end = ended_ || never_closed ? text->size() : static_cast<std::int64_t>(cut.rows_end);
      carry_ = end < text->size() ? arrow::SliceBuffer(text, end) : nullptr;
      if (end == 0 || blank(*text, end)) continue;
      return Part{arrow::SliceBuffer(text, 0, end), cut.newlines_in_values,
                  never_closed ? cut.open_quote : std::nullopt, nullptr};
    }
  }

  Decoded decode(const Part& part) const override {
    Decoded decoded;
    const std::string_view text(*part.text);
    decoded.num_lines = std::count(text.begin(), text.end(), '\n');
    if (part.open_quote) {
      decoded.bad = BadRow{row_at(text, separator_, *part.open_quote), "", "a quote that is never closed", "", "", ""};
      return decoded;
    }
    auto options = read_options(part.text->size());
    options.column_names = schema()->field_names();
    auto table = parse(part.text, options, part.newlines_in_values, convert_whole_ ? *convert_whole_ : convert_);
    if (!table.ok() && convert_whole_) table = parse(part.text, options, part.newlines_in_values, convert_);
    if (!table.ok()) {
      decoded.bad = explain(table.status());
      return decoded;
    }
    decoded.num_rows = (*table)->num_rows();
    decoded.batch = check((*table)->CombineChunksToBatch(pool()));
    return decoded;
  }

 private:
  std::int64_t line_of(const Part& part, std::int64_t row, std::int64_t lines_before) const override {
    return header_lines_ + lines_before + line_of_row(std::string_view(*part.text), separator_, row) + 1;
  }

  static bool blank(const arrow::Buffer& text, std::int64_t end) {
    return std::all_of(text.data(), text.data() + end, [](std::uint8_t byte) { return byte == '\n' || byte == '\r'; });
  }

  static arrow::csv::ReadOptions read_options(std::int64_t bytes) {
    auto options = arrow::csv::ReadOptions::Defaults();
    options.use_threads = false;
    options.block_size = static_cast<std::int32_t>(bytes + 1);  // the whole text as one block
    return options;
  }

  arrow::Result<std::shared_ptr<arrow::Table>> parse(const std::shared_ptr<arrow::Buffer>& text,
                                                     const arrow::csv::ReadOptions& read, bool newlines_in_values,
                                                     const arrow::csv::ConvertOptions& convert) const {
    auto options = arrow::csv::ParseOptions::Defaults();
    options.delimiter = separator_;
    options.newlines_in_values = newlines_in_values;
    ARROW_ASSIGN_OR_RAISE(auto reader, arrow::csv::TableReader::Make(arrow::io::IOContext(pool()),
                                                                     std::make_shared<arrow::io::BufferReader>(text),
                                                                     read, options, convert));
    return reader->Read();
  }

  void read_header() {
    convert_ = arrow::csv::ConvertOptions::Defaults();
    convert_.null_values = {"", "NA", "N/A", "#N/A", "null", "NULL"};
    convert_.strings_can_be_null = true;
    const Probe probe = read_probe();
    separator_ = separator_of(probe.text);
    require_few_columns(
        std::count(probe.text.begin(), probe.text.begin() + static_cast<std::ptrdiff_t>(probe.header_end), separator_));
    const RowCut cut = cut_rows(probe.text, separator_);
    const std::size_t sample_end = ended_ && !cut.open_quote ? probe.text.size() : cut.rows_end;
    auto table = parse(buffer_of(probe.text.substr(0, sample_end)), cut.newlines_in_values);
    if (!table.ok()) {
      // A bad row in the sample is reported with its place when it is read; the names are enough here.
      table = parse(buffer_of(probe.text.substr(0, probe.header_end)), true);
    }
    set_schema(check(std::move(table))->schema());
    const auto header_end = static_cast<std::int64_t>(probe.begin + probe.header_end);
    header_lines_ = std::count(probe.buffer->data(), probe.buffer->data() + header_end, '\n');
    carry_ = header_end < probe.buffer->size() ? arrow::SliceBuffer(probe.buffer, header_end) : nullptr;
  }

  struct Probe {
    std::shared_ptr<arrow::Buffer> buffer;  // from the start of the file
    std::size_t begin = 0;                  // of the header, which is the first line that is not blank
    std::string_view text;                  // from there on
    std::size_t header_end = 0;             // in text
  };

  // A megabyte, or as much as holds the header and a row. A mark of UTF-8 at the very start is not part of the header.
  Probe read_probe() {
    Probe probe;
    for (std::int64_t bytes = kProbeBytes;; bytes = probe.buffer->size()) {
      probe.buffer = read_more(bytes);
      const std::string_view all(*probe.buffer);
      probe.begin = std::min(all.size(), all.find_first_not_of("\r\n", all.starts_with("\xef\xbb\xbf") ? 3 : 0));
      probe.text = all.substr(probe.begin);
      if (probe.text.empty() && ended_) {
        throw core::Error({.kind = core::ErrorKind::data, .what = "the file is empty", .where = path()});
      }
      probe.header_end = first_row_end(probe.text);
      const bool whole = probe.header_end < probe.text.size() &&
                         first_row_end(probe.text.substr(probe.header_end)) < probe.text.size();
      if (whole || ended_) break;
      if (probe.buffer->size() > kMostRowBytes) check(arrow::Status::Invalid("a header or row of more than 64 MiB"));
      carry_ = probe.buffer;
    }
    probe.header_end = std::min(probe.header_end, probe.text.size());
    require_line_ends(probe.text.substr(0, probe.header_end));
    return probe;
  }

  // Rows that end with a carriage return alone would all be taken for the header.
  void require_line_ends(std::string_view header) const {
    const std::string_view line = header.substr(0, header.find_last_not_of("\r\n") + 1);
    if (line.find('"') == std::string_view::npos && line.find('\r') != std::string_view::npos) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = "a carriage return inside the header",
                         .where = path(),
                         .hint = "save the table with line ends of Unix or Windows"});
    }
    if (cut_rows(header, separator_of(header)).open_quote) {
      throw core::Error(
          {.kind = core::ErrorKind::data, .what = "a quote in the header that is never closed", .where = path()});
    }
  }

  void require_few_columns(std::ptrdiff_t separators) const {
    if (separators < kMostColumns) return;
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "too many columns",
                       .where = path(),
                       .found = fmt::format("{}", separators + 1),
                       .expected = fmt::format("at most {}", kMostColumns),
                       .hint = "Parquet files have no such limit"});
  }

  static std::shared_ptr<arrow::Buffer> buffer_of(std::string_view text) {
    const bool ends = text.ends_with('\n');
    return arrow::Buffer::FromString(std::string(text) + (ends ? "" : "\n"));
  }

  // Names and guessed types: the first row of the text is the header.
  arrow::Result<std::shared_ptr<arrow::Table>> parse(const std::shared_ptr<arrow::Buffer>& text,
                                                     bool newlines_in_values) const {
    return parse(text, read_options(text->size()), newlines_in_values, convert_);
  }

  // What was carried over and about as many bytes more; sets ended_ at the end of the file.
  std::shared_ptr<arrow::Buffer> read_more(std::int64_t bytes) {
    const std::int64_t carried = carry_ == nullptr ? 0 : carry_->size();
    std::shared_ptr<arrow::ResizableBuffer> text = check(arrow::AllocateResizableBuffer(carried + bytes, pool()));
    if (carried > 0) std::memcpy(text->mutable_data(), carry_->data(), static_cast<std::size_t>(carried));
    std::int64_t size = carried;
    while (size < carried + bytes) {
      const std::int64_t count = check(stream_->Read(carried + bytes - size, text->mutable_data() + size));
      if (count == 0) break;
      size += count;
    }
    ended_ = size < carried + bytes;
    if (std::memchr(text->data() + carried, '\0', static_cast<std::size_t>(size - carried)) != nullptr) {
      check(arrow::Status::Invalid("a zero byte in a text file"));
    }
    check(text->Resize(size, false));
    carry_ = nullptr;
    return text;
  }

  // From Arrow's words ("CSV parse error: Row #3: Expected 4 columns, got 2: ...", "In CSV column #1: Row #7: CSV
  // conversion error to float: invalid value 'x'") to ours.
  BadRow explain(const arrow::Status& status) const {
    const std::string& message = status.message();
    BadRow bad;
    bad.row = std::max<std::int64_t>(0, number_after(message, "Row #").value_or(1) - 1);
    if (const auto expected = number_after(message, "Expected ");
        expected && message.find("got ") != std::string::npos) {
      bad.what = "a row with the wrong number of fields";
      bad.found = fmt::format("{} fields", number_after(message, "got ").value_or(0));
      bad.expected = fmt::format("{}", *expected);
    } else if (message.find("conversion error") != std::string::npos) {
      const auto column = number_after(message, "In CSV column #").value_or(0);
      bad.column = column < schema()->num_fields() ? schema()->field(static_cast<int>(column))->name() : "";
      bad.what = message.find("UTF8") != std::string::npos ? "text that is not UTF-8" : "text in a numeric column";
      const std::string value = between(message, "invalid value '", "'");
      if (!value.empty()) bad.found = fmt::format("'{}'", value);
      if (bad.what.starts_with("text in")) {
        bad.expected = "a number";
        bad.hint = fmt::format(
            "if '{0}' holds categories, add it to [columns] categorical; if the value means missing, "
            "leave the field empty",
            bad.column);
      }
    } else {
      bad.what = "cannot parse";
      bad.found = fmt::format("'{}'", message.substr(0, message.find('\n')));
    }
    return bad;
  }

  void check(const arrow::Status& status) const { require_good(status, path(), "read"); }
  template <class T>
  T check(arrow::Result<T> result) const {
    return require_value(std::move(result), path(), "read");
  }

  std::shared_ptr<BlockingFile> file_;
  std::shared_ptr<arrow::io::InputStream> stream_;
  std::unique_ptr<arrow::util::Codec> codec_;
  arrow::csv::ConvertOptions convert_;
  std::optional<arrow::csv::ConvertOptions> convert_whole_;  // first; convert_ for parts that it cannot read
  std::shared_ptr<arrow::Buffer> carry_;
  char separator_ = ',';
  std::int64_t header_lines_ = 1;
  bool ended_ = false;
};

class CsvSink : public RecordSink {
 public:
  CsvSink(const OutputFile& file, const std::string& path, const std::shared_ptr<arrow::Schema>& schema, bool gzipped)
      : RecordSink(path), stream_(file) {
    if (gzipped) {
      codec_ = check(arrow::util::Codec::Create(arrow::Compression::GZIP));
      stream_ = check(arrow::io::CompressedOutputStream::Make(codec_.get(), stream_));
    }
    auto options = arrow::csv::WriteOptions::Defaults();
    options.quoting_header = arrow::csv::QuotingStyle::Needed;
    writer_ = check(arrow::csv::MakeCSVWriter(stream_, schema, options));
  }

  void write(const std::shared_ptr<arrow::RecordBatch>& batch) override { check(writer_->WriteRecordBatch(*batch)); }

  void close(const Figures&) override {
    check(writer_->Close());
    check(stream_->Close());
  }

 private:
  std::unique_ptr<arrow::util::Codec> codec_;
  std::shared_ptr<arrow::io::OutputStream> stream_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

}  // namespace

const TableFormat kGzippedCsvFormat = {
    .name = "gzipped CSV",
    .endings = {".csv.gz"},
    .is_text = true,
    .starts_with = [](std::string_view head) { return head.starts_with("\x1f\x8b"); },
    .open = [](const std::string& path, int) -> std::unique_ptr<RecordSource> {
      return std::make_unique<CsvSource>(path, kGzippedCsvFormat);
    },
    .create = [](const OutputFile& file, const std::string& path, std::shared_ptr<arrow::Schema> schema, Values)
        -> std::unique_ptr<RecordSink> { return std::make_unique<CsvSink>(file, path, schema, true); }};

const TableFormat kCsvFormat = {
    .name = "CSV",
    .endings = {".csv"},
    .is_text = true,
    .starts_with = [](std::string_view head) { return head.find('\0') == std::string_view::npos; },
    .open = [](const std::string& path, int) -> std::unique_ptr<RecordSource> {
      return std::make_unique<CsvSource>(path, kCsvFormat);
    },
    .create = [](const OutputFile& file, const std::string& path, std::shared_ptr<arrow::Schema> schema, Values)
        -> std::unique_ptr<RecordSink> { return std::make_unique<CsvSink>(file, path, schema, false); }};

}  // namespace dfcl::io

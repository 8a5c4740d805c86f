// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "dfcl/core/file_calls.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/run_context.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/io/tables/csv_rows.h"
#include "dfcl/io/tables/table_sample_reader.h"
#include "dfcl/io/tables/table_summary_reader.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/io/tensors/strict_json.h"
#include "dfcl/io/trial/trial_cache.h"
#include "dfcl/io/trial/trial_reader.h"
#include "tests/fuzz/targets.h"

namespace dfcl::fuzz {
namespace {

constexpr const char* kStudy = R"(format = 2
[data]
trial = "t"
[columns]
arm = "treatment"
revenue = "visit"
cost = "conversion"
)";

core::RunContext& context() {
  static core::RunContext one_thread(1);
  return one_thread;
}

// A file in memory with these bytes; readers open it by its path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (!file_) throw std::runtime_error("no file in memory");
    core::write_all(file_.number(), bytes, "fuzz");
    path_ = fmt::format("/proc/self/fd/{}", file_.number());
  }
  const std::string& path() const { return path_; }

 private:
  core::Descriptor file_;
  std::string path_;
};

void require(bool holds) {
  if (!holds) throw std::logic_error("the reader by letters says something else");
}

struct Rows {
  io::RowCut cut;
  std::vector<std::int64_t> lines;  // where each row that is not blank begins
  std::vector<std::size_t> begins;
};

Rows rows_by_letters(std::string_view text, char separator) {
  Rows rows;
  bool quoted = false, blank = true;
  std::size_t begin = 0;
  std::int64_t line = 0, begin_line = 0;
  const auto end_row = [&](std::size_t end) {
    if (!blank) {
      rows.lines.push_back(begin_line);
      rows.begins.push_back(begin);
    }
    blank = true;
    begin = end;
    begin_line = line;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter != '\n' && letter != '\r') blank = false;
    if (letter == '\n') ++line;
    if (quoted) {
      if (letter == '\n') rows.cut.newlines_in_values = true;
      if (letter != '"') continue;
      if (i + 1 < text.size() && text[i + 1] == '"')
        ++i;
      else
        quoted = false, rows.cut.open_quote.reset();
      continue;
    }
    const char before = i == 0 ? '\n' : text[i - 1];
    if (letter == '"' && (before == '\n' || before == '\r' || before == separator)) {
      quoted = true;
      rows.cut.open_quote = i;
    }
    if (letter == '\n') rows.cut.rows_end = i + 1, end_row(i + 1);
  }
  if (begin < text.size()) end_row(text.size());
  return rows;
}

}  // namespace

void fuzz_study(std::string_view bytes) {
  if (bytes.size() > (std::size_t{1} << 20)) return;  // readers refuse more
  expect_refusal_or_success([&] {
    const data::Study study = io::parse_study(std::string(bytes), "study.toml", "", {}, false);
    // What we write, we read.
    (void)io::parse_study(io::study_text(study), "again.toml", "", {}, false);
  });
}

void fuzz_setting(std::string_view bytes) {
  expect_refusal_or_success([&] { (void)io::parse_study(kStudy, "study.toml", "", {std::string(bytes)}, false); });
}

// Beside a reader that goes letter by letter.
void fuzz_rows(std::string_view bytes) {
  const char separator = io::separator_of(bytes);
  const Rows expected = rows_by_letters(bytes, separator);
  const io::RowCut cut = io::cut_rows(bytes, separator);
  require(cut.rows_end == expected.cut.rows_end && cut.newlines_in_values == expected.cut.newlines_in_values &&
          cut.open_quote == expected.cut.open_quote);
  require(io::cut_rows(bytes.substr(0, cut.rows_end), separator).rows_end == cut.rows_end);
  const std::size_t head = io::first_row_end(bytes);
  require(head == std::string_view::npos || (head > 0 && head <= bytes.size() && bytes[head - 1] == '\n'));
  for (std::size_t row = 0; row < std::min<std::size_t>(expected.lines.size(), 4); ++row) {
    require(io::line_of_row(bytes, separator, static_cast<std::int64_t>(row)) == expected.lines[row]);
    require(io::row_at(bytes, separator, expected.begins[row]) == static_cast<std::int64_t>(row));
  }
}

// Whatever its format: the first bytes decide.
void fuzz_table(std::string_view bytes) {
  const MemoryFile file(bytes);
  expect_refusal_or_success([&] {
    const data::TableSummary summary = io::summarize_table(file.path(), context());
    (void)io::sample_table(file.path(), summary, context());
  });
  expect_refusal_or_success([&] {
    data::Study study = io::parse_study(kStudy, "study.toml", "", {}, false);
    study.data.trial = file.path();
    (void)io::read_trial(study, context());
  });
}

void fuzz_prediction(std::string_view bytes) {
  const MemoryFile file(bytes);
  expect_refusal_or_success([&] { (void)io::read_prediction(file.path(), "", context()); });
  expect_refusal_or_success([&] { (void)io::read_plan(file.path(), context()); });
  expect_refusal_or_success([&] { (void)io::read_segment_budgets(file.path(), context()); });
}

void fuzz_safetensors(std::string_view bytes) {
  expect_refusal_or_success([&] { (void)io::parse_safetensors(bytes, "model"); });
  const MemoryFile file(bytes);
  (void)io::is_safetensors(file.path());
  expect_refusal_or_success([&] { (void)io::read_safetensors(file.path()); });
}

void fuzz_json(std::string_view bytes) {
  expect_refusal_or_success([&] { (void)io::parse_strictly(bytes, 8, "json"); });
}

// The header of a cache, with the checksum that it needs to be looked at. Its columns are empty files.
void fuzz_cache(std::string_view bytes) {
  static const std::string folder = [] {
    std::string pattern = (std::filesystem::temp_directory_path() / "dfcl-fuzz-XXXXXX").string();
    return std::string(::mkdtemp(pattern.data()));
  }();
  constexpr std::uint64_t kKey = 1;
  const std::string place = fmt::format("{}/trial-{:016x}", folder, kKey);
  std::filesystem::create_directories(place);
  for (const char* name : {"features", "arm", "revenue", "cost", "split", "ids"})
    (void)core::open_file(fmt::format("{}/{}", place, name), O_WRONLY | O_CREAT, 0600);
  const core::Descriptor header = core::open_file(place + "/header", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const std::string text = fmt::format("{:016x}\n{}", core::hash_text(bytes), bytes);
  core::write_all(header.number(), text, place);
  const io::ReadInto never = [](const std::string&) -> data::Trial { throw core::Error({.what = "read anew"}); };
  expect_refusal_or_success([&] { (void)io::cached_trial(folder, kKey, never, context()); });
}

}  // namespace dfcl::fuzz

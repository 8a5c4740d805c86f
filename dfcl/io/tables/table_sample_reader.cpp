// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/table_sample_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/io/tables/column_values.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/id_values.h"
#include "dfcl/io/tables/record_source.h"

namespace dfcl::io {
namespace {

using data::SampledColumn;

constexpr std::int64_t kBlock = 256;  // neighbouring rows that are taken together
constexpr std::uint64_t kBlockSeed = 0x5a3b1e;

// What a column yields: numbers, codes, or both.
struct ColumnPlan {
  bool numbers = false;
  bool codes = false;
  bool words = false;  // yes/no, as numbers
};

ColumnPlan plan_of(const data::ColumnSummary& column) {
  ColumnPlan plan;
  plan.numbers = column.is_number;
  plan.codes = !column.is_number || column.is_integer || !column.looks_unique;
  plan.words = !column.is_number && column.distinct == 2 && column.frequent.size() == 2 &&
               std::all_of(column.frequent.begin(), column.frequent.end(),
                           [](const auto& entry) { return number_of_word(entry.first).has_value(); });
  return plan;
}

// The values of one column in one part, whose rows that are not in the sample are left out.
struct PartValues {
  std::vector<float> numbers;
  std::vector<std::uint64_t> keys;  // equal where the values are; 0: missing
  std::vector<std::string> texts;   // of new keys in this part, in order of first appearance
  std::vector<std::uint64_t> text_keys;
};

std::uint64_t never_zero(std::uint64_t hash) { return hash == 0 ? 1 : hash; }

// Whole numbers have the same key and text in columns of whole and of real numbers: a text file may be both, part by
// part. Those too large to be exact as real numbers keep the digits they have.
class NumberKeys {
 public:
  NumberKeys(const arrow::Array& array, const std::vector<double>& numbers) : numbers_(numbers) {
    is_float_ = array.type_id() == arrow::Type::FLOAT;
    if (!arrow::is_integer(array.type_id())) return;
    const bool any_large = std::any_of(numbers.begin(), numbers.end(), [](double n) { return std::fabs(n) >= kExact; });
    if (any_large) ids_ = ids_of(array, Letters::are_text);
  }

  std::uint64_t key(std::size_t row) const {
    const double number = numbers_[row];
    if (std::isnan(number)) return 0;
    if (is_exact(number))
      return never_zero(core::mix_bits(static_cast<std::uint64_t>(static_cast<std::int64_t>(number))));
    return never_zero(ids_ ? ids_->hash(row) : core::hash_bytes(&number, sizeof(double)));
  }

  std::string text(std::size_t row) const {
    const double number = numbers_[row];
    if (is_exact(number)) return fmt::format("{}", static_cast<std::int64_t>(number));
    if (ids_) return std::string(ids_->text(row));
    return is_float_ ? number_text(static_cast<float>(number)) : number_text(number);
  }

 private:
  static constexpr double kExact = 9007199254740992.0;  // 2^53
  static bool is_exact(double number) { return std::fabs(number) < kExact && number == std::floor(number); }

  const std::vector<double>& numbers_;
  std::optional<data::Ids> ids_;
  bool is_float_ = false;
};

PartValues number_values(const arrow::Array& array, const ColumnPlan& plan, const std::vector<std::int64_t>& rows) {
  PartValues part;
  std::vector<double> numbers(static_cast<std::size_t>(array.length()));
  fill_numbers(array, 0, array.length(), numbers.data(), 1);
  const NumberKeys keys(array, numbers);
  std::unordered_set<std::uint64_t> seen;
  for (const std::int64_t at : rows) {
    const auto row = static_cast<std::size_t>(at);
    part.numbers.push_back(static_cast<float>(numbers[row]));
    if (!plan.codes) continue;
    const std::uint64_t key = keys.key(row);
    part.keys.push_back(key);
    if (key == 0 || seen.size() > data::ColumnSummary::kMostDistinct || !seen.insert(key).second) continue;
    part.text_keys.push_back(key);
    part.texts.push_back(keys.text(row));
  }
  return part;
}

PartValues label_values(const arrow::Array& array, const ColumnPlan& plan, const std::vector<std::int64_t>& rows) {
  PartValues part;
  const LabelColumn labels = labels_of(array);
  std::vector<std::uint64_t> keys(labels.labels.size());
  std::vector<float> words(labels.labels.size());
  for (std::size_t label = 0; label < keys.size(); ++label) {
    keys[label] = never_zero(core::hash_text(labels.labels[label]));
    words[label] = plan.words ? static_cast<float>(number_of_word(labels.labels[label]).value_or(std::nan(""))) : 0.0f;
    if (label > data::ColumnSummary::kMostDistinct) continue;
    part.text_keys.push_back(keys[label]);
    part.texts.push_back(labels.labels[label]);
  }
  for (const std::int64_t at : rows) {
    const std::uint32_t code = labels.codes[static_cast<std::size_t>(at)];
    const bool missing = code == LabelColumn::kMissing;
    part.keys.push_back(missing ? 0 : keys[code]);
    if (plan.words) part.numbers.push_back(missing ? std::nanf("") : words[code]);
  }
  return part;
}

// Joins the parts of a column, in order.
class ColumnBuilder {
 public:
  ColumnBuilder(std::string name, const ColumnPlan& plan) : plan_(plan) { column_.name = std::move(name); }

  PartValues read(const arrow::Array& array, const std::vector<std::int64_t>& rows) const {
    if (!plan_.numbers) return label_values(array, plan_, rows);
    if (is_number(*array.type())) return number_values(array, plan_, rows);
    throw core::data_error("", fmt::format("column '{}' changed while it was read", column_.name), "text", "numbers");
  }

  void add(const PartValues& part) {
    if (plan_.numbers || plan_.words)
      column_.numbers.insert(column_.numbers.end(), part.numbers.begin(), part.numbers.end());
    if (!plan_.codes) return;
    for (const std::uint64_t key : part.keys) {
      const auto next = static_cast<std::uint32_t>(codes_.size());
      column_.codes.push_back(key == 0 ? SampledColumn::kMissing : codes_.try_emplace(key, next).first->second);
    }
    if (codes_.size() > data::ColumnSummary::kMostDistinct) {
      column_.labels.clear();
      return;
    }
    column_.labels.resize(codes_.size());
    for (std::size_t i = 0; i < part.texts.size(); ++i) {
      const auto code = codes_.find(part.text_keys[i]);
      if (code != codes_.end() && column_.labels[code->second].empty()) column_.labels[code->second] = part.texts[i];
    }
  }

  SampledColumn take() { return std::move(column_); }

 private:
  ColumnPlan plan_;
  SampledColumn column_;
  std::unordered_map<std::uint64_t, std::uint32_t> codes_;
};

struct SampledPart {
  Part part;
  Decoded decoded;
};

bool in_sample(std::int64_t row, double share) {
  return core::hash_fraction(core::combine_hashes(kBlockSeed, static_cast<std::uint64_t>(row / kBlock))) < share;
}

// Adds one file; returns its rows. Which rows are in the sample depends on how many came before, so that the values are
// read in the order of the parts; decoding runs side by side.
std::int64_t sample_file(RecordSource& source, std::int64_t first_row, double share,
                         std::vector<ColumnBuilder>& builders, core::RunContext& context) {
  std::int64_t rows_before = 0;
  std::int64_t lines_before = 0;
  core::ordered_pipeline(
      context,
      [&] {
        context.progress("looking", source.bytes_read(), source.file_bytes(), "bytes");
        return source.next();
      },
      [&](Part part) {
        SampledPart result{std::move(part), {}};
        result.decoded = source.decode(result.part);
        return result;
      },
      [&](SampledPart result) {
        if (result.decoded.bad) throw source.error_of(*result.decoded.bad, result.part, rows_before, lines_before);
        std::vector<std::int64_t> rows;
        for (std::int64_t row = 0; row < result.decoded.num_rows; ++row) {
          if (share >= 1.0 || in_sample(first_row + rows_before + row, share)) rows.push_back(row);
        }
        for (std::size_t i = 0; i < builders.size(); ++i)
          builders[i].add(builders[i].read(*result.decoded.batch->column(static_cast<int>(i)), rows));
        rows_before += result.decoded.num_rows;
        lines_before += result.decoded.num_lines;
      });
  return rows_before;
}

}  // namespace

data::TableSample sample_table(const std::string& path, const data::TableSummary& summary, core::RunContext& context,
                               std::size_t most_cells, std::size_t most_rows) {
  const std::size_t columns = std::max<std::size_t>(1, summary.columns.size());
  const double wanted = static_cast<double>(std::min(most_rows, std::max<std::size_t>(1000, most_cells / columns)));
  const double share = summary.rows > 0 ? wanted / static_cast<double>(summary.rows) : 1.0;
  std::vector<ColumnBuilder> builders;
  std::vector<WantedColumn> selected;
  for (const data::ColumnSummary& column : summary.columns) {
    builders.emplace_back(column.name, plan_of(column));
    selected.push_back({column.name, ParseAs::as_found});
  }
  std::int64_t rows = 0;
  for (const std::string& file : input_files(path)) {
    auto source = open_records(file, context.pool.threads());
    source->select(selected);
    rows += sample_file(*source, rows, share, builders, context);
  }
  context.finished("looking");
  data::TableSample sample;
  sample.is_whole = share >= 1.0;
  for (ColumnBuilder& builder : builders) {
    sample.columns.push_back(builder.take());
    const SampledColumn& column = sample.columns.back();
    sample.num_rows = std::max(column.numbers.size(), column.codes.size());
  }
  return sample;
}

}  // namespace dfcl::io

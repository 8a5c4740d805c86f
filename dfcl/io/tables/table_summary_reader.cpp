// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/table_summary_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/io/tables/column_values.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/id_values.h"
#include "dfcl/io/tables/meta_file.h"
#include "dfcl/io/tables/record_source.h"

namespace dfcl::io {
namespace {

constexpr std::size_t kMostDistinct = data::ColumnSummary::kMostDistinct;
constexpr std::size_t kFrequentShown = 8;
constexpr std::size_t kUniqueSample = 100'000;

// What one part says about one column.
struct PartColumn {
  std::int64_t missing = 0;
  std::int64_t count = 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double sum = 0.0;
  bool is_number = true;
  bool is_integer = true;
  std::vector<std::pair<std::string, std::int64_t>> values;  // distinct ones, at most kMostDistinct
  bool values_cut = false;
  std::vector<std::uint64_t> hashes;  // of the first rows
};

// The number that a person would write for this float32: 0.15, not 0.15000000596046448.
double shown_float(double value) { return std::strtod(number_text(static_cast<float>(value)).c_str(), nullptr); }

// The distinct values as texts, and hashes of the first rows. Whole numbers are told apart exactly.
void count_numbers(const arrow::Array& array, const std::vector<double>& numbers, PartColumn& part) {
  const bool is_whole = arrow::is_integer(array.type_id());
  const bool is_float = array.type_id() == arrow::Type::FLOAT;
  const data::Ids ids = is_whole ? ids_of(array, Letters::are_text) : data::Ids();
  // Whole numbers have the same key and text in columns of whole and of real numbers: a text file may be both, part by
  // part.
  const auto is_exact = [&](std::size_t row) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    return std::fabs(numbers[row]) < kExact && numbers[row] == std::floor(numbers[row]);
  };
  std::unordered_map<std::uint64_t, std::pair<std::size_t, std::int64_t>> counts;  // first row, and how many
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    if (std::isnan(numbers[row])) continue;
    const std::uint64_t key = is_exact(row)
                                  ? core::mix_bits(static_cast<std::uint64_t>(static_cast<std::int64_t>(numbers[row])))
                              : is_whole ? ids.hash(row)
                                         : core::hash_bytes(&numbers[row], sizeof(double));
    if (row < kUniqueSample) part.hashes.push_back(key);
    if (counts.size() <= kMostDistinct) ++counts.try_emplace(key, row, 0).first->second.second;
    if (counts.size() > kMostDistinct && row >= kUniqueSample) break;
  }
  part.values_cut = counts.size() > kMostDistinct;
  if (part.values_cut) return;
  for (const auto& [key, value] : counts) {
    const auto& [row, count] = value;
    part.values.emplace_back(is_whole        ? ids.text(row)
                             : is_float      ? number_text(static_cast<float>(numbers[row]))
                             : is_exact(row) ? fmt::format("{}", static_cast<std::int64_t>(numbers[row]))
                                             : number_text(numbers[row]),
                             count);
  }
}

PartColumn summarize_column(const arrow::Array& array) {
  PartColumn part;
  const auto rows = static_cast<std::size_t>(array.length());
  part.is_number = is_number(*array.type());
  part.missing = array.null_count();
  if (part.is_number) {
    std::vector<double> numbers(rows);
    fill_numbers(array, 0, array.length(), numbers.data(), 1);
    part.missing = 0;
    for (const double number : numbers) {
      if (std::isnan(number)) {
        ++part.missing;
        continue;
      }
      ++part.count;
      part.low = std::min(part.low, number);
      part.high = std::max(part.high, number);
      part.sum += number;
      part.is_integer = part.is_integer && number == std::floor(number);
    }
    if (array.type_id() == arrow::Type::FLOAT && part.count > 0) {
      part.low = shown_float(part.low);
      part.high = shown_float(part.high);
    }
    count_numbers(array, numbers, part);
    return part;
  }
  const LabelColumn labels = labels_of(array);
  std::vector<std::int64_t> counts(labels.labels.size());
  part.missing = 0;
  part.is_integer = false;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t code = labels.codes[row];
    if (code == LabelColumn::kMissing) {
      ++part.missing;
      continue;
    }
    ++part.count;
    ++counts[code];
    if (row < kUniqueSample) part.hashes.push_back(core::hash_text(labels.labels[code]));
  }
  part.values_cut = labels.labels.size() > kMostDistinct;
  for (std::size_t label = 0; !part.values_cut && label < labels.labels.size(); ++label) {
    part.values.emplace_back(labels.labels[label], counts[label]);
  }
  return part;
}

// Joins the parts of a column, in order.
struct ColumnTotals {
  PartColumn all;
  std::map<std::string, std::int64_t> counts;
  std::unordered_set<std::uint64_t> seen;
  bool repeated = false;

  void add(const PartColumn& part) {
    all.missing += part.missing;
    all.count += part.count;
    all.low = std::min(all.low, part.low);
    all.high = std::max(all.high, part.high);
    all.sum += part.sum;
    all.is_number = all.is_number && part.is_number;
    all.is_integer = all.is_integer && part.is_integer;
    all.values_cut = all.values_cut || part.values_cut;
    if (!all.values_cut) {
      for (const auto& [value, count] : part.values) counts[value] += count;
      all.values_cut = counts.size() > kMostDistinct;
    }
    if (all.values_cut) counts.clear();
    for (const std::uint64_t hash : part.hashes) {
      if (seen.size() >= kUniqueSample || repeated) break;
      repeated = !seen.insert(hash).second;
    }
  }

  data::ColumnSummary summary(const arrow::Field& field) const {
    data::ColumnSummary column;
    column.name = field.name();
    column.type = field.type()->ToString();
    column.is_number = all.is_number;
    column.is_integer = all.is_number && all.is_integer && all.count > 0;
    column.missing = all.missing;
    if (all.is_number && all.count > 0) {
      column.low = all.low;
      column.high = all.high;
      column.mean = all.sum / static_cast<double>(all.count);
    }
    column.distinct = all.values_cut ? kMostDistinct : counts.size();
    column.distinct_is_at_least = all.values_cut;
    column.frequent.assign(counts.begin(), counts.end());
    std::stable_sort(column.frequent.begin(), column.frequent.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (column.frequent.size() > kFrequentShown) column.frequent.resize(kFrequentShown);
    column.looks_unique = !repeated && all.missing == 0 && all.count > 1;
    return column;
  }
};

// The JSON object under a key of the file's metadata; empty where there is none.
nlohmann::ordered_json metadata_object(const arrow::Schema& schema, const char* key) {
  if (schema.metadata() == nullptr) return nlohmann::ordered_json::object();
  const auto text = schema.metadata()->Get(key);
  // Ours nests twice at most; deeper things are dropped, for copying them could exhaust the stack.
  const auto shallow = [](int depth, nlohmann::ordered_json::parse_event_t, const auto&) { return depth <= 2; };
  auto json = nlohmann::ordered_json::parse(text.ok() ? *text : "", shallow, false);
  return json.is_object() ? json : nlohmann::ordered_json::object();
}

void append_options(const nlohmann::ordered_json& object, data::Provenance& provenance) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_structured() || value.is_discarded()) continue;  // we write none
    provenance.options.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

data::Provenance provenance_of(const arrow::Schema& schema) {
  const auto json = metadata_object(schema, kProvenanceKey);
  const auto field = [&](const char* name) {
    return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : std::string();
  };
  data::Provenance provenance = {field("kind"), field("version"), field("verb"), {}};
  if (json.contains("options") && json["options"].is_object()) append_options(json["options"], provenance);
  append_options(metadata_object(schema, kFiguresKey), provenance);
  return provenance;
}

// A table can be looked at whatever lies beside it.
data::Provenance provenance_or_warning(const std::string& file, core::RunContext& context) {
  try {
    return read_provenance(file);
  } catch (const core::Error& error) {
    context.warn(error.what());
    return {};
  }
}

// What a table is, from its own word or from its columns.
std::string kind_of(const data::Provenance& provenance, const std::vector<std::string>& names) {
  if (!provenance.kind.empty()) return provenance.kind;
  const std::unordered_set<std::string> all(names.begin(), names.end());
  const auto has = [&](const std::string& name) { return all.contains(name); };
  std::size_t pairs = 0;
  for (const std::string& name : names) {
    if (name.starts_with("revenue_") && has("cost_" + name.substr(8))) ++pairs;
  }
  if (pairs >= 2) return "prediction";
  if (!has("arm") || !has("revenue") || !has("cost")) return "table";
  // A plan of ours says so itself; a foreign table of what units got, earned and cost is a trial unless it has the
  // columns of a launch.
  return has("role") || has("control_revenue") ? "plan" : "trial";
}

struct SummarizedPart {
  Part part;
  Decoded decoded;
  std::vector<PartColumn> columns;
};

// Adds one file to the totals of its columns; returns its rows.
std::int64_t summarize_file(RecordSource& source, std::vector<ColumnTotals>& totals, core::RunContext& context) {
  std::int64_t rows_before = 0;
  std::int64_t lines_before = 0;
  core::ordered_pipeline(
      context,
      [&] {
        context.progress("reading", source.bytes_read(), source.file_bytes(), "bytes");
        return source.next();
      },
      [&](Part part) {
        SummarizedPart result{std::move(part), {}, {}};
        result.decoded = source.decode(result.part);
        if (result.decoded.bad) return result;
        for (const auto& column : result.decoded.batch->columns()) result.columns.push_back(summarize_column(*column));
        result.decoded.batch = nullptr;
        return result;
      },
      [&](SummarizedPart result) {
        if (result.decoded.bad) throw source.error_of(*result.decoded.bad, result.part, rows_before, lines_before);
        for (std::size_t i = 0; i < totals.size(); ++i) totals[i].add(result.columns[i]);
        rows_before += result.decoded.num_rows;
        lines_before += result.decoded.num_lines;
      });
  return rows_before;
}

}  // namespace

data::TableSummary summarize_table(const std::string& path, core::RunContext& context) {
  const std::vector<std::string> files = input_files(path);
  data::TableSummary summary;
  summary.num_files = files.size();
  std::vector<WantedColumn> wanted;
  std::vector<ColumnTotals> totals;
  std::shared_ptr<arrow::Schema> schema;
  for (const std::string& file : files) {
    auto source = open_records(file, context.pool.threads());
    if (schema == nullptr) {
      schema = source->schema();
      summary.format = source->format().name;
      for (const std::string& name : schema->field_names()) wanted.push_back({name, ParseAs::as_found});
      totals.resize(wanted.size());
    }
    source->select(wanted);
    summary.rows += summarize_file(*source, totals, context);
    summary.bytes += source->file_bytes();
  }
  context.finished("reading");
  for (std::size_t i = 0; i < totals.size(); ++i) {
    summary.columns.push_back(totals[i].summary(*schema->field(static_cast<int>(i))));
  }
  summary.provenance = provenance_or_warning(files.front(), context);
  summary.kind = kind_of(summary.provenance, schema->field_names());
  return summary;
}

data::Provenance read_provenance(const std::string& path) {
  const auto source = open_records(input_files(path).front(), 1);
  return source->is_text_file() ? read_meta(source->path()) : provenance_of(*source->schema());
}

}  // namespace dfcl::io

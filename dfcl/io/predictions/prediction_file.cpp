// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/predictions/prediction_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/suggest.h"
#include "dfcl/data/id_match.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/tables/batch_reader.h"
#include "dfcl/io/tables/column_values.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/id_values.h"
#include "dfcl/io/tables/record_source.h"
#include "dfcl/io/tables/table_summary_reader.h"

namespace dfcl::io {
namespace {

constexpr std::int64_t kBlockRows = 512;

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Names of columns of numbers, in groups: each group becomes a matrix of its own.
using Groups = std::vector<std::vector<std::string>>;

// What to read of a table: an id, a column of labels, and groups of columns of numbers (words such as yes and no
// count).
struct Layout {
  std::vector<WantedColumn> wanted;
  Groups groups;
  bool has_id = false;
  Letters letters = Letters::are_text;  // of ids
  bool has_labels = false;
};

struct TableTile {
  Part part;
  Decoded decoded;
  std::vector<core::Matrix<float>> numbers;  // one for each group: rows x its columns
  data::Ids ids;
  LabelColumn labels;
};

// All rows of a table, joined.
struct NumberTable {
  std::vector<core::Matrix<float>> numbers;  // one for each group: rows x its columns
  data::Ids ids;
  std::vector<std::uint32_t> labels;
  std::vector<std::string> label_names;
};

Layout layout_of(const RecordSource& source, const Groups& groups, const std::string& label_column) {
  Layout layout;
  layout.groups = groups;
  for (const auto& group : groups) {
    for (const std::string& name : group) {
      const auto field = source.schema()->GetFieldByName(name);
      const auto type = field == nullptr ? arrow::Type::NA : field->type()->id();
      const bool words = type == arrow::Type::STRING || type == arrow::Type::BOOL;
      layout.wanted.push_back({name, words ? ParseAs::labels : ParseAs::float32});
    }
  }
  layout.has_labels = !label_column.empty();
  if (layout.has_labels) layout.wanted.push_back({label_column, ParseAs::labels});
  layout.letters = source.is_text_file() ? Letters::may_be_numbers : Letters::are_text;
  layout.has_id = source.schema()->GetFieldIndex("id") >= 0;
  if (layout.has_id) layout.wanted.push_back({"id", ParseAs::text});
  return layout;
}

// A column of words as an array of numbers; an unknown word is a bad row.
std::vector<float> numbers_of_words(const LabelColumn& words, const std::string& name, std::optional<BadRow>& bad) {
  std::vector<float> values(words.codes.size(), std::nanf(""));
  std::vector<float> of_label;
  for (std::size_t label = 0; label < words.labels.size(); ++label) {
    const auto number = number_of_word(words.labels[label]);
    if (!number && !bad) {
      bad = BadRow{words.first_row[label],
                   name,
                   "text in a numeric column",
                   fmt::format("'{}'", words.labels[label]),
                   "a number",
                   ""};
    }
    of_label.push_back(static_cast<float>(number.value_or(0.0)));
  }
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (words.codes[row] != LabelColumn::kMissing) values[row] = of_label[words.codes[row]];
  }
  return values;
}

// Fills one group of columns; `first` is its first column in the batch.
core::Matrix<float> fill_group(const arrow::RecordBatch& batch, int first, const std::vector<std::string>& names,
                               std::optional<BadRow>& bad) {
  const std::int64_t rows = batch.num_rows();
  core::Matrix<float> matrix(static_cast<std::size_t>(rows), names.size());
  const auto stride = static_cast<std::int64_t>(names.size());
  for (std::int64_t begin = 0; begin < rows; begin += kBlockRows) {
    for (std::size_t column = 0; column < names.size(); ++column) {
      const arrow::Array& array = *batch.column(first + static_cast<int>(column));
      if (!is_number(*array.type())) continue;
      float* out = &matrix(static_cast<std::size_t>(begin), column);
      fill_numbers(array, begin, std::min(rows, begin + kBlockRows), out, stride);
    }
  }
  for (std::size_t column = 0; column < names.size(); ++column) {
    const arrow::Array& array = *batch.column(first + static_cast<int>(column));
    if (is_number(*array.type())) continue;
    const std::vector<float> values = numbers_of_words(labels_of(array, names[column]), names[column], bad);
    for (std::size_t row = 0; row < values.size(); ++row) matrix(row, column) = values[row];
  }
  return matrix;
}

void fill_tile(const Layout& layout, TableTile& tile) {
  const arrow::RecordBatch& batch = *tile.decoded.batch;
  int next = 0;
  for (const auto& group : layout.groups) {
    tile.numbers.push_back(fill_group(batch, next, group, tile.decoded.bad));
    next += static_cast<int>(group.size());
  }
  if (layout.has_labels) tile.labels = labels_of(*batch.column(next++));
  if (layout.has_id) tile.ids = read_ids(*batch.column(next), layout.letters, "id", tile.decoded.bad);
  tile.decoded.batch = nullptr;
}

void append_tile(TableTile& tile, const Layout& layout, std::unordered_map<std::string, std::uint32_t>& codes,
                 NumberTable& table) {
  const std::size_t first = table.ids.size();
  const auto rows = static_cast<std::size_t>(tile.decoded.num_rows);
  for (std::size_t group = 0; group < layout.groups.size(); ++group) {
    core::Matrix<float>& all = table.numbers[group];
    all.resize(first + rows);
    const std::size_t bytes = rows * all.cols() * sizeof(float);
    if (bytes > 0) std::memcpy(all.row(first).data(), tile.numbers[group].data(), bytes);
  }
  if (layout.has_id) {
    table.ids.append(tile.ids);
  } else {
    table.ids.append(data::RowNumbers{first + 1, rows});
  }
  std::vector<std::uint32_t> code_of_label;
  for (const std::string& label : tile.labels.labels) {
    const auto [entry, is_new] = codes.try_emplace(label, static_cast<std::uint32_t>(table.label_names.size()));
    if (is_new) table.label_names.push_back(label);
    code_of_label.push_back(entry->second);
  }
  for (std::size_t row = 0; row < tile.labels.codes.size(); ++row) {
    const std::uint32_t code = tile.labels.codes[row];
    if (code == LabelColumn::kMissing) {
      throw core::data_error(fmt::format("unit '{}'", table.ids.text(first + row)), "no segment", "an empty value");
    }
    table.labels.push_back(code_of_label[code]);
  }
}

void check_finite(const core::Matrix<float>& numbers, const std::vector<std::string>& names, const data::Ids& ids,
                  const std::string& path, core::RunContext& context) {
  core::for_each_chunk(context, numbers.rows(), 65536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      for (std::size_t column = 0; column < names.size(); ++column) {
        const float value = numbers(unit, column);
        if (std::isfinite(value)) continue;
        throw core::data_error(fmt::format("{}, unit '{}', column '{}'", path, ids.text(unit), names[column]),
                               "not a finite number", number_text(value), "a number");
      }
    }
  });
}

// A known price is what every unit costs under the arm; else the file was changed since it was written.
void check_prices(const data::PredictionFacts& facts, const core::Matrix<float>& costs, const data::Ids& ids,
                  const std::string& path, core::RunContext& context) {
  if (facts.price.empty()) return;
  core::for_each_chunk(context, costs.rows(), 65536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      for (std::size_t arm = 0; arm < facts.price.size(); ++arm) {
        if (costs(unit, arm) == static_cast<float>(facts.price[arm])) continue;
        throw core::data_error(
            fmt::format("{}, unit '{}', column 'cost_{}'", path, ids.text(unit), facts.arms.labels[arm]),
            "a cost that is not the price of the arm", number_text(costs(unit, arm)), number_text(facts.price[arm]));
      }
    }
  });
}

NumberTable read_table(const std::string& path, const Groups& groups, const std::string& label_column,
                       core::RunContext& context) {
  NumberTable table;
  for (const auto& group : groups) table.numbers.emplace_back(0, group.size());
  std::unordered_map<std::string, std::uint32_t> codes;
  bool has_id = false;
  for (const std::string& file : input_files(path)) {
    const auto source = open_records(file, context.pool.threads());
    const Layout layout = layout_of(*source, groups, label_column);
    if (table.ids.size() == 0) has_id = layout.has_id;
    if (layout.has_id != has_id)
      throw core::data_error(file, has_id ? "no column 'id'" : "a column 'id'", "",
                             has_id ? "ids, as in the files before" : "no ids, as in the files before");
    source->select(layout.wanted);
    std::int64_t rows_before = 0;
    std::int64_t lines_before = 0;
    core::ordered_pipeline(
        context,
        [&] {
          context.progress("reading", source->bytes_read(), source->file_bytes(), "bytes");
          return source->next();
        },
        [&](Part part) {
          TableTile tile;
          tile.part = std::move(part);
          tile.decoded = source->decode(tile.part);
          if (!tile.decoded.bad) fill_tile(layout, tile);
          return tile;
        },
        [&](TableTile tile) {
          if (tile.decoded.bad) throw source->error_of(*tile.decoded.bad, tile.part, rows_before, lines_before);
          append_tile(tile, layout, codes, table);
          rows_before += tile.decoded.num_rows;
          lines_before += tile.decoded.num_lines;
        });
  }
  context.finished("reading");
  if (table.ids.size() == 0) throw core::data_error(path, "no rows", "a header only", "one row a unit");
  for (core::Matrix<float>& matrix : table.numbers) matrix.shrink_to_fit();
  for (std::size_t group = 0; group < groups.size(); ++group)
    check_finite(table.numbers[group], groups[group], table.ids, path, context);
  return table;
}

std::vector<std::string> columns_of(const char* prefix, const std::vector<std::string>& arms) {
  std::vector<std::string> names;
  for (const std::string& arm : arms) names.push_back(prefix + arm);
  return names;
}

core::Matrix<std::uint8_t> eligibility_of(const core::Matrix<float>& numbers,
                                          const std::vector<std::size_t>& arm_of_column, std::size_t num_arms,
                                          const std::vector<std::size_t>* rows) {
  const std::size_t num_units = rows == nullptr ? numbers.rows() : rows->size();
  core::Matrix<std::uint8_t> eligible(num_units, num_arms);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    std::fill_n(eligible.row(unit).data(), num_arms, std::uint8_t{1});
    const std::size_t row = rows == nullptr ? unit : (*rows)[unit];
    for (std::size_t column = 0; column < arm_of_column.size(); ++column) {
      eligible(unit, arm_of_column[column]) = numbers(row, column) != 0.0f ? 1 : 0;
    }
  }
  return eligible;
}

}  // namespace

std::vector<std::string> arms_of_columns(const std::vector<std::string>& names, const std::string& path) {
  const std::unordered_set<std::string> all(names.begin(), names.end());
  std::vector<std::string> arms;
  for (const std::string& name : names) {
    if (name.starts_with("revenue_")) arms.push_back(name.substr(8));
    if (name.starts_with("cost_") && !all.contains("revenue_" + name.substr(5))) {
      throw core::data_error(path, fmt::format("no column 'revenue_{}' beside '{}'", name.substr(5), name));
    }
  }
  for (const std::string& arm : arms) {
    if (!all.contains("cost_" + arm))
      throw core::data_error(path, fmt::format("no column 'cost_{0}' beside 'revenue_{0}'", arm));
  }
  if (arms.empty())
    throw core::data_error(path, "not a prediction", "no column revenue_<arm>",
                           "columns revenue_<arm> and cost_<arm> for every arm");
  if (arms.size() > data::kMostArms)
    throw core::data_error(path, "too many arms", fmt::format("{}", arms.size()),
                           fmt::format("at most {}", data::kMostArms));
  return arms;
}

data::PredictionFacts read_prediction_facts(const std::string& path) {
  const std::vector<std::string> files = input_files(path);
  const std::vector<std::string> labels = arms_of_columns(column_names(files.front()), files.front());
  const data::PredictionFacts facts = data::read_facts(labels, read_provenance(files.front()), files.front());
  for (const std::string& file : files) {
    if (file == files.front() || data::read_facts(labels, read_provenance(file), file) == facts) continue;
    throw core::data_error(file, "predictions of another kind than in the files before",
                           "another model, control, kind of revenue or price", "files of one prediction");
  }
  return facts;
}

PredictionTable read_prediction(const std::string& path, const std::string& segment_column, core::RunContext& context) {
  const std::vector<std::string> names = column_names(path);
  PredictionTable result;
  data::Prediction& prediction = result.prediction;
  static_cast<data::PredictionFacts&>(prediction) = read_prediction_facts(path);
  const std::vector<std::string>& arms = prediction.arms.labels;
  const std::size_t num_arms = arms.size();
  Groups groups = {columns_of("revenue_", arms), columns_of("cost_", arms), {}};
  std::vector<std::size_t> masked_arms;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const std::string name = "eligible_" + arms[arm];
    if (!holds(names, name)) continue;
    masked_arms.push_back(arm);
    groups[2].push_back(name);
  }
  NumberTable table = read_table(path, groups, segment_column, context);
  check_prices(prediction, table.numbers[1], table.ids, path, context);
  if (!masked_arms.empty()) result.eligible = eligibility_of(table.numbers[2], masked_arms, num_arms, nullptr);
  prediction.revenue = std::move(table.numbers[0]);
  prediction.cost = std::move(table.numbers[1]);
  prediction.ids = std::move(table.ids);
  result.segment = std::move(table.labels);
  result.segments = std::move(table.label_names);
  return result;
}

core::Matrix<std::uint8_t> read_eligibility(const std::string& path, const std::vector<std::string>& arms,
                                            const data::Ids& ids, core::RunContext& context) {
  std::vector<std::size_t> masked_arms;
  std::vector<std::string> numbers;
  for (const std::string& name : column_names(path)) {
    if (!name.starts_with("eligible_")) continue;
    const auto arm = std::find(arms.begin(), arms.end(), name.substr(9));
    if (arm == arms.end())
      throw core::data_error(path, fmt::format("column '{}' names no arm", name), "", "",
                             core::suggest(name.substr(9), arms));
    masked_arms.push_back(static_cast<std::size_t>(arm - arms.begin()));
    numbers.push_back(name);
  }
  if (numbers.empty()) throw core::data_error(path, "no column eligible_<arm>", "", "columns id and eligible_<arm>");
  const NumberTable table = read_table(path, {numbers}, "", context);
  const std::vector<std::size_t> rows = data::match_ids(ids, table.ids, path);
  return eligibility_of(table.numbers[0], masked_arms, arms.size(), &rows);
}

core::Matrix<float> read_second_cost(const std::string& path, const std::vector<std::string>& arms,
                                     const data::Ids& ids, core::RunContext& context) {
  const NumberTable table = read_table(path, {columns_of("cost_", arms)}, "", context);
  const std::vector<std::size_t> rows = data::match_ids(ids, table.ids, path);
  core::Matrix<float> cost(rows.size(), arms.size());
  for (std::size_t unit = 0; unit < rows.size(); ++unit) {
    std::copy_n(table.numbers[0].row(rows[unit]).data(), arms.size(), cost.row(unit).data());
  }
  return cost;
}

std::map<std::string, double> read_segment_budgets(const std::string& path, core::RunContext& context) {
  const auto source =
      open_batches(path, {"segment", "budget"}, {data::ColumnType::text, data::ColumnType::float64}, context);
  std::map<std::string, double> budgets;
  data::Batch batch;
  while (source->next(batch)) {
    for (std::size_t row = 0; row < batch.num_rows; ++row) {
      const std::string segment(std::get<data::TextColumn>(batch.columns[0])[row]);
      const double budget = std::get<std::vector<double>>(batch.columns[1])[row];
      if (!std::isfinite(budget)) throw core::data_error(path, fmt::format("no budget for segment '{}'", segment));
      if (!budgets.try_emplace(segment, budget).second)
        throw core::data_error(path, fmt::format("segment '{}' stands twice", segment));
    }
  }
  return budgets;
}

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/unit_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"
#include "dfcl/io/tables/batch_reader.h"
#include "dfcl/io/tables/file_format.h"
#include "dfcl/io/tables/id_values.h"
#include "dfcl/io/tables/record_source.h"
#include "dfcl/io/trial/feature_values.h"

namespace dfcl::io {

struct RawUnits {
  std::shared_ptr<RecordSource> source;
  Part part;
  std::int64_t num_rows = 0;
  std::int64_t num_lines = 0;
  std::optional<BadRow> bad;
};

namespace {

constexpr std::size_t kMostNamed = 8;  // columns in one error

// A feature in the file at hand: as numbers, as words that stand for numbers, or as levels.
WantedColumn wanted_column(const data::FeatureColumn& feature, const arrow::Schema& schema) {
  const auto type = schema.GetFieldByName(feature.name)->type()->id();
  const bool words = type == arrow::Type::STRING || type == arrow::Type::BOOL || type == arrow::Type::LARGE_STRING ||
                     type == arrow::Type::DICTIONARY;
  return {feature.name, feature.categorical || words ? ParseAs::labels : ParseAs::float32};
}

// All columns that are not there, in one error.
void require_columns(const std::vector<std::string>& needed, const std::vector<std::string>& found,
                     const std::string& path) {
  std::vector<std::string> missing;
  std::vector<std::string> others;
  const auto holds = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::copy_if(needed.begin(), needed.end(), std::back_inserter(missing),
               [&](const auto& name) { return !holds(found, name); });
  std::copy_if(found.begin(), found.end(), std::back_inserter(others),
               [&](const auto& name) { return !holds(needed, name); });
  if (missing.empty()) return;
  std::vector<std::string> named;
  std::vector<std::string> nearest;
  for (const std::string& name : missing) {
    if (named.size() == kMostNamed) break;
    named.push_back(fmt::format("'{}'", name));
    if (const std::string near = core::nearest_name(name, others); !near.empty())
      nearest.push_back(fmt::format("'{}' for '{}'", near, name));
  }
  const std::size_t more = missing.size() - named.size();
  throw core::Error({.kind = core::ErrorKind::data,
                     .what = fmt::format("columns that the model needs are not there: {}{}", fmt::join(named, ", "),
                                         more == 0 ? "" : fmt::format(" and {} more", more)),
                     .where = path,
                     .hint = nearest.empty() ? "" : fmt::format("did you mean {}?", fmt::join(nearest, ", "))});
}

}  // namespace

struct UnitReader::Impl {
  Impl(const std::string& path, UnitSchema unit_schema, core::RunContext& run)
      : files(input_files(path)), schema(std::move(unit_schema)), context(run) {
    for (const double code : schema.missing) missing_codes.push_back(static_cast<float>(code));
    for (std::size_t feature = 0; feature < schema.features.size(); ++feature) {
      feature_columns.push_back(static_cast<int>(feature));
      auto& codes = code_of_level.emplace_back();
      const auto& levels = schema.features[feature].levels;
      for (std::size_t code = 1; code < levels.size(); ++code) codes.emplace(levels[code], static_cast<float>(code));
    }
    for (const std::string& name : files) bytes_total += bytes_of(name);
    open();
  }

  void open() {
    source = open_records(files[file], context.pool.threads());
    // Passes over different files would mix them.
    if (file == versions.size()) versions.push_back(source->version());
    require_same_file(versions[file], *source);
    const std::vector<std::string> found = source->schema()->field_names();
    const auto is_feature = [&](const std::string& name) {
      return std::any_of(schema.features.begin(), schema.features.end(),
                         [&](const auto& feature) { return feature.name == name; });
    };
    // The first file says whether there are ids.
    if (file == 0) {
      id_column = schema.id;
      if (id_column.empty() && std::find(found.begin(), found.end(), "id") != found.end() && !is_feature("id"))
        id_column = "id";
    }
    std::vector<std::string> needed;
    for (const auto& feature : schema.features) needed.push_back(feature.name);
    if (!id_column.empty()) needed.push_back(id_column);
    require_columns(needed, found, files[file]);
    if (!id_column.empty() && file == 0) id_type = id_type_in(files[0], id_column);
    std::vector<WantedColumn> wanted;
    for (const auto& feature : schema.features) wanted.push_back(wanted_column(feature, *source->schema()));
    if (!id_column.empty()) wanted.push_back({id_column, ParseAs::text});
    source->select(wanted);
  }

  // From the labels of a part to the model's codes, or to the numbers that words stand for.
  std::vector<float> values_of_labels(std::size_t feature, const LabelColumn& labels,
                                      std::optional<BadRow>& bad) const {
    const data::FeatureColumn& column = schema.features[feature];
    std::vector<float> values;
    for (std::size_t label = 0; label < labels.labels.size(); ++label) {
      const std::string& text = labels.labels[label];
      if (column.categorical) {
        const auto code = code_of_level[feature].find(text);
        values.push_back(code == code_of_level[feature].end() ? 0.0f : code->second);
        continue;
      }
      const auto number = number_of_word(text);
      if (!number && (!bad || labels.first_row[label] < bad->row)) {
        bad = BadRow{labels.first_row[label],     column.name, "text in a numeric column", fmt::format("'{}'", text),
                     "a number, as in the trial", ""};
      }
      values.push_back(static_cast<float>(number.value_or(0.0)));
    }
    return values;
  }

  std::vector<std::string> files;
  UnitSchema schema;
  core::RunContext& context;
  std::vector<float> missing_codes;
  std::vector<int> feature_columns;
  std::vector<std::unordered_map<std::string, float>> code_of_level;  // one for each feature
  std::string id_column;
  data::ColumnType id_type = data::ColumnType::int64;
  std::shared_ptr<RecordSource> source;
  std::vector<core::FileVersion> versions;  // of the files that were opened
  std::size_t file = 0;
  std::uint64_t bytes_before = 0;  // of files that are done
  std::uint64_t bytes_total = 0;
  // Of what was accepted.
  std::shared_ptr<RecordSource> accepted_source;
  std::int64_t rows_before = 0;   // in the file
  std::int64_t lines_before = 0;  // in the file
  std::size_t units_before = 0;   // in all files
};

UnitReader::UnitReader(const std::string& path, UnitSchema schema, core::RunContext& context)
    : impl_(std::make_unique<Impl>(path, std::move(schema), context)) {}

UnitReader::~UnitReader() = default;

bool UnitReader::has_ids() const { return !impl_->id_column.empty(); }

data::ColumnType UnitReader::id_type() const { return impl_->id_type; }

std::optional<std::shared_ptr<RawUnits>> UnitReader::read() {
  for (;;) {
    impl_->context.check_cancelled();
    impl_->context.progress("reading", impl_->bytes_before + impl_->source->bytes_read(), impl_->bytes_total, "bytes");
    if (auto part = impl_->source->next()) {
      auto raw = std::make_shared<RawUnits>();
      raw->source = impl_->source;
      raw->part = std::move(*part);
      return raw;
    }
    impl_->source->require_unchanged();
    if (impl_->file + 1 >= impl_->files.size()) {
      impl_->context.finished("reading");
      return std::nullopt;
    }
    impl_->bytes_before += impl_->source->file_bytes();
    ++impl_->file;
    impl_->open();
  }
}

UnitBatch UnitReader::decode(std::shared_ptr<RawUnits> raw) const {
  UnitBatch batch;
  const Decoded decoded = raw->source->decode(raw->part);
  raw->num_rows = decoded.num_rows;
  raw->num_lines = decoded.num_lines;
  raw->bad = decoded.bad;
  batch.raw = std::move(raw);
  if (batch.raw->bad) return batch;

  const std::size_t num_features = impl_->schema.features.size();
  std::vector<LabelColumn> labels(num_features);
  std::vector<std::vector<float>> values(num_features);
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    const arrow::Array& array = *decoded.batch->column(static_cast<int>(feature));
    if (!impl_->schema.features[feature].categorical && is_number(*array.type())) continue;
    labels[feature] = category_labels(array, impl_->missing_codes, impl_->schema.features[feature].name);
    values[feature] = impl_->values_of_labels(feature, labels[feature], batch.raw->bad);
  }
  if (batch.raw->bad) return batch;
  batch.features = feature_values(*decoded.batch, impl_->feature_columns, labels, impl_->missing_codes);
  for (std::size_t feature = 0; feature < num_features; ++feature) {
    if (labels[feature].codes.empty()) continue;
    for (std::size_t row = 0; row < batch.features.rows(); ++row) {
      float& value = batch.features(row, feature);
      if (!std::isnan(value)) value = values[feature][static_cast<std::size_t>(value)];
    }
  }
  if (has_ids()) {
    const Letters letters = batch.raw->source->is_text_file() ? Letters::may_be_numbers : Letters::are_text;
    batch.ids =
        read_ids(*decoded.batch->column(static_cast<int>(num_features)), letters, impl_->id_column, batch.raw->bad);
  }
  return batch;
}

void UnitReader::accept(UnitBatch& batch) {
  const std::shared_ptr<RawUnits> raw = std::move(batch.raw);
  if (raw->source != impl_->accepted_source) {
    impl_->accepted_source = raw->source;
    impl_->rows_before = impl_->lines_before = 0;
  }
  if (raw->bad) throw raw->source->error_of(*raw->bad, raw->part, impl_->rows_before, impl_->lines_before);
  if (!has_ids()) batch.ids = data::RowNumbers{impl_->units_before + 1, batch.num_units()};
  impl_->rows_before += raw->num_rows;
  impl_->lines_before += raw->num_lines;
  impl_->units_before += batch.num_units();
}

bool UnitReader::next(UnitBatch& batch) {
  auto raw = read();
  if (!raw) return false;
  batch = decode(std::move(*raw));
  accept(batch);
  return true;
}

void UnitReader::rewind() {
  impl_->file = 0;
  impl_->bytes_before = 0;
  impl_->units_before = 0;
  impl_->accepted_source = nullptr;
  impl_->open();
}

}  // namespace dfcl::io

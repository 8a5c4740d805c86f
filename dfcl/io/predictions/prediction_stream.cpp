// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/predictions/prediction_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/data/prediction_fingerprint.h"
#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/io/tables/batch_reader.h"
#include "dfcl/io/tables/column_values.h"

namespace dfcl::io {
namespace {

using data::ColumnType;

class PredictionBatches final : public data::BatchSource {
 public:
  PredictionBatches(const std::string& path, const std::vector<std::string>& arms, core::RunContext& context)
      : path_(path) {
    const std::vector<std::string> present = column_names(path);
    const auto type_of = [&](const std::string& name) {
      return open_batches(path, {name}, {}, context)->columns().front().type;
    };
    std::vector<std::string> names;
    std::vector<ColumnType> types;
    const auto want = [&](const std::string& name, ColumnType read_as, ColumnType type) {
      names.push_back(name);
      types.push_back(read_as);
      columns_.push_back({name, type});
    };
    for (const char* prefix : {"revenue_", "cost_", "eligible_"}) {
      for (const std::string& arm : arms) {
        const std::string name = prefix + arm;
        if (std::find(present.begin(), present.end(), name) == present.end()) continue;
        const bool words = name.starts_with("eligible_") && type_of(name) == ColumnType::text;
        want(name, words ? ColumnType::text : ColumnType::float32, ColumnType::float32);
      }
    }
    num_numbers_ = names.size();
    read_prices();
    if (std::find(present.begin(), present.end(), "id") != present.end()) {
      const ColumnType type = id_type_in(path, "id");
      want("id", type, type);
    }
    source_ = open_batches(path, names, types, context, "id");
  }

  const std::vector<data::ColumnInfo>& columns() const override { return columns_; }

  bool next(data::Batch& batch) override {
    if (!source_->next(batch)) {
      if (rows_ == 0) throw error(path_, "no rows", "a header only", "one row a unit");
      checked_ = true;
      return false;
    }
    for (std::size_t column = 0; column < num_numbers_; ++column) {
      if (std::holds_alternative<data::TextColumn>(batch.columns[column])) read_words(batch, column);
      if (!checked_) check_numbers(batch, column);
    }
    rows_ += batch.num_rows;
    return true;
  }

  void rewind() override {
    source_->rewind();
    rows_ = 0;
  }

 private:
  static core::Error error(std::string where, std::string what, std::string found, std::string expected) {
    return core::Error({.kind = core::ErrorKind::data,
                        .what = std::move(what),
                        .where = std::move(where),
                        .found = std::move(found),
                        .expected = std::move(expected)});
  }

  std::string place(const data::Batch& batch, std::size_t row, std::size_t column) const {
    const std::string id = data::ids_of_batch(batch, num_numbers_, rows_).text(row);
    return fmt::format("{}, unit '{}', column '{}'", path_, id, columns_[column].name);
  }

  void read_words(data::Batch& batch, std::size_t column) const {
    const auto& words = std::get<data::TextColumn>(batch.columns[column]);
    std::vector<float> numbers(batch.num_rows, std::nanf(""));
    for (std::size_t row = 0; row < batch.num_rows; ++row) {
      const std::string word(words[row]);
      if (word.empty()) continue;
      const auto number = number_of_word(word);
      if (!number)
        throw error(place(batch, row, column), "text in a numeric column", fmt::format("'{}'", word), "a number");
      numbers[row] = static_cast<float>(*number);
    }
    batch.columns[column] = std::move(numbers);
  }

  // Known prices by the column that holds them; NaN: none.
  void read_prices() {
    const data::PredictionFacts facts = read_prediction_facts(path_);
    price_.assign(num_numbers_, std::nan(""));
    for (std::size_t arm = 0; arm < facts.price.size(); ++arm) {
      for (std::size_t column = 0; column < num_numbers_; ++column) {
        if (columns_[column].name == "cost_" + facts.arms.labels[arm]) price_[column] = facts.price[arm];
      }
    }
  }

  void check_numbers(const data::Batch& batch, std::size_t column) const {
    const auto& numbers = std::get<std::vector<float>>(batch.columns[column]);
    if (!std::isnan(price_[column])) {
      const auto price = static_cast<float>(price_[column]);
      const auto other = std::find_if(numbers.begin(), numbers.end(), [&](float number) { return number != price; });
      if (other != numbers.end())
        throw error(place(batch, static_cast<std::size_t>(other - numbers.begin()), column),
                    "a cost that is not the price of the arm", number_text(*other), number_text(price_[column]));
    }
    const auto bad = std::find_if(numbers.begin(), numbers.end(), [](float number) { return !std::isfinite(number); });
    if (bad == numbers.end()) return;
    throw error(place(batch, static_cast<std::size_t>(bad - numbers.begin()), column), "not a finite number",
                number_text(*bad), "a number");
  }

  std::string path_;
  std::vector<data::ColumnInfo> columns_;
  std::size_t num_numbers_ = 0;  // columns before `id`
  std::vector<double> price_;    // of each of them
  std::unique_ptr<data::BatchSource> source_;
  std::size_t rows_ = 0;  // before the next batch
  bool checked_ = false;
};

}  // namespace

std::unique_ptr<data::BatchSource> open_prediction(const std::string& path, const std::vector<std::string>& arms,
                                                   core::RunContext& context) {
  return std::make_unique<PredictionBatches>(path, arms, context);
}

}  // namespace dfcl::io

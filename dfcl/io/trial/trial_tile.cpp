// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/trial_tile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/hash.h"
#include "dfcl/io/tables/id_values.h"
#include "dfcl/io/trial/feature_values.h"

namespace dfcl::io {
namespace {

class TileMaker {
 public:
  TileMaker(const TrialPlan& plan, const TileOptions& options, const arrow::RecordBatch& batch,
            core::MatrixView<float> place)
      : plan_(plan),
        options_(options),
        batch_(batch),
        rows_(batch.num_rows()),
        kept_(static_cast<std::size_t>(rows_), 1) {
    tile_.features = place;
  }

  TrialTile make() {
    read_outcomes();
    read_weight();
    for (const int index : plan_.guardrails) {
      tile_.guardrails.push_back(read_filled(
          index, "guardrail", "fill in what is known, for example 0, or take it out of [columns] guardrails"));
    }
    read_labels();
    if (tile_.bad) return std::move(tile_);
    fill_features();
    read_keys();
    drop_rows();
    return std::move(tile_);
  }

 private:
  const arrow::Array& column(int index) const { return *batch_.column(index); }

  void report(BadRow bad) {
    if (!tile_.bad || bad.row < tile_.bad->row) tile_.bad = std::move(bad);
  }

  // Null (an empty field) drops the row from the trial, which is counted; NaN and infinity are errors.
  std::vector<float> read_outcome(int index, const char* role) {
    std::vector<float> values(static_cast<std::size_t>(rows_));
    const arrow::Array& array = column(index);
    const std::string& name = plan_.wanted[static_cast<std::size_t>(index)].name;
    std::vector<double> numbers(values.size());
    if (is_number(*array.type())) {
      fill_numbers(array, 0, rows_, numbers.data(), 1);
    } else if (!read_words(labels_of(array, name), name, role, numbers)) {
      return values;
    }
    for (std::size_t row = 0; row < values.size(); ++row) {
      values[row] = static_cast<float>(numbers[row]);
      if (std::isfinite(values[row])) continue;
      const auto at = static_cast<std::int64_t>(row);
      const bool missing = std::isnan(numbers[row]) && (array.IsNull(at) || !is_number(*array.type()));
      if (missing) {
        kept_[row] = 0;
      } else {
        report({at, name, fmt::format("{} that is not a finite number", role), number_text(numbers[row]), "a number",
                "correct the value, or leave the field empty to drop the row"});
        break;
      }
    }
    return values;
  }

  bool read_words(const LabelColumn& words, const std::string& name, const char* role, std::vector<double>& numbers) {
    std::vector<double> number_of_label;
    for (std::size_t label = 0; label < words.labels.size(); ++label) {
      const auto number = number_of_word(words.labels[label]);
      if (!number) {
        report({words.first_row[label], name, "text in a numeric column", fmt::format("'{}'", words.labels[label]),
                fmt::format("the {} as a number, or yes/no, or true/false", role), ""});
        return false;
      }
      number_of_label.push_back(*number);
    }
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      const std::uint32_t code = words.codes[row];
      numbers[row] = code == LabelColumn::kMissing ? std::nan("") : number_of_label[code];
    }
    return true;
  }

  void read_outcomes() {
    if (plan_.revenue >= 0) tile_.revenue = read_outcome(plan_.revenue, "revenue");
    if (plan_.cost >= 0) tile_.cost = read_outcome(plan_.cost, "cost");
    if (plan_.cost_if >= 0) {
      tile_.cost = read_outcome(plan_.cost_if, "outcome that the price depends on");
      for (std::size_t row = 0; row < tile_.cost.size(); ++row) {
        const float happened = tile_.cost[row];
        if (kept_[row] && happened != 0.0f && happened != 1.0f) {
          report({static_cast<std::int64_t>(row), plan_.wanted[static_cast<std::size_t>(plan_.cost_if)].name,
                  "the price was paid or it was not", number_text(happened), "0 or 1, yes or no, true or false", ""});
          break;
        }
      }
    }
    if (plan_.propensity >= 0) {
      tile_.propensity = read_outcome(plan_.propensity, "propensity");
      for (std::size_t row = 0; row < tile_.propensity.size(); ++row) {
        const float p = tile_.propensity[row];
        if (kept_[row] && !(p > 0.0f && p <= 1.0f)) {
          report({static_cast<std::int64_t>(row), plan_.wanted[static_cast<std::size_t>(plan_.propensity)].name,
                  "a propensity that is no probability", number_text(p), "more than 0, at most 1", ""});
        }
      }
    }
  }

  // An empty field is no reason to drop a unit: who has no weight or guardrail is not known, and may not be random.
  std::vector<float> read_filled(int index, const char* role, const char* hint) {
    const std::vector<char> before = kept_;
    std::vector<float> values = read_outcome(index, role);
    for (std::size_t row = 0; row < values.size(); ++row) {
      if (kept_[row] == before[row]) continue;
      report({static_cast<std::int64_t>(row), plan_.wanted[static_cast<std::size_t>(index)].name,
              fmt::format("no {}", role), "an empty value", "a number for every row", hint});
      break;
    }
    return values;
  }

  void read_weight() {
    if (plan_.weight < 0) return;
    tile_.weight = read_filled(plan_.weight, "sample weight", "0 gives the row no say");
    for (std::size_t row = 0; row < tile_.weight.size(); ++row) {
      if (kept_[row] && tile_.weight[row] == 0.0f) {
        kept_[row] = 0;
        ++tile_.rows_of_no_weight;
      }
      if (!(tile_.weight[row] < 0.0f)) continue;
      report({static_cast<std::int64_t>(row), plan_.wanted[static_cast<std::size_t>(plan_.weight)].name,
              "a negative sample weight", number_text(tile_.weight[row]), "0 or more", ""});
      break;
    }
  }

  void read_labels() {
    const auto read = [&](int index, const char* role, LabelColumn& labels) {
      if (index < 0) return;
      labels = labels_of(column(index), plan_.wanted[static_cast<std::size_t>(index)].name);
      const auto missing = std::find(labels.codes.begin(), labels.codes.end(), LabelColumn::kMissing);
      if (missing != labels.codes.end()) {
        report({missing - labels.codes.begin(), plan_.wanted[static_cast<std::size_t>(index)].name,
                fmt::format("no {}", role), "an empty value", fmt::format("the {} of the unit", role),
                "drop rows of units that were not in the trial"});
      }
    };
    read(plan_.arm, "arm", tile_.arm);
    read(plan_.time, "time", tile_.time);
    read(plan_.split, "split", tile_.split);
  }

  void fill_features() {
    tile_.categories.resize(plan_.features.size());
    for (std::size_t feature = 0; feature < plan_.features.size(); ++feature) {
      if (!plan_.features[feature].categorical) continue;
      tile_.categories[feature] =
          category_labels(column(plan_.feature_columns[feature]), plan_.missing_codes, plan_.features[feature].name);
    }
    if (tile_.features.data == nullptr) {
      tile_.own_features = core::Matrix<float>(static_cast<std::size_t>(rows_), plan_.features.size());
      tile_.features = tile_.own_features.view();
    }
    fill_feature_values(batch_, plan_.feature_columns, tile_.categories, plan_.missing_codes, tile_.features);
    for (LabelColumn& categories : tile_.categories) categories.codes = {};
  }

  void read_keys() {
    const auto name = [&](int index) { return plan_.wanted[static_cast<std::size_t>(index)].name; };
    if (plan_.id >= 0) tile_.ids = read_ids(column(plan_.id), options_.letters, name(plan_.id), tile_.bad);
    data::Ids clusters;
    if (plan_.cluster >= 0) {
      clusters = ids_of(column(plan_.cluster), options_.letters);
      if (const auto row = missing_text(clusters))
        report({*row, name(plan_.cluster), "no cluster", "an empty value", "the cluster of the unit", ""});
    }
    if (tile_.bad) return;
    const data::Ids& keys = plan_.cluster >= 0 ? clusters : tile_.ids;
    if (plan_.cluster >= 0 || plan_.comes_again()) {
      tile_.cluster_hash.resize(static_cast<std::size_t>(rows_));
      for (std::size_t row = 0; row < tile_.cluster_hash.size(); ++row) tile_.cluster_hash[row] = keys.hash(row);
    }
    if (!options_.split_by_hash || keys.size() == 0) return;
    tile_.unit_hash.resize(static_cast<std::size_t>(rows_));
    for (std::size_t row = 0; row < tile_.unit_hash.size(); ++row) {
      tile_.unit_hash[row] = keys.hash(row, options_.split_seed);
    }
  }

  template <class T>
  void keep(std::vector<T>& values) const {
    if (values.empty()) return;
    std::size_t next = 0;
    for (std::size_t row = 0; row < kept_.size(); ++row) {
      if (kept_[row]) values[next++] = values[row];
    }
    values.resize(next);
  }

  // Takes out the rows without an outcome or weight. Rare, so the plain way.
  void drop_rows() {
    tile_.num_rows = static_cast<std::size_t>(std::count(kept_.begin(), kept_.end(), 1));
    const std::int64_t left_out = rows_ - static_cast<std::int64_t>(tile_.num_rows);
    tile_.rows_without_outcome = left_out - tile_.rows_of_no_weight;
    if (left_out == 0) return;
    keep(tile_.revenue);
    keep(tile_.cost);
    keep(tile_.propensity);
    keep(tile_.weight);
    for (std::vector<float>& guardrail : tile_.guardrails) keep(guardrail);
    keep(tile_.arm.codes);
    keep(tile_.time.codes);
    keep(tile_.split.codes);
    keep(tile_.cluster_hash);
    keep(tile_.unit_hash);
    std::size_t next = 0;
    for (std::size_t row = 0; row < kept_.size(); ++row) {
      if (!kept_[row]) continue;
      tile_.kept_rows.push_back(static_cast<std::int64_t>(row));
      std::copy_n(tile_.features.row(row).data(), tile_.features.cols, tile_.features.row(next++).data());
    }
    tile_.features.rows = next;
    if (plan_.id >= 0) tile_.ids = tile_.ids.chosen(tile_.kept_rows);
  }

  const TrialPlan& plan_;
  const TileOptions& options_;
  const arrow::RecordBatch& batch_;
  std::int64_t rows_;
  std::vector<char> kept_;
  TrialTile tile_;
};

}  // namespace

TrialTile make_tile(const TrialPlan& plan, const TileOptions& options, const Decoded& decoded,
                    core::MatrixView<float> place) {
  if (decoded.bad) {
    TrialTile tile;
    tile.bad = decoded.bad;
    return tile;
  }
  return TileMaker(plan, options, *decoded.batch, place).make();
}

}  // namespace dfcl::io

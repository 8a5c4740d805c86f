// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "dfcl/core/error.h"
#include "dfcl/data/id_match.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kMostValues = 20;

bool same_order(const data::Ids& a, const data::Ids& b) {
  if (a.size() != b.size()) return false;
  if (a == b) return true;
  if (a.type() == data::ColumnType::int64 && b.type() == data::ColumnType::int64) {
    for (std::size_t row = 0; row < a.size(); ++row) {
      if (a.number(row) != b.number(row)) return false;
    }
    return true;
  }
  for (std::size_t row = 0; row < a.size(); ++row) {
    if (a.hash(row) != b.hash(row)) return false;
  }
  return true;
}

// How many of the given ids are no unit of the trial.
std::size_t count_unknown(const data::Ids& trial_ids, const data::Ids& given) {
  std::unordered_set<std::uint64_t> known;
  known.reserve(trial_ids.size());
  for (std::size_t row = 0; row < trial_ids.size(); ++row) known.insert(trial_ids.hash(row));
  std::size_t unknown = 0;
  for (std::size_t row = 0; row < given.size(); ++row) unknown += known.contains(given.hash(row)) ? 0 : 1;
  return unknown;
}

std::vector<std::size_t> arm_columns(const data::Prediction& prediction, const data::Arms& arms,
                                     const std::string& where) {
  const std::vector<std::string>& labels = prediction.arms.labels;
  std::vector<std::size_t> columns;
  for (const std::string& label : arms.labels) {
    const auto found = std::find(labels.begin(), labels.end(), label);
    if (found == labels.end()) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = fmt::format("no prediction for arm '{}' of the trial", label),
                         .where = where,
                         .found = fmt::format("arms {}", fmt::join(labels, ", ")),
                         .expected = fmt::format("arms {}", fmt::join(arms.labels, ", "))});
    }
    columns.push_back(static_cast<std::size_t>(found - labels.begin()));
  }
  return columns;
}

// Outcomes under every arm do not depend on which of them is control; an index does.
void check_control(const data::PredictionFacts& facts, const data::Arms& arms, const std::string& where) {
  if (!facts.is_index || facts.control_is_guessed) return;
  const std::string& theirs = facts.arms.labels[facts.arms.control];
  const std::string& ours = arms.labels[arms.control];
  if (theirs == ours) return;
  throw core::Error({.kind = core::ErrorKind::data,
                     .what = "an index over another control than the trial's",
                     .where = where,
                     .found = fmt::format("'{}'", theirs),
                     .expected = fmt::format("'{}'", ours)});
}

std::optional<double> number_of(const std::string& text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

SegmentColumn quarters(std::string name, const std::vector<std::uint32_t>& label_of_row,
                       const std::vector<double>& number_of_label) {
  std::vector<double> sorted;
  for (const std::uint32_t label : label_of_row) sorted.push_back(number_of_label[label]);
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> bounds;
  for (const double share : {0.25, 0.5, 0.75}) {
    bounds.push_back(sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))]);
  }
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  SegmentColumn column{std::move(name), {}, {}};
  column.values.push_back(fmt::format("up to {:.6g}", bounds.front()));
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    column.values.push_back(fmt::format("over {:.6g}, up to {:.6g}", bounds[i - 1], bounds[i]));
  }
  column.values.push_back(fmt::format("over {:.6g}", bounds.back()));
  for (const std::uint32_t label : label_of_row) {
    const auto place = std::lower_bound(bounds.begin(), bounds.end(), number_of_label[label]);
    column.value_of_row.push_back(static_cast<std::uint32_t>(place - bounds.begin()));
  }
  return column;
}

SegmentColumn most_frequent(std::string name, const std::vector<std::uint32_t>& label_of_row,
                            const std::vector<std::string>& labels, const std::vector<std::size_t>& counts) {
  std::vector<std::uint32_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : labels[a] < labels[b];
  });
  SegmentColumn column{std::move(name), {}, {}};
  std::vector<std::uint32_t> value_of_label(labels.size(), kMostValues - 1);
  for (std::uint32_t value = 0; value < kMostValues - 1; ++value) {
    value_of_label[order[value]] = value;
    column.values.push_back(labels[order[value]]);
  }
  column.values.emplace_back("(other)");
  for (const std::uint32_t label : label_of_row) column.value_of_row.push_back(value_of_label[label]);
  return column;
}

}  // namespace

std::vector<std::size_t> join_ids(const TrialRows& rows, const data::Ids& trial_ids, const data::Ids& given,
                                  const std::string& where) {
  if (given.are_row_numbers() && !trial_ids.are_row_numbers()) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "the units of the trial have ids, and these rows have none",
                       .where = where,
                       .expected = "a column 'id'",
                       .hint = "add the ids: two files need not hold their rows in the same order"});
  }
  if (same_order(trial_ids, given)) return rows.trial_row;
  try {
    return data::match_ids(rows.ids, given, where);
  } catch (const core::Error& error) {
    core::ErrorDetails details = error.details();
    if (details.expected == "a row for every unit") {
      details.hint = fmt::format("{} of the {} rows given are no unit of the trial; is [columns] id the id of both?",
                                 count_unknown(trial_ids, given), given.size());
    } else {
      details.hint = "where ids come back over time, give the rows in the order of the trial";
    }
    throw core::Error(details);
  }
}

JoinedPrediction join_prediction(const data::Prediction& prediction, const TrialRows& rows, const data::Ids& trial_ids,
                                 const std::string& where) {
  check_control(prediction, rows.arms, where);
  const std::vector<std::size_t> columns = arm_columns(prediction, rows.arms, where);
  const std::vector<std::size_t> places = join_ids(rows, trial_ids, prediction.ids, where);
  JoinedPrediction joined{
      core::Matrix<float>(rows.size(), rows.num_arms()), core::Matrix<float>(rows.size(), rows.num_arms()), {}};
  for (std::size_t arm = 0; arm < columns.size() && !prediction.price.empty(); ++arm) {
    joined.price.push_back(prediction.price[columns[arm]]);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t arm = 0; arm < columns.size(); ++arm) {
      joined.revenue(row, arm) = prediction.revenue(places[row], columns[arm]);
      joined.cost(row, arm) = prediction.cost(places[row], columns[arm]);
    }
  }
  return joined;
}

SegmentColumn segment_column(std::string name, std::vector<std::uint32_t> label_of_row,
                             std::vector<std::string> labels) {
  // Only labels that are there, in the order of their first row.
  constexpr std::uint32_t kUnseen = 0xffffffffu;
  std::vector<std::uint32_t> dense(labels.size(), kUnseen);
  std::vector<std::string> seen;
  std::vector<std::size_t> counts;
  for (std::uint32_t& label : label_of_row) {
    std::uint32_t& index = dense[label];
    if (index == kUnseen) {
      index = static_cast<std::uint32_t>(seen.size());
      seen.push_back(labels[label]);
      counts.push_back(0);
    }
    label = index;
    ++counts[index];
  }
  if (seen.size() <= kMostValues) {
    // In the order of the labels, as numbers where they are.
    std::vector<std::uint32_t> order(seen.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto x = number_of(seen[a]);
      const auto y = number_of(seen[b]);
      return x && y ? *x < *y : seen[a] < seen[b];
    });
    SegmentColumn column{std::move(name), std::move(label_of_row), {}};
    std::vector<std::uint32_t> place(seen.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      column.values.push_back(seen[order[i]]);
    }
    for (std::uint32_t& value : column.value_of_row) value = place[value];
    return column;
  }
  std::vector<double> numbers;
  for (const std::string& label : seen) {
    const auto number = number_of(label);
    if (!number) return most_frequent(std::move(name), label_of_row, seen, counts);
    numbers.push_back(*number);
  }
  return quarters(std::move(name), label_of_row, numbers);
}

}  // namespace dfcl::evaluate

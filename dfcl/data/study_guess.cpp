// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/study_guess.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

namespace dfcl::data {
namespace {

constexpr std::size_t kMostGuessedArms = 20;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

// The place of the first word found in the name: words are listed from the surest to the weakest. A whole name that is
// the word counts more than a part of it.
template <std::size_t N>
int score_name(const std::string& name, const std::array<std::string_view, N>& words) {
  const std::string text = lower(name);
  int best = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const int weight = 2 * static_cast<int>(N - i);
    if (text == words[i]) best = std::max(best, weight + 2 * static_cast<int>(N));
    if (text.find(words[i]) != std::string::npos) best = std::max(best, weight);
  }
  return best;
}

constexpr std::array<std::string_view, 14> kArmWords = {
    "arm",   "treatment", "treatment_group", "variant",  "discount",    "segment", "group",
    "offer", "coupon",    "incentive",       "campaign", "match_ratio", "treat",   "level"};
constexpr std::array<std::string_view, 14> kRevenueWords = {"revenue",    "gmv",    "sales",    "orders",     "spend",
                                                            "amountgive", "amount", "purchase", "conversion", "income",
                                                            "value",      "voted",  "outcome",  "visit"};
constexpr std::array<std::string_view, 6> kCostWords = {"cost",   "subsidy", "expense", "discount_amount",
                                                        "payout", "visit"};
constexpr std::array<std::string_view, 8> kIdWords = {"id",      "uuid", "customer_id", "user_id",
                                                      "shop_id", "unit", "client",      "account"};
constexpr std::array<std::string_view, 5> kTimeWords = {"day", "date", "week", "timestamp", "period"};
constexpr std::array<std::string_view, 5> kClusterWords = {"household", "hh_id", "cluster", "family", "store_id"};
constexpr std::array<std::string_view, 14> kAfterWords = {"out_",    "response", "exposure", "exposed",    "click",
                                                          "redeem",  "opened",   "visit",    "conversion", "spend",
                                                          "outcome", "post_",    "after",    "voted"};

class Guesser {
 public:
  explicit Guesser(const TableSummary& table) : table_(table) {}

  StudyGuess guess() {
    guess_arm();
    Study::Columns& columns = guess_.study.columns;
    columns.revenue = best("columns.revenue", kRevenueWords, [](const ColumnSummary& c) {
                        return (c.is_number && c.low >= 0.0 && c.distinct > 1) || is_yes_no(c);
                      }).value_or("");
    columns.cost =
        best("columns.cost", kCostWords, [](const ColumnSummary& c) { return c.is_number && c.distinct > 1; });
    columns.time =
        best("columns.time", kTimeWords, [](const ColumnSummary& c) { return whole_word(c.name, kTimeWords); });
    columns.cluster = best("columns.cluster", kClusterWords, [](const ColumnSummary& c) { return !c.looks_unique; });
    guess_id();
    guess_categories();
    guess_missing();
    guess_after();
    finish();
    return std::move(guess_);
  }

 private:
  static bool is_yes_no(const ColumnSummary& column) {
    if (column.is_number || column.distinct != 2) return false;
    static const std::set<std::string> words = {"yes", "no", "true", "false"};
    return std::all_of(column.frequent.begin(), column.frequent.end(),
                       [](const auto& entry) { return words.contains(lower(entry.first)); });
  }

  template <std::size_t N>
  static bool whole_word(const std::string& name, const std::array<std::string_view, N>& words) {
    const std::string text = lower(name);
    return std::find(words.begin(), words.end(), text) != words.end();
  }

  // The unused column with the best name among those that can play the role.
  template <std::size_t N, class CanBe>
  std::optional<std::string> best(const std::string& key, const std::array<std::string_view, N>& words,
                                  CanBe&& can_be) {
    const ColumnSummary* winner = nullptr;
    int most = 0;
    for (const ColumnSummary& column : table_.columns) {
      const int score = score_name(column.name, words);
      if (score <= most || used_.contains(column.name) || !can_be(column)) continue;
      most = score;
      winner = &column;
    }
    if (winner == nullptr) return std::nullopt;
    used_.insert(winner->name);
    guess_.remarks[key] = "guessed from its name: please check";
    return winner->name;
  }

  void guess_arm() {
    Study& study = guess_.study;
    study.columns.arm = best("columns.arm", kArmWords, [](const ColumnSummary& c) {
                          return c.distinct >= 2 && c.distinct <= kMostGuessedArms && !c.distinct_is_at_least &&
                                 c.missing == 0 && (c.is_integer || !c.is_number || c.distinct <= 8);
                        }).value_or("");
    const auto arm = std::find_if(table_.columns.begin(), table_.columns.end(),
                                  [&](const auto& column) { return column.name == study.columns.arm; });
    if (arm == table_.columns.end()) return;
    std::vector<std::string> labels;
    for (const auto& entry : arm->frequent) labels.push_back(entry.first);
    if (labels.size() != arm->distinct) return;
    if (arm->is_number) {
      std::sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return number(a) < number(b); });
      if (labels.size() > 2) study.arms.order = labels;
      guess_.remarks["arms.order"] = "the arms from weakest to strongest, if they are graded";
      study.arms.control = labels.front();
    } else {
      for (const std::string& label : labels) {
        const std::string text = lower(label);
        const bool nothing = text == "0" || text.find("control") != std::string::npos || text.starts_with("no ") ||
                             text.starts_with("no_") || text == "none" || text == "no";
        if (nothing && !study.arms.control) study.arms.control = label;
      }
    }
    guess_.remarks["arms.control"] =
        !study.arms.control ? fmt::format("name the arm that means nothing was given: {}", fmt::join(labels, ", "))
                            : "the arm that means nothing was given";
    std::string shares;
    for (const std::string& label : labels) {
      shares +=
          fmt::format("{}\"{}\" = {:.3g}", shares.empty() ? "" : ", ", label, 1.0 / static_cast<double>(labels.size()));
    }
    guess_.remarks["arms.share"] =
        fmt::format("the designed shares, for example {{ {} }}; without them the sample ratio is not tested", shares);
    arm_labels_ = labels;
  }

  static double number(const std::string& text) {
    double value = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  void guess_id() {
    const bool repeated = guess_.study.columns.time.has_value();
    guess_.study.columns.id = best("columns.id", kIdWords, [&](const ColumnSummary& c) {
      const std::string text = lower(c.name);
      const bool named = text == "id" || text.ends_with("_id") || text.ends_with("id") || whole_word(c.name, kIdWords);
      return named && (c.looks_unique || repeated) && (c.is_integer || !c.is_number);
    });
    if (!guess_.study.columns.id) guess_.remarks["columns.id"] = "none found: a unit is its row number";
  }

  void guess_categories() {
    for (const ColumnSummary& column : table_.columns) {
      if (used_.contains(column.name) || !column.is_integer || column.distinct < 3 || column.distinct > 200) continue;
      const std::string text = lower(column.name);
      for (const char* word : {"city", "zip", "code", "type", "category", "region", "channel"}) {
        if (text.find(word) == std::string::npos) continue;
        guess_.study.columns.categorical.push_back(column.name);
        break;
      }
    }
    if (!guess_.study.columns.categorical.empty())
      guess_.remarks["columns.categorical"] = "whole numbers that look like codes; text columns are categorical anyway";
  }

  void guess_missing() {
    std::set<double> codes;
    for (const ColumnSummary& column : table_.columns) {
      if (!column.is_number || used_.contains(column.name)) continue;
      for (const double code : {-999.0, -9999.0, -99.0}) {
        if (column.low == code) codes.insert(code);
      }
    }
    guess_.study.columns.missing.assign(codes.begin(), codes.end());
    if (!codes.empty()) guess_.remarks["columns.missing"] = "the lowest value of some columns: does it mean missing?";
  }

  // Columns that look like consequences of the arm, or like other ways to write it.
  void guess_after() {
    std::vector<std::string>& exclude = guess_.study.columns.exclude;
    for (const ColumnSummary& column : table_.columns) {
      if (used_.contains(column.name)) continue;
      const bool after = score_name(column.name, kAfterWords) > 0;
      const bool arm_again = lower(column.name).starts_with("treat");
      if (after || arm_again) exclude.push_back(column.name);
    }
    if (!exclude.empty())
      guess_.remarks["columns.exclude"] =
          "these look measured after the arm was drawn, or like the arm itself: never features";
  }

  void finish() {
    Study& study = guess_.study;
    if (study.columns.arm.empty())
      guess_.remarks["columns.arm"] = "not found: name the column that says which arm a unit got";
    if (study.columns.revenue.empty())
      guess_.remarks["columns.revenue"] = "not found: name the column that says what a unit earned";
    if (!study.columns.cost) {
      for (const std::string& label : arm_labels_) {
        if (label != study.arms.control) study.arms.cost[label] = 1.0;
      }
      guess_.remarks["arms.cost"] = "no cost column found: put the true cost of each arm here, or use cost_per_revenue";
    }
    study.cost.control_is_free = !study.columns.cost;
    guess_.remarks["cost.control_is_free"] = "say what you know to be true";
    guess_.remarks["cost.non_negative"] = "no unit's cost is below zero";
    if (!study.arms.order.empty()) guess_.remarks["cost.rises_with_arm"] = "a stronger arm never costs less";
    study.budgets.share_of_max = {0.1, 0.2, 0.4};
    guess_.remarks["budgets.share_of_max"] =
        "shares of what the costliest arm costs above control; or per_unit, or total";
    guess_.remarks["split.by"] = !study.columns.time ? "or \"time\", or a column that says train, validation or test"
                                                     : "\"time\" trains on the earlier rows and tests on the later";
  }

  const TableSummary& table_;
  StudyGuess guess_;
  std::set<std::string> used_;
  std::vector<std::string> arm_labels_;
};

}  // namespace

StudyGuess guess_study(const TableSummary& table) { return Guesser(table).guess(); }

}  // namespace dfcl::data

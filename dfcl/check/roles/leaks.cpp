// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/roles/leaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "dfcl/check/roles/role_words.h"

namespace dfcl::check {
namespace {

constexpr double kBeyondChance = 0.001;
constexpr double kDiffers = 0.05;
constexpr double kSeparates = 0.5;      // standard deviations, or Cramer's V
constexpr double kSmall = 0.1;          // differences below it may be an imbalance of the draw
constexpr double kTellsRevenue = 0.95;  // correlation
constexpr double kSame = 0.002;         // relative: averages in files are rounded, and rows may have been cleaned since
constexpr double kMissingMore = 0.05;   // difference between arms in the missing share

struct PairMoments {
  double rows = 0.0, mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
};

PairMoments pair_moments(const std::vector<float>& x, const std::vector<float>& y,
                         const std::function<bool(std::size_t)>& counts) {
  PairMoments sums;
  const auto usable = [&](std::size_t row) { return std::isfinite(x[row]) && std::isfinite(y[row]) && counts(row); };
  for (std::size_t row = 0; row < x.size(); ++row) {
    if (!usable(row)) continue;
    sums.rows += 1.0;
    sums.mean_x += static_cast<double>(x[row]);
    sums.mean_y += static_cast<double>(y[row]);
  }
  if (sums.rows < 2.0) return sums;
  sums.mean_x /= sums.rows;
  sums.mean_y /= sums.rows;
  for (std::size_t row = 0; row < x.size(); ++row) {
    if (!usable(row)) continue;
    const double dx = static_cast<double>(x[row]) - sums.mean_x;
    const double dy = static_cast<double>(y[row]) - sums.mean_y;
    sums.xx += dx * dx;
    sums.xy += dx * dy;
    sums.yy += dy * dy;
  }
  return sums;
}

// An average of the outcome over groups of the same rows has its mean, and the outcome regressed on it the slope 1.
bool is_average_of(const std::vector<float>& x, const std::vector<float>& y,
                   const std::function<bool(std::size_t)>& counts) {
  const PairMoments sums = pair_moments(x, y, counts);
  if (sums.rows < 100.0 || sums.xx <= 0.0 || sums.yy <= 0.0 || sums.mean_y == 0.0) return false;
  return std::fabs(sums.mean_x / sums.mean_y - 1.0) < kSame && std::fabs(sums.xy / sums.xx - 1.0) < kSame;
}

// "12,50" and "3": by the most frequent values of a text column.
bool has_decimal_commas(const data::ColumnSummary& column) {
  if (column.is_number || column.frequent.empty()) return false;
  bool found = false;
  for (const auto& [value, rows] : column.frequent) {
    const std::size_t comma = value.find(',');
    const std::size_t first = value.starts_with("-") ? 1 : 0;
    const bool is_number = value.size() > first && comma != first && comma + 1 != value.size() &&
                           std::count(value.begin(), value.end(), ',') <= 1 &&
                           value.find_first_not_of("0123456789,", first) == std::string::npos;
    if (!is_number) return false;
    found = found || comma != std::string::npos;
  }
  return found;
}

class LeakFinder {
 public:
  LeakFinder(const data::TableSummary& summary, const data::TableSample& sample, const ColumnEvidence& evidence,
             const ArmChoice& arm, std::optional<std::size_t> revenue)
      : summary_(summary), sample_(sample), evidence_(evidence), arm_(arm), revenue_(revenue) {}

  Leaks find() {
    reasons_.resize(sample_.columns.size());
    for (std::size_t i = 0; i < sample_.columns.size(); ++i) {
      if (evidence_.taken[i]) continue;
      if (!look_at_arm(i) && !look_at_names_of_units(i) && !look_at_revenue(i)) look_at_difference(i);
    }
    for (std::size_t i = 0; i < sample_.columns.size(); ++i) {
      if (!evidence_.taken[i] && reasons_[i].reason.empty()) look_at_averages(i);
    }
    for (std::size_t i = 0; i < sample_.columns.size(); ++i) {
      if (!evidence_.taken[i] && reasons_[i].reason.empty() && !look_at_family(i)) look_at_name(i);
    }
    Leaks leaks;
    for (std::size_t i = 0; i < reasons_.size(); ++i) {
      if (!reasons_[i].reason.empty()) {
        reasons_[i].column = i;
        leaks.left_out.push_back(reasons_[i]);
      } else if (!evidence_.taken[i] && evidence_.corrected_p(i) < kDiffers) {
        leaks.imbalanced.push_back(i);
      }
    }
    return leaks;
  }

 private:
  bool leave_out(std::size_t i, bool is_sure, std::string reason) {
    reasons_[i] = {i, is_sure, std::move(reason)};
    return true;
  }

  bool look_at_arm(std::size_t i) {
    const ArmDifference& difference = evidence_.differences[i];
    const double p = evidence_.corrected_p(i);
    if (difference.is_function_of_arm) return leave_out(i, true, "another way to write the arm");
    if (difference.zero_in_control && difference.zero_by_chance * evidence_.num_tested < kBeyondChance)
      return leave_out(i, true, "always 0 in control, not elsewhere");
    if (p >= kBeyondChance) return false;
    if (std::fabs(difference.effect) >= kSeparates)
      return leave_out(i, true,
                       fmt::format("separates the arms ({:.2f} standard deviations)", std::fabs(difference.effect)));
    const double gap = missing_gap(i);
    if (gap >= kMissingMore)
      return leave_out(i, true, fmt::format("missing {:.0f} points more often in one arm", 100.0 * gap));
    return false;
  }

  bool look_at_difference(std::size_t i) {
    const ArmDifference& difference = evidence_.differences[i];
    const double p = evidence_.corrected_p(i);
    if (p >= kBeyondChance) return false;
    const bool is_count = sample_.columns[i].is_number() && negative_share(sample_.columns[i]) == 0.0 &&
                          zero_share(sample_.columns[i]) >= 0.1;
    const bool has_before_name = name_score(sample_.columns[i].name, Word::before) > 0;
    if (std::fabs(difference.effect) >= kSmall || (is_count && !has_before_name))
      return leave_out(i, false,
                       fmt::format("differs between the arms ({}): measured after, or an imbalance", p_words(p)));
    return false;
  }

  double missing_gap(std::size_t i) const {
    std::vector<double> rows(arm_.codes.num_arms);
    for (const std::uint32_t code : arm_.codes.arm) {
      if (code != data::SampledColumn::kMissing) rows[code] += 1.0;
    }
    double low = 1.0, high = 0.0;
    const std::vector<double>& count = evidence_.differences[i].count;
    for (std::size_t a = 0; a < count.size(); ++a) {
      const double share = rows[a] > 0.0 ? 1.0 - count[a] / rows[a] : 0.0;
      low = std::min(low, share);
      high = std::max(high, share);
    }
    return high - low;
  }

  // Ids of something: text of too many values, whole numbers of many values with the name of an id.
  bool look_at_names_of_units(std::size_t i) {
    const data::ColumnSummary& column = summary_.columns[i];
    const int name = std::max(name_score(column.name, Word::id), name_score(column.name, Word::cluster));
    if (has_decimal_commas(column))
      return leave_out(i, false, "numbers with a decimal comma, read as text: write them with a point");
    const bool names_money = std::max(name_score(column.name, Word::revenue), name_score(column.name, Word::cost)) > 0;
    if (!column.is_number && column.distinct_is_at_least && names_money)
      return leave_out(i, false, "text, by its name an amount: write its numbers with a decimal point");
    if (!column.is_number && column.distinct_is_at_least)
      return leave_out(i, true, "text with a thousand values and more");
    if (column.is_integer && column.distinct_is_at_least && name >= 2)
      return leave_out(i, false, "names something, by its name and values");
    return false;
  }

  bool look_at_revenue(std::size_t i) {
    if (!revenue_ || !sample_.columns[i].is_number()) return false;
    const data::SampledColumn& column = sample_.columns[i];
    const data::SampledColumn& revenue = sample_.columns[*revenue_];
    if (is_within(column, revenue)) {
      return leave_out(i, true, fmt::format("happens only where '{}' does", shown(revenue.name)));
    }
    const bool after = name_score(column.name, Word::after) > 0 && name_score(column.name, Word::before) == 0;
    if (is_within(revenue, column) && (after || evidence_.corrected_p(i) < kDiffers)) {
      return leave_out(i, true, fmt::format("'{}' happens only where it does", shown(revenue.name)));
    }
    const PairMoments sums = pair_moments(column.numbers, revenue.numbers, [](std::size_t) { return true; });
    const double correlation = sums.xx > 0.0 && sums.yy > 0.0 ? sums.xy / std::sqrt(sums.xx * sums.yy) : 0.0;
    if (std::fabs(correlation) > kTellsRevenue)
      return leave_out(i, true, fmt::format("tells '{}' (correlation {:.3f})", shown(revenue.name), correlation));
    return false;
  }

  // Of the revenue, of whether there is any, or of another outcome, over all rows, over control or over the rest.
  void look_at_averages(std::size_t i) {
    if (!revenue_ || !sample_.is_whole || !sample_.columns[i].is_number()) return;
    const auto is_control = [&](std::size_t row) { return arm_.codes.arm[row] == arm_.codes.control; };
    const std::vector<float>& x = sample_.columns[i].numbers;
    for (std::size_t other = 0; other < sample_.columns.size(); ++other) {
      const data::SampledColumn& outcome = sample_.columns[other];
      const bool is_outcome = other == *revenue_ || (!reasons_[other].reason.empty() && outcome.is_number() &&
                                                     is_within(outcome, sample_.columns[*revenue_]));
      if (!is_outcome) continue;
      if (is_average_of(x, outcome.numbers, [](std::size_t) { return true; }) ||
          is_average_of(x, outcome.numbers, is_control) ||
          is_average_of(x, outcome.numbers, [&](std::size_t row) { return !is_control(row); })) {
        leave_out(i, true, fmt::format("an average of '{}' over groups of these rows", shown(outcome.name)));
        averages_.push_back(sample_.columns[i].name);
        return;
      }
    }
  }

  bool look_at_family(std::size_t i) {
    for (const std::string& average : averages_) {
      if (!sample_.columns[i].name.starts_with(average)) continue;
      return leave_out(i, false,
                       fmt::format("its name begins as '{}' does, which is an average of an outcome", shown(average)));
    }
    return false;
  }

  void look_at_name(std::size_t i) {
    const std::string& name = sample_.columns[i].name;
    const int after = name_score(name, Word::after);
    const int arm = name_score(name, Word::arm);
    if (name_score(name, Word::before) > 0) return;
    if (after >= 2)
      leave_out(i, false, "its name says that it was measured after");
    else if (after == 1 && evidence_.corrected_p(i) < kDiffers)
      leave_out(i, false, "its name and its difference between arms say that it was measured after");
    else if (name_score(name, Word::model) >= 2)
      leave_out(i, false, "by its name a model's output, which may have been fitted to these outcomes");
    else if (arm >= 3)
      leave_out(i, false, "its name is that of an arm");
  }

  const data::TableSummary& summary_;
  const data::TableSample& sample_;
  const ColumnEvidence& evidence_;
  const ArmChoice& arm_;
  const std::optional<std::size_t> revenue_;
  std::vector<LeftOut> reasons_;  // per column
  std::vector<std::string> averages_;
};

}  // namespace

Leaks find_leaks(const data::TableSummary& summary, const data::TableSample& sample, const ColumnEvidence& evidence,
                 const ArmChoice& arm, std::optional<std::size_t> revenue) {
  return LeakFinder(summary, sample, evidence, arm, revenue).find();
}

}  // namespace dfcl::check

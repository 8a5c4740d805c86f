// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/roles/outcomes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "dfcl/check/roles/role_words.h"

namespace dfcl::check {
namespace {

constexpr double kMostEvidence = 4.0;  // powers of ten: more would drown shape and name of a deeper outcome
constexpr double kBeyondChance = 0.001;
constexpr double kDiffers = 0.05;
constexpr double kMostCommon = 0.5;  // what happens to more rows than that has too much within it

double share_of(const data::SampledColumn& column, bool (*holds)(float)) {
  double found = 0.0, rows = 0.0;
  for (const float value : column.numbers) {
    if (std::isnan(value)) continue;
    rows += 1.0;
    found += holds(value) ? 1.0 : 0.0;
  }
  return rows > 0.0 ? found / rows : 0.0;
}

// Powers of ten by which a corrected p-value speaks for a difference between arms.
double evidence_of(double corrected_p) {
  return corrected_p >= 1.0 ? 0.0 : std::min(kMostEvidence, -std::log10(std::max(1e-300, corrected_p)));
}

int revenue_name(const std::string& name) {
  const int out = name_score(name, Word::outcome) >= 2 ? 2 : 0;
  return std::min(3, name_score(name, Word::revenue) + out) - name_score(name, Word::before) -
         name_score(name, Word::cost);
}

bool has_many_values(const data::SampledColumn& column) {
  return column.codes.empty() || column.labels.empty() || column.labels.size() > 2;
}

struct Scored {
  std::size_t column;
  double score;
};

// Deeper in the funnel: non-zero only where the winner is, an amount rather than a flag, with a name as good.
std::size_t deepest(const data::TableSample& sample, const std::vector<Scored>& candidates, std::size_t winner) {
  const auto rank = [&](std::size_t column) {
    const int name = revenue_name(sample.columns[column].name);
    return std::tuple{name > 0, has_many_values(sample.columns[column]), name};
  };
  std::size_t best = winner;
  for (const Scored& other : candidates) {
    if (other.column == best || !is_within(sample.columns[other.column], sample.columns[winner])) continue;
    if (rank(other.column) > rank(best)) best = other.column;
  }
  return best;
}

}  // namespace

double ColumnEvidence::corrected_p(std::size_t column) const {
  return std::min(1.0, differences[column].p * num_tested);
}

double zero_share(const data::SampledColumn& column) {
  return share_of(column, [](float value) { return value == 0.0f; });
}

double negative_share(const data::SampledColumn& column) {
  return share_of(column, [](float value) { return value < 0.0f; });
}

std::string p_words(double p) { return p < 1e-9 ? "p < 1e-9" : fmt::format("p = {:.2g}", p); }

bool is_within(const data::SampledColumn& inner, const data::SampledColumn& outer, double by_chance) {
  if (!inner.is_number() || !outer.is_number()) return false;
  double inner_rows = 0.0, outer_rows = 0.0, rows = 0.0;
  for (std::size_t row = 0; row < inner.numbers.size(); ++row) {
    const float a = inner.numbers[row];
    const float b = outer.numbers[row];
    if (std::isnan(a) || std::isnan(b)) continue;
    if (a != 0.0f && b == 0.0f) return false;
    rows += 1.0;
    inner_rows += a != 0.0f ? 1.0 : 0.0;
    outer_rows += b != 0.0f ? 1.0 : 0.0;
  }
  return inner_rows > 0.0 && outer_rows < kMostCommon * rows &&
         inner_rows * std::log(outer_rows / rows) < std::log(by_chance);
}

RoleChoice choose_revenue(const data::TableSample& sample, const ColumnEvidence& evidence) {
  std::vector<Scored> candidates;
  for (std::size_t i = 0; i < sample.columns.size(); ++i) {
    const data::SampledColumn& column = sample.columns[i];
    const ArmDifference& difference = evidence.differences[i];
    if (evidence.taken[i] || !column.is_number() || !difference.tested || difference.is_function_of_arm) continue;
    if (difference.zero_in_control && difference.zero_by_chance * evidence.num_tested < kBeyondChance) continue;
    const double shape = negative_share(column) > 0.0 ? -2.0 : (zero_share(column) >= 0.1 ? 1.0 : 0.0);
    candidates.push_back({i, evidence_of(evidence.corrected_p(i)) + shape + revenue_name(column.name)});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  RoleChoice choice{
      .column = {}, .is_sure = false, .reason = "not found: name the column that says what a unit earned"};
  if (candidates.empty()) return choice;
  const std::size_t winner = deepest(sample, candidates, candidates.front().column);
  const bool differs = evidence.corrected_p(winner) < kDiffers;
  if (!differs && revenue_name(sample.columns[winner].name) < 2) return choice;
  choice.column = winner;
  choice.is_sure = differs && revenue_name(sample.columns[winner].name) > 0;
  const std::string within = winner == candidates.front().column
                                 ? ""
                                 : fmt::format("; it happens within '{}', which differs ({})",
                                               shown(sample.columns[candidates.front().column].name),
                                               p_words(evidence.corrected_p(candidates.front().column)));
  choice.reason = fmt::format(
      "{} ({}, corrected for {:.0f} columns){}",
      differs ? "differs between the arms" : "its name says so; its difference between the arms is not beyond chance",
      p_words(evidence.corrected_p(winner)), evidence.num_tested, differs ? "" : within);
  return choice;
}

RoleChoice choose_cost(const data::TableSample& sample, const ColumnEvidence& evidence, const ArmChoice& arm) {
  RoleChoice best;
  double most = 0.0;
  for (std::size_t i = 0; i < sample.columns.size(); ++i) {
    const data::SampledColumn& column = sample.columns[i];
    const ArmDifference& difference = evidence.differences[i];
    if (evidence.taken[i] || !column.is_number() || !difference.tested || negative_share(column) > 0.0) continue;
    const int name = name_score(column.name, Word::cost);
    const bool free_in_control =
        difference.zero_in_control && difference.zero_by_chance * evidence.num_tested < kBeyondChance;
    const bool is_other =
        name == 0 && (difference.is_function_of_arm || !has_many_values(column) ||
                      name_score(column.name, Word::arm) > 0 || name_score(column.name, Word::after) > 1);
    const bool costs_more =
        name >= 2 && name_score(column.name, Word::before) == 0 && evidence.corrected_p(i) < kDiffers;
    if (is_other || (!free_in_control && !costs_more)) continue;
    const double score = (free_in_control ? 2.0 : 0.0) + name + (has_many_values(column) ? 1.0 : 0.0);
    if (score <= most) continue;
    most = score;
    best.column = i;
    best.is_sure = free_in_control && name > 0;
    best.reason = free_in_control ? fmt::format("zero in '{}', not elsewhere", shown(arm.control.value_or("")))
                                  : fmt::format(
                                        "its name says so, and it differs between the arms ({}); control costs "
                                        "something too, so budgets count what is above it",
                                        p_words(evidence.corrected_p(i)));
  }
  return best;
}

RoleChoice choose_stand_in(const data::TableSample& sample, const ColumnEvidence& evidence, std::size_t revenue) {
  RoleChoice best;
  int most = 1;
  for (std::size_t i = 0; i < sample.columns.size(); ++i) {
    const data::SampledColumn& column = sample.columns[i];
    const int name = name_score(column.name, Word::attention);
    if (evidence.taken[i] || i == revenue || name <= most || name_score(column.name, Word::before) > 0) continue;
    if (!is_within(sample.columns[revenue], column, kDiffers)) continue;  // its name speaks too
    most = name;
    best.column = i;
    best.reason =
        "a stand-in: no column is zero in control and not elsewhere, and this happens before the revenue. If "
        "you know what an arm costs, give [arms] cost and name it in exclude instead";
  }
  return best;
}

std::vector<double> exact_rates(const data::TableSample& sample, const ArmChoice& arm, std::size_t revenue,
                                std::size_t cost) {
  const std::vector<float>& earned = sample.columns[revenue].numbers;
  const std::vector<float>& spent = sample.columns[cost].numbers;
  const std::size_t num_arms = arm.codes.num_arms;
  std::vector<double> sum_earned(num_arms), sum_spent(num_arms), rates(num_arms);
  const auto usable = [&](std::size_t row) {
    return std::isfinite(earned[row]) && std::isfinite(spent[row]) &&
           arm.codes.arm[row] != data::SampledColumn::kMissing;
  };
  for (std::size_t row = 0; row < earned.size(); ++row) {
    if (!usable(row)) continue;
    sum_earned[arm.codes.arm[row]] += static_cast<double>(earned[row]);
    sum_spent[arm.codes.arm[row]] += static_cast<double>(spent[row]);
  }
  for (std::size_t i = 0; i < num_arms; ++i) {
    if (sum_earned[i] == 0.0) return {};
    rates[i] = std::round(1e6 * sum_spent[i] / sum_earned[i]) / 1e6;
  }
  for (std::size_t row = 0; row < earned.size(); ++row) {
    if (!usable(row)) continue;
    const double expected = rates[arm.codes.arm[row]] * static_cast<double>(earned[row]);
    const double found = static_cast<double>(spent[row]);
    if (std::fabs(expected - found) > 1e-4 * (std::fabs(found) + 1e-3)) return {};
  }
  return rates;
}

}  // namespace dfcl::check

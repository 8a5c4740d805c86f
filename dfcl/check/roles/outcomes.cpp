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

// A stretch of time ("revenue_90d") lies before the arm was drawn, unless the data show that it comes after.
int revenue_name(const std::string& name, bool comes_after) {
  const int out = name_score(name, Word::outcome) >= 2 ? 2 : 0;
  const int before = comes_after && is_window(name) ? 0 : name_score(name, Word::before);
  return std::min(3, name_score(name, Word::revenue) + out) - before - name_score(name, Word::cost);
}

bool surely_differs(const ColumnEvidence& evidence, std::size_t column) {
  return evidence.corrected_p(column) < kBeyondChance;
}

bool has_many_values(const data::SampledColumn& column) {
  return column.codes.empty() || column.labels.empty() || column.labels.size() > 2;
}

struct Scored {
  std::size_t column;
  double score;
};

// Every non-zero row of `inner` is one of `outer`, however common that is. Weaker than is_within: two columns from
// before may be zero for the same units.
bool lies_in(const data::SampledColumn& inner, const data::SampledColumn& outer) {
  constexpr double kLeastOutside = 30.0;
  double inside = 0.0, outside = 0.0;
  for (std::size_t row = 0; row < inner.numbers.size(); ++row) {
    const float a = inner.numbers[row];
    const float b = outer.numbers[row];
    if (std::isnan(a) || std::isnan(b)) continue;
    if (a != 0.0f && b == 0.0f) return false;
    inside += a != 0.0f ? 1.0 : 0.0;
    outside += b == 0.0f ? 1.0 : 0.0;
  }
  return inside >= kLeastOutside && outside >= kLeastOutside;
}

// The same outcome as the winner, closer to money: deeper in the funnel (non-zero only where the winner is), or named
// revenue and different between the arms too.
std::size_t closest_to_money(const data::TableSample& sample, const ColumnEvidence& evidence,
                             const std::vector<Scored>& candidates, std::size_t winner) {
  const auto name_of = [&](std::size_t column) {
    const bool is_part =
        evidence.corrected_p(winner) < kDiffers && is_within(sample.columns[column], sample.columns[winner]);
    return revenue_name(sample.columns[column].name, is_part || surely_differs(evidence, column));
  };
  const auto rank = [&](std::size_t column) {
    return std::tuple{name_of(column) > 0, outcome_kind(sample.columns[column]), name_of(column)};
  };
  std::size_t best = winner;
  for (const Scored& other : candidates) {
    if (other.column == winner) continue;
    const data::SampledColumn& column = sample.columns[other.column];
    const int name = name_of(other.column);
    const bool differs = evidence.corrected_p(other.column) < (name >= 2 ? kDiffers : kBeyondChance);
    const bool is_same = is_within(column, sample.columns[winner]) || (name > 0 && differs) ||
                         (name >= 2 && lies_in(column, sample.columns[winner]));
    if (is_same && rank(other.column) > rank(best)) best = other.column;
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

OutcomeKind outcome_kind(const data::SampledColumn& column) {
  if (!has_many_values(column)) return OutcomeKind::flag;
  if (name_score(column.name, Word::money) >= 2) return OutcomeKind::amount;
  constexpr float kMostCounted = 50.0f;
  bool is_whole = true;
  float largest = 0.0f;
  for (const float value : column.numbers) {
    if (std::isnan(value)) continue;
    is_whole = is_whole && value == std::floor(value);
    largest = std::max(largest, value);
  }
  const bool is_count = is_whole && (largest <= kMostCounted || name_score(column.name, Word::count) >= 2);
  return is_count ? OutcomeKind::count : OutcomeKind::amount;
}

bool is_loss(const std::string& name) {
  return name_score(name, Word::loss) >= 2 && name_score(name, Word::before) == 0 && name_score(name, Word::model) == 0;
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
    if (is_loss(column.name)) continue;
    const double shape = negative_share(column) > 0.0 ? -2.0 : (zero_share(column) >= 0.1 ? 1.0 : 0.0);
    candidates.push_back(
        {i, evidence_of(evidence.corrected_p(i)) + shape + revenue_name(column.name, surely_differs(evidence, i))});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  RoleChoice choice{
      .column = {}, .is_sure = false, .reason = "not found: name the column that says what a unit earned"};
  if (candidates.empty()) return choice;
  const std::size_t first = candidates.front().column;
  const std::size_t winner = closest_to_money(sample, evidence, candidates, first);
  const double p = evidence.corrected_p(winner);
  const std::string& name = sample.columns[winner].name;
  const bool differs = p < kDiffers;
  const int name_says = revenue_name(name, winner != first || surely_differs(evidence, winner));
  if (!differs && name_says < 2) return choice;
  choice.column = winner;
  choice.is_sure = differs && name_says > 0 && !is_window(name);
  const std::string instead =
      winner == first ? ""
                      : fmt::format("; closer to money than '{}', which differs ({})",
                                    shown(sample.columns[first].name), p_words(evidence.corrected_p(first)));
  choice.reason = fmt::format(
      "{} ({}, corrected for {:.0f} columns){}{}",
      differs ? "differs between the arms" : "its name says so; its difference between the arms is not beyond chance",
      p_words(p), evidence.num_tested, differs ? "" : instead,
      is_window(name) ? "; taken for a time after the arms were drawn" : "");
  return choice;
}

std::vector<RoleChoice> choose_guardrails(const data::TableSample& sample, const ColumnEvidence& evidence,
                                          std::optional<std::size_t> revenue) {
  std::vector<RoleChoice> guardrails;
  for (std::size_t i = 0; i < sample.columns.size(); ++i) {
    const data::SampledColumn& column = sample.columns[i];
    if (evidence.taken[i] || !column.is_number() || !is_loss(column.name) || !evidence.differences[i].tested) continue;
    const double p = evidence.corrected_p(i);
    const bool is_part =
        revenue && (is_within(column, sample.columns[*revenue]) || is_within(sample.columns[*revenue], column));
    const std::string reason = p < kDiffers ? fmt::format("differs between the arms ({})", p_words(p))
                               : is_part
                                   ? fmt::format("happens only where '{}' does", shown(sample.columns[*revenue].name))
                                   : "by its name; if it was measured before the arms were drawn, it is a feature";
    guardrails.push_back({i, p < kDiffers || is_part, reason});
  }
  return guardrails;
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
    // "discount" says an arm as well as a cost: what is the same for all units of an arm is the arm.
    const bool says_arm = name_score(column.name, Word::arm) > 0;
    const bool is_other = (name == 0 && (difference.is_function_of_arm || !has_many_values(column) || says_arm ||
                                         name_score(column.name, Word::after) > 1)) ||
                          (name <= 2 && says_arm && difference.is_function_of_arm);
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

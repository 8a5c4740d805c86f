// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/trial_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/data/splits.h"
#include "dfcl/data/unit_key.h"

namespace dfcl::evaluate {
namespace {

core::Error rows_error(std::string what, std::string found, std::string expected, std::string hint = "") {
  return core::Error({.kind = core::ErrorKind::data,
                      .what = std::move(what),
                      .found = std::move(found),
                      .expected = std::move(expected),
                      .hint = std::move(hint)});
}

std::string name_of(std::optional<data::Split> split) {
  return split ? fmt::format("the {} split", data::to_text(*split)) : "the trial";
}

data::Ids ids_of_rows(const data::Ids& all, const std::vector<std::size_t>& rows) {
  return rows.size() == all.size() && std::is_sorted(rows.begin(), rows.end()) ? all : all.chosen(rows);
}

// One cluster of an arm shows no spread: every interval of the arm would have no width.
void require_clusters(const TrialRows& rows, const std::string& where) {
  if (rows.cluster.empty()) return;
  constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> first(rows.num_arms(), kUnseen);
  std::vector<bool> has_two(rows.num_arms());
  for (std::size_t row = 0; row < rows.cluster.size(); ++row) {
    std::uint32_t& seen = first[rows.arm[row]];
    if (seen == kUnseen) seen = rows.cluster[row];
    if (seen != rows.cluster[row]) has_two[rows.arm[row]] = true;
  }
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    if (!has_two[arm])
      throw rows_error(fmt::format("all units of arm '{}' in {} are one cluster", rows.arms.labels[arm], where),
                       "1 cluster", "two or more, to see a spread", "another split, or fewer arms");
  }
}

void check_rows(const TrialRows& rows, const std::string& where) {
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    const std::string& label = rows.arms.labels[arm];
    if (rows.arm_units[arm] == 0) {
      throw rows_error(fmt::format("no unit of arm '{}' in {}", label, where), "0 units", "units of every arm",
                       "another split, or fewer arms");
    }
    if (rows.arm_units[arm] < 2) {
      throw rows_error(fmt::format("arm '{}' has one unit in {}", label, where), "1 unit",
                       "two or more, to see a spread", "another split, or fewer arms");
    }
  }
  if (rows.num_clusters == 1)
    throw rows_error(fmt::format("all units of {} are one cluster", where), "", "two or more");
  require_clusters(rows, where);
  if (std::all_of(rows.revenue.begin(), rows.revenue.end(), [](float revenue) { return revenue == 0.0f; })) {
    throw rows_error(fmt::format("nobody in {} earned anything", where),
                     fmt::format("revenue 0 for all {} units", rows.size()), "some revenue",
                     "name an outcome that happens more often as [columns] revenue, or bring more units");
  }
}

std::uint64_t key_of(const data::Trial& trial, std::size_t unit) {
  return trial.ids.are_row_numbers() ? unit : data::unit_key(trial, unit);
}

void set_keys(const data::Trial& trial, TrialRows& rows) {
  if (trial.ids.are_row_numbers() && std::is_sorted(rows.trial_row.begin(), rows.trial_row.end())) {
    rows.key.assign(rows.trial_row.begin(), rows.trial_row.end());
    return;
  }
  std::vector<data::KeyedRow> keyed;
  keyed.reserve(rows.trial_row.size());
  for (const std::size_t unit : rows.trial_row) keyed.push_back({key_of(trial, unit), unit});
  data::sort_by_key(trial, keyed);
  rows.key.reserve(keyed.size());
  for (std::size_t row = 0; row < keyed.size(); ++row) {
    rows.key.push_back(keyed[row].key);
    rows.trial_row[row] = keyed[row].row;
  }
}

void set_clusters(const data::Trial& trial, TrialRows& rows) {
  if (!trial.has_clusters()) return;
  std::vector<std::uint64_t> smallest(trial.num_clusters, std::numeric_limits<std::uint64_t>::max());
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    std::uint64_t& key = smallest[trial.cluster[unit]];
    key = std::min(key, key_of(trial, unit));
  }
  constexpr std::uint32_t kUnseen = 0xffffffffu;
  std::vector<std::uint32_t> dense(trial.num_clusters, kUnseen);
  rows.cluster.reserve(rows.trial_row.size());
  for (const std::size_t row : rows.trial_row) {
    std::uint32_t& index = dense[trial.cluster[row]];
    if (index == kUnseen) {
      index = static_cast<std::uint32_t>(rows.num_clusters++);
      rows.cluster_key.push_back(smallest[trial.cluster[row]]);
    }
    rows.cluster.push_back(index);
  }
}

void set_sample_weights(const data::Trial& trial, TrialRows& rows) {
  rows.arm_weight.assign(rows.arm_units.begin(), rows.arm_units.end());
  if (trial.weight.empty()) return;
  double total = 0.0;
  for (const std::size_t unit : rows.trial_row) total += trial.sample_weight(unit);
  rows.arm_weight.assign(rows.num_arms(), 0.0);
  rows.sample.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    rows.sample.push_back(trial.sample_weight(rows.trial_row[row]) * static_cast<double>(rows.size()) / total);
    rows.arm_weight[rows.arm[row]] += rows.sample.back();
  }
}

void set_weights(const data::Trial& trial, TrialRows& rows) {
  rows.has_propensity = !trial.propensity.empty();
  rows.weight.reserve(rows.size());
  const auto num_rows = static_cast<double>(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    rows.weight.push_back(rows.has_propensity ? 1.0 / static_cast<double>(trial.propensity[rows.trial_row[row]])
                                              : num_rows / rows.arm_weight[rows.arm[row]]);
  }
}

void set_draws(TrialRows& rows) {
  if (rows.propensity_scores == nullptr) return;
  const data::PropensityScores& scores = *rows.propensity_scores;
  DrawnRows& draws = rows.draws;
  draws.row.resize(rows.size());
  std::iota(draws.row.begin(), draws.row.end(), 0u);
  const auto draw = [&](std::uint32_t row) { return scores.draw_of(rows.trial_row[row]); };
  if (!rows.cluster.empty() || scores.num_draws() < static_cast<double>(rows.trial->num_units())) {
    std::sort(draws.row.begin(), draws.row.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(rows.group(a), draw(a), a) < std::tuple(rows.group(b), draw(b), b);
    });
  }
  for (std::uint32_t place = 0; place < draws.row.size(); ++place) {
    if (place == 0 || draw(draws.row[place]) != draw(draws.row[place - 1])) draws.begin.push_back(place);
  }
  draws.begin.push_back(static_cast<std::uint32_t>(draws.row.size()));
  for (std::size_t i = 0; i + 1 < draws.begin.size(); ++i) {
    const auto rows_of_draw = static_cast<double>(draws.begin[i + 1] - draws.begin[i]);
    draws.evaluated += rows_of_draw / static_cast<double>(scores.num_units(draw(draws.row[draws.begin[i]])));
  }
}

}  // namespace

TrialRows rows_of(const data::Trial& trial, std::optional<data::Split> split) {
  std::vector<std::size_t> units;
  units.reserve(trial.num_units());
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (!split || trial.split[unit] == *split) units.push_back(unit);
  }
  return rows_of(trial, std::move(units), name_of(split));
}

TrialRows rows_of(const data::Trial& trial, std::vector<std::size_t> units, const std::string& name) {
  TrialRows rows;
  rows.arms = trial.arms;
  rows.cost_facts = trial.cost_facts;
  rows.trial_row = std::move(units);
  if (rows.trial_row.empty()) {
    throw rows_error(fmt::format("{} is empty", name), "no units", "units to evaluate on",
                     fmt::format("{} names another; {}, {} and {} set their sizes", core::field_name("split"),
                                 core::field_name("split.train"), core::field_name("split.validation"),
                                 core::field_name("split.test")));
  }
  set_keys(trial, rows);
  rows.ids = ids_of_rows(trial.ids, rows.trial_row);
  rows.arm_units.assign(trial.arms.size(), 0);
  rows.arm.reserve(rows.trial_row.size());
  rows.revenue.reserve(rows.trial_row.size());
  rows.cost.reserve(rows.trial_row.size());
  for (const std::size_t unit : rows.trial_row) {
    rows.arm.push_back(trial.arm[unit]);
    rows.revenue.push_back(trial.revenue[unit]);
    rows.cost.push_back(trial.cost[unit]);
    ++rows.arm_units[trial.arm[unit]];
  }
  for (const data::Guardrail& guardrail : trial.guardrails) {
    GuardedOutcome& guarded = rows.guardrails.emplace_back(GuardedOutcome{guardrail.name, {}});
    guarded.value.reserve(rows.trial_row.size());
    for (const std::size_t unit : rows.trial_row) guarded.value.push_back(guardrail.value[unit]);
  }
  rows.propensity_scores = trial.propensity_scores;
  rows.trial = &trial;
  set_clusters(trial, rows);
  check_rows(rows, name);
  set_sample_weights(trial, rows);
  set_weights(trial, rows);
  set_draws(rows);
  return rows;
}

}  // namespace dfcl::evaluate

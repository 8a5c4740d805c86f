// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/plan_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "dfcl/allocate/exact_sum.h"
#include "dfcl/core/version.h"
#include "dfcl/core/words.h"
#include "dfcl/data/id_match.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/verbs/words.h"

namespace dfcl::verbs {

data::Provenance plan_provenance(const std::string& command, const data::PredictionFacts& facts,
                                 const allocate::Rules& rules) {
  data::Provenance provenance{"plan", core::version(), command, {}};
  provenance.options = {{data::kControlOption, facts.arms.labels[rules.control]},
                        {"objective", std::string(core::to_word(rules.objective))}};
  if (facts.is_index) provenance.options.emplace_back(data::kIndexOption, "true");
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) provenance.options.emplace_back(name, value);
  };
  add(data::kCurrencyOption, facts.currency);
  add(data::kUnitOption, facts.unit);
  if (facts.revenue_is_count) add(data::kCountOption, "true");
  for (std::size_t arm = 0; arm < rules.price.size(); ++arm)  // for readout: what each unit will have cost
    add(data::kPriceOption + facts.arms.labels[arm], fmt::format("{}", rules.price[arm]));
  add(data::kModelOption, facts.model);
  add(data::kMethodOption, facts.method);
  return provenance;
}

std::vector<std::pair<std::string, std::string>> plan_figures(const report::PlanSummary& plan,
                                                              std::uint64_t fingerprint) {
  auto metadata = report::plan_metadata(plan);
  metadata.emplace_back("predictions", fmt::format("{:016x}", fingerprint));
  return metadata;
}

data::Ids planned_ids(const data::Prediction& prediction, const allocate::PlannedUnits& planned) {
  const std::size_t first = planned.units.first_unit;
  if (prediction.ids.are_row_numbers())
    return data::RowNumbers{static_cast<std::size_t>(prediction.ids.number(first)), planned.size()};
  std::vector<std::size_t> rows(planned.size());
  std::iota(rows.begin(), rows.end(), first);
  return prediction.ids.chosen(rows);
}

data::Plan planned_rows(const std::vector<std::string>& arms, data::Ids ids, const allocate::PlannedUnits& planned) {
  data::Plan piece;
  piece.arms = arms;
  piece.ids = std::move(ids);
  piece.arm.assign(planned.arm.begin(), planned.arm.end());
  for (std::size_t row = 0; row < planned.size(); ++row) {
    piece.revenue.push_back(planned.revenue(row));
    piece.cost.push_back(planned.cost(row));
  }
  return piece;
}

void append_plan(const data::Plan& piece, data::Plan& whole) {
  const auto append = [](const auto& from, auto& to) { to.insert(to.end(), from.begin(), from.end()); };
  whole.arms = piece.arms;
  whole.ids.append(piece.ids);
  append(piece.arm, whole.arm);
  append(piece.revenue, whole.revenue);
  append(piece.cost, whole.cost);
  append(piece.role, whole.role);
  append(piece.propensity, whole.propensity);
  append(piece.control_revenue, whole.control_revenue);
  append(piece.control_cost, whole.control_cost);
  data::append_rows(piece.extra, whole.extra);
}

data::ExtraColumns planned_extras(const data::ExtraColumns& all, const allocate::PlannedUnits& planned) {
  const std::size_t first = planned.units.first_unit;
  data::ExtraColumns extra;
  extra.columns = all.columns;
  for (std::size_t column = 0; column < all.columns.size(); ++column) {
    extra.values.push_back(data::empty_values(all.columns[column].type));
    data::append_rows(all.values[column], first, first + planned.size(), extra.values.back());
  }
  return extra;
}

void join_segments(const io::UnitLabels& labels, const data::Ids& ids, const std::string& where,
                   io::PredictionTable& table) {
  table.segments = labels.labels;
  table.segment.clear();
  for (const std::size_t row : data::match_ids(ids, labels.ids, where)) table.segment.push_back(labels.label[row]);
}

void sort_segments(io::PredictionTable& table) {
  std::vector<std::uint32_t> order(table.segments.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return table.segments[a] < table.segments[b]; });
  std::vector<std::uint32_t> place(order.size());
  std::vector<std::string> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(table.segments[order[i]]);
  }
  for (std::uint32_t& segment : table.segment) segment = place[segment];
  table.segments = std::move(sorted);
}

std::vector<double> segment_control_costs(const io::PredictionTable& table, core::MatrixView<const float> cost,
                                          const allocate::Rules& rules) {
  std::vector<double> units(table.segments.size());
  std::vector<allocate::ExactSum> sums(table.segments.size());
  for (std::size_t unit = 0; unit < table.segment.size(); ++unit) {
    units[table.segment[unit]] += 1.0;
    sums[table.segment[unit]].add(cost(unit, rules.control));
  }
  std::vector<double> costs;
  for (std::size_t segment = 0; segment < sums.size(); ++segment)
    costs.push_back(rules.price.empty() ? sums[segment].value() : units[segment] * rules.price[rules.control]);
  return costs;
}

}  // namespace dfcl::verbs

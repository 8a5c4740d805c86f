// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/cost_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/suggest.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::data {

std::string_view to_text(CostKind kind) {
  switch (kind) {
    case CostKind::observed: return "observed";
    case CostKind::price: return "price";
    case CostKind::rate: return "rate";
    case CostKind::price_if: return "price_if";
  }
  return "";
}

CostFacts resolve_cost_facts(const Study& study, const Arms& arms) {
  const bool has_prices = !study.arms.cost.empty();
  const auto& table = has_prices ? study.arms.cost : study.arms.cost_per_revenue;
  if (table.empty()) return {};
  const char* where = has_prices ? "study, [arms] cost" : "study, [arms] cost_per_revenue";
  for (const auto& [label, value] : table) {
    if (std::find(arms.labels.begin(), arms.labels.end(), label) == arms.labels.end())
      throw core::usage_error(where, fmt::format("no arm '{}' in the trial", label), "", "",
                              core::suggest(label, arms.labels));
  }
  CostFacts facts{study.columns.cost_if ? CostKind::price_if : has_prices ? CostKind::price : CostKind::rate, {}};
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    const auto entry = table.find(arms.labels[arm]);
    if (entry == table.end() && arm != arms.control)
      throw core::usage_error(where, fmt::format("no cost for arm '{}'", arms.labels[arm]), "", "",
                              "name every arm but control");
    facts.per_arm.push_back(entry == table.end() ? 0.0 : entry->second);
  }
  return facts;
}

}  // namespace dfcl::data

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/format_1.h"

#include <fmt/format.h>

#include "dfcl/core/error.h"
#include "dfcl/data/budgets.h"
#include "dfcl/io/tensors/strict_json.h"
#include "dfcl/learn/facts_json.h"
#include "dfcl/learn/part.h"

namespace dfcl::model {
namespace {

using nlohmann::json;

constexpr int kMostDepth = 4;  // of JSON
constexpr std::string_view kForest = "forest.";
constexpr const char* kNetworkTexts[] = {"members", "network", "outcomes"};
constexpr const char* kOnePredictor = R"([{{"kind":"{}","weight":1.0}}])";

// What the forest's rules were made from.
std::string facts_text(const std::string& outcomes, const std::string& where) {
  const json value = io::parse_strictly(outcomes, kMostDepth, where);
  try {
    return learn::facts_json(learn::both_facts_of(value)).dump();
  } catch (const std::exception&) {
    throw core::Error(
        {.kind = core::ErrorKind::file, .what = "a model file with a malformed part 'outcomes'", .where = where});
  }
}

// Budgets were totals.
std::string multipliers_text(const std::string& multipliers, const std::string& where) {
  (void)io::parse_strictly(multipliers, kMostDepth, where);
  const auto list = nlohmann::ordered_json::parse(multipliers);
  auto result = nlohmann::ordered_json::array();
  try {
    for (const auto& entry : list) {
      result.push_back({{"budget", entry.at("budget")},
                        {"budget_per_unit", entry.at("budget_per_unit")},
                        {"budget_basis", data::to_text(data::BudgetBasis::total)},
                        {"multiplier", entry.at("multiplier")},
                        {"scaled_multiplier", entry.at("scaled_multiplier")}});
    }
  } catch (const json::exception&) {
    throw core::Error(
        {.kind = core::ErrorKind::file, .what = "a model file with a malformed part 'multipliers'", .where = where});
  }
  return result.dump();
}

// Texts that are too long for the header are tensors text.<key>.
std::string renamed(const std::string& name, const std::string& networks) {
  for (const char* text : kNetworkTexts) {
    if (name == std::string("text.") + text) return "text." + networks + text;
  }
  if (name.starts_with("preprocessing.") || name.starts_with("network.")) return networks + name;
  if (name.starts_with(kForest)) return "predictors.0." + name.substr(kForest.size());
  return name;
}

}  // namespace

io::TensorFile from_format_1(const io::TensorFile& file, const std::string& where) {
  const bool has_forest = file.find("forest.nodes") != nullptr;
  const std::string networks = has_forest ? "predictors.0.base.0." : "predictors.0.";
  io::TensorFile result;
  result.metadata = file.metadata;
  for (const char* text : kNetworkTexts) {
    if (const auto entry = result.metadata.find(text); entry != result.metadata.end()) {
      result.metadata[networks + text] = entry->second;
      result.metadata.erase(entry);
    }
  }
  result.metadata["format_version"] = "2";
  result.metadata["known_costs"] = R"({"kind":"observed","per_arm":[]})";
  if (const auto multipliers = result.metadata.find("multipliers"); multipliers != result.metadata.end())
    multipliers->second = multipliers_text(multipliers->second, where);
  result.metadata["predictors"] = fmt::format(kOnePredictor, has_forest ? "forest" : "network");
  if (has_forest) {
    result.metadata["predictors.0.base"] = fmt::format(kOnePredictor, "network");
    result.metadata["predictors.0.facts"] = facts_text(learn::text_of(file, "outcomes", where), where);
  }
  for (const io::Tensor& tensor : file.tensors)
    result.tensors.push_back({renamed(tensor.name, networks), tensor.shape, tensor.values});
  return result;
}

}  // namespace dfcl::model

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/model_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "dfcl/core/error.h"
#include "dfcl/io/tensors/strict_json.h"
#include "dfcl/model/learned_json.h"

namespace dfcl::model {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kMostDepth = 4;

std::size_t size_of(const json& value) {
  if (!value.is_number_unsigned()) throw json::other_error::create(501, "not a whole number", nullptr);
  return value.get<std::size_t>();
}

// Hashes have more digits than the numbers of some JSON readers.
std::string hexadecimal(std::uint64_t number) { return fmt::format("{:016x}", number); }
std::uint64_t of_hexadecimal(const std::string& text) {
  std::size_t used = 0;
  const std::uint64_t number = std::stoull(text, &used, 16);
  if (used != text.size()) throw json::other_error::create(501, "not a hash", nullptr);
  return number;
}

ordered_json arms_json(const Model& model) {
  return {{"labels", model.arms.labels}, {"control", model.arms.control}, {"ordered", model.arms.ordered}};
}
void set_arms(Model& model, const json& value) {
  model.arms.labels = value.at("labels").get<std::vector<std::string>>();
  model.arms.control = size_of(value.at("control"));
  model.arms.ordered = value.at("ordered").get<bool>();
}

ordered_json features_json(const Model& model) {
  ordered_json list = ordered_json::array();
  for (const data::FeatureColumn& column : model.features) {
    ordered_json entry = {{"name", column.name}};
    if (column.categorical) entry["levels"] = column.levels;
    list.push_back(std::move(entry));
  }
  return list;
}
void set_features(Model& model, const json& value) {
  for (const json& entry : value) {
    data::FeatureColumn column;
    column.name = entry.at("name").get<std::string>();
    column.categorical = entry.contains("levels");
    if (column.categorical) column.levels = entry["levels"].get<std::vector<std::string>>();
    model.features.push_back(std::move(column));
  }
}

ordered_json missing_json(const Model& model) { return model.missing; }
void set_missing(Model& model, const json& value) { model.missing = value.get<std::vector<double>>(); }

constexpr data::CostKind kCostKinds[] = {data::CostKind::observed, data::CostKind::price, data::CostKind::rate,
                                         data::CostKind::price_if};
ordered_json costs_json(const Model& model) {
  return {{"kind", data::to_text(model.cost_facts.kind)}, {"per_arm", model.cost_facts.per_arm}};
}
void set_costs(Model& model, const json& value) {
  const auto& word = value.at("kind").get_ref<const std::string&>();
  const auto found = std::find_if(std::begin(kCostKinds), std::end(kCostKinds),
                                  [&](data::CostKind kind) { return word == data::to_text(kind); });
  if (found == std::end(kCostKinds)) throw json::other_error::create(501, "unknown word", nullptr);
  model.cost_facts = {*found, value.at("per_arm").get<std::vector<double>>()};
}

ordered_json multipliers_json(const Model& model) {
  ordered_json list = ordered_json::array();
  for (const BudgetMultiplier& price : model.multipliers) {
    list.push_back({{"budget", price.budget},
                    {"budget_per_unit", price.budget_per_unit},
                    {"budget_basis", data::to_text(price.basis)},
                    {"multiplier", price.multiplier},
                    {"scaled_multiplier", price.scaled_multiplier}});
  }
  return list;
}
void set_multipliers(Model& model, const json& value) {
  for (const json& entry : value) {
    const auto& basis = entry.at("budget_basis").get_ref<const std::string&>();
    const bool is_total = basis == data::to_text(data::BudgetBasis::total);
    if (!is_total && basis != data::to_text(data::BudgetBasis::incremental))
      throw json::other_error::create(501, "unknown word", nullptr);
    model.multipliers.push_back({entry.at("budget").get<std::string>(), entry.at("budget_per_unit").get<double>(),
                                 entry.at("multiplier").get<double>(), entry.at("scaled_multiplier").get<double>(),
                                 is_total ? data::BudgetBasis::total : data::BudgetBasis::incremental});
  }
}

ordered_json options_json(const Model& model) {
  ordered_json list = ordered_json::array();
  for (const auto& [name, value] : model.options) list.push_back({name, value});
  return list;
}
void set_options(Model& model, const json& value) {
  for (const json& entry : value)
    model.options.emplace_back(entry.at(0).get<std::string>(), entry.at(1).get<std::string>());
}

ordered_json trained_json(const Model& model) {
  const data::Study::Split& split = model.trained.split;
  return {{"units", model.trained.num_units},
          {"trial_fingerprint", hexadecimal(model.trained.trial_fingerprint)},
          {"split",
           {{"by", split.by},
            {"train", split.train},
            {"validation", split.validation},
            {"test", split.test},
            {"seed", split.seed}}}};
}
void set_trained(Model& model, const json& value) {
  const json& split = value.at("split");
  model.trained.num_units = size_of(value.at("units"));
  model.trained.trial_fingerprint = of_hexadecimal(value.at("trial_fingerprint").get<std::string>());
  model.trained.split.by = split.at("by").get<std::string>();
  model.trained.split.train = split.at("train").get<double>();
  model.trained.split.validation = split.at("validation").get<double>();
  model.trained.split.test = split.at("test").get<double>();
  model.trained.split.seed = split.at("seed").get<std::int64_t>();
}

ordered_json summaries_json(const Model& model) {
  ordered_json list = ordered_json::array();
  for (const FeatureSummary& summary : model.summaries) {
    ordered_json entry = {{"counts", summary.counts}, {"missing", summary.missing}};
    if (!summary.cuts.empty()) entry["cuts"] = summary.cuts;
    if (summary.last) entry["last"] = *summary.last;
    if (!summary.levels.empty()) entry["levels"] = summary.levels;
    list.push_back(std::move(entry));
  }
  return list;
}
void set_summaries(Model& model, const json& value) {
  for (const json& entry : value) {
    FeatureSummary summary;
    for (const json& count : entry.at("counts")) summary.counts.push_back(size_of(count));
    summary.missing = size_of(entry.at("missing"));
    if (entry.contains("cuts")) {
      for (const json& cut : entry["cuts"]) summary.cuts.push_back(static_cast<float>(cut.get<double>()));
    }
    if (entry.contains("last")) summary.last = static_cast<float>(entry["last"].get<double>());
    if (entry.contains("levels")) summary.levels = entry["levels"].get<std::vector<std::uint32_t>>();
    model.summaries.push_back(std::move(summary));
  }
}

struct JsonPart {
  const char* name;
  ordered_json (*write)(const Model&);
  void (*read)(Model&, const json&);
  bool (*is_there)(const Model&) = nullptr;  // null: always
};

constexpr JsonPart kParts[] = {
    {"arms", arms_json, set_arms},
    {"features", features_json, set_features},
    {"missing", missing_json, set_missing},
    {"known_costs", costs_json, set_costs},
    {"multipliers", multipliers_json, set_multipliers},
    {"options", options_json, set_options},
    {"trained", trained_json, set_trained},
    {"summaries", summaries_json, set_summaries, [](const Model& model) { return !model.summaries.empty(); }},
    {"mean_effect", mean_effect_json, set_mean_effect,
     [](const Model& model) { return model.mean_effect.has_value(); }},
    {"calibration", calibration_json, set_calibration,
     [](const Model& model) { return model.calibration.has_value(); }},
    {"stack", stack_json, set_stack, [](const Model& model) { return model.stack.has_value(); }},
    {"held_out", held_out_json, set_held_out, [](const Model& model) { return model.held_out.has_value(); }},
    {"evaluated_plans", evaluated_json, set_evaluated, [](const Model& model) { return model.evaluated.has_value(); }},
};

}  // namespace

const std::vector<JsonPartName>& json_part_names() {
  static const std::vector<JsonPartName> names = [] {
    std::vector<JsonPartName> all;
    for (const JsonPart& part : kParts) all.push_back({part.name, part.is_there != nullptr});
    return all;
  }();
  return names;
}

std::map<std::string, std::string> json_parts_of(const Model& model) {
  std::map<std::string, std::string> parts;
  try {
    for (const JsonPart& part : kParts) {
      if (part.is_there == nullptr || part.is_there(model)) parts[part.name] = part.write(model).dump();
    }
  } catch (const json::exception&) {
    throw core::Error(
        {.kind = core::ErrorKind::data, .what = "cannot make a model file: a name or label that is not UTF-8"});
  }
  return parts;
}

void set_json_part(Model& model, const std::string& name, const std::string& text, const std::string& where) {
  const json value = io::parse_strictly(text, kMostDepth, where);
  try {
    for (const JsonPart& part : kParts) {
      if (name == part.name) part.read(model, value);
    }
  } catch (const std::exception&) {  // of the JSON library, or of a number that does not fit
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = fmt::format("a model file with a malformed part '{}'", name),
                       .where = where});
  }
}

}  // namespace dfcl::model

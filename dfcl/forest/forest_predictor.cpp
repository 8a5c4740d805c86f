// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/forest_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "dfcl/core/count_text.h"
#include "dfcl/core/error.h"
#include "dfcl/forest/forest_tensors.h"
#include "dfcl/io/tensors/strict_json.h"
#include "dfcl/learn/facts_json.h"

namespace dfcl::forest {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kMostDepth = 3;  // of JSON
constexpr const char* kLinks[] = {"difference", "ratio"};

struct Bases {
  std::vector<float> revenue;
  std::vector<float> cost;
};

// What the base says of the arms becomes their mean, and makes way for what the forest says.
Bases bases_of(const std::vector<learn::WeightedPredictor>& base, const learn::FeatureTile& units, learn::Outcomes out,
               core::RunContext& context) {
  learn::predict_mean(base, units, out, context);
  Bases bases{std::vector<float>(units.size()), std::vector<float>(units.size())};
  for (std::size_t row = 0; row < units.size(); ++row) {
    bases.revenue[row] = base_of(out.revenue.row(row));
    bases.cost[row] = base_of(out.cost.row(row));
  }
  return bases;
}

const char* words(Link link) { return link == Link::ratio ? "ratios to the base" : "differences from the base"; }

}  // namespace

void ForestPredictor::predict(const learn::FeatureTile& units, learn::Outcomes out, core::RunContext& context) const {
  const Bases bases = bases_of(base_, units, out, context);
  runner().predict(
      {.features = units.values, .rows = units.rows, .base_revenue = bases.revenue, .base_cost = bases.cost},
      out.revenue, out.cost, context);
}

void ForestPredictor::require_standard_errors() const { require_groups(forest_); }

void ForestPredictor::standard_errors(const learn::FeatureTile& units, learn::Outcomes out,
                                      core::RunContext& context) const {
  const Bases bases = bases_of(base_, units, out, context);
  runner().standard_errors(
      {.features = units.values, .rows = units.rows, .base_revenue = bases.revenue, .base_cost = bases.cost},
      out.revenue, out.cost, context);
}

std::vector<double> ForestPredictor::importance() const {
  return {forest_.importance.begin(), forest_.importance.end()};
}

learn::Description ForestPredictor::describe(const learn::Schema& schema) const {
  learn::Description description = base_.front().predictor->describe(schema);
  description.facts = facts_;
  std::string text =
      fmt::format("{}, {} leaves in all; revenue as {}", core::plural(forest_.num_trees(), "tree", "trees"),
                  core::count_text(forest_.num_leaves()), words(forest_.revenue_link));
  if (forest_.cost_link != forest_.revenue_link) text += fmt::format(", cost as {}", words(forest_.cost_link));
  text += "; the learner above gives the base, the mean over the arms";
  description.lines.emplace_back("forest", text);
  std::vector<std::size_t> order(forest_.importance.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return forest_.importance[a] > forest_.importance[b]; });
  ordered_json importance = ordered_json::object();
  for (const std::size_t feature : order)
    importance[schema.features[feature].name] = static_cast<double>(forest_.importance[feature]);
  ordered_json value = ordered_json::parse(description.json);
  value["forest"] = {{"trees", forest_.num_trees()},
                     {"leaves", forest_.num_leaves()},
                     {"revenue_link", kLinks[static_cast<std::size_t>(forest_.revenue_link)]},
                     {"cost_link", kLinks[static_cast<std::size_t>(forest_.cost_link)]},
                     {"importance", importance}};
  description.json = value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return description;
}

void ForestPredictor::require_fits(const learn::Schema& schema, const std::string& where) const {
  const auto require = [&](bool good, const char* what) {
    if (!good)
      throw core::Error({.kind = core::ErrorKind::file,
                         .what = std::string("a model whose parts do not fit each other: ") + what,
                         .where = where});
  };
  require_consistent(forest_, where);
  require(forest_.num_arms == schema.arms.size() && forest_.control == schema.arms.control, "arms of the forest");
  require(forest_.bins.size() == schema.features.size(), "features of the forest");
  for (std::size_t feature = 0; feature < forest_.bins.size(); ++feature) {
    const data::FeatureColumn& column = schema.features[feature];
    require(forest_.bins[feature].categorical == column.categorical &&
                (!column.categorical || forest_.bins[feature].level_bin.size() == column.levels.size()),
            "features of the forest");
  }
  for (const learn::OutcomeFacts* facts : {&facts_.revenue, &facts_.cost})
    require(facts->num_arms == forest_.num_arms, "outcomes of the forest");
  require(!base_.empty(), "the base of the forest");
  for (const learn::WeightedPredictor& part : base_) {
    require(!part.predictor->is_index(), "the base of the forest");
    part.predictor->require_fits(schema, where);
  }
}

void ForestPredictor::save(learn::PartWriter part) const {
  part.text("facts", learn::facts_json(facts_).dump());
  put_forest(part, forest_);
  part.predictors("base", base_);
}

std::unique_ptr<learn::Predictor> load_forest(const learn::PartReader& part) {
  const json value = io::parse_strictly(part.text("facts"), kMostDepth, part.where());
  learn::Facts facts;
  try {
    facts = learn::both_facts_of(value);
  } catch (const std::exception&) {
    part.refuse("a model file with a malformed part 'facts'");
  }
  return std::make_unique<ForestPredictor>(forest_of(part), facts, part.predictors("base"));
}

}  // namespace dfcl::forest

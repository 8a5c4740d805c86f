// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/boost_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "dfcl/boost/boost_tensors.h"
#include "dfcl/boost/link.h"
#include "dfcl/core/count_text.h"
#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/learn/facts_json.h"

namespace dfcl::boost {
namespace {

using nlohmann::ordered_json;

std::size_t num_trees(const std::vector<Bag>& bags) {
  std::size_t count = 0;
  for (const Bag& bag : bags) count += bag.trees.size();
  return count;
}

std::string outcome_text(const std::vector<Bag>& bags, loss::OutcomeKind kind) {
  if (bags.empty()) return "known";
  const char* loss = kind == loss::OutcomeKind::real           ? "squared error"
                     : kind == loss::OutcomeKind::non_negative ? "Poisson deviance, log link"
                                                               : "cross-entropy";
  std::string counts;
  for (const Bag& bag : bags) counts += fmt::format("{}{}", counts.empty() ? "" : " + ", bag.trees.size());
  return fmt::format("{} trees, {}", counts, loss);
}

ordered_json outcome_json(const std::vector<Bag>& bags) {
  ordered_json trees = ordered_json::array();
  for (const Bag& bag : bags) trees.push_back(bag.trees.size());
  return trees;
}

}  // namespace

BoostPredictor::BoostPredictor(BoostParts parts, const std::string& where) : parts_(std::move(parts)) {
  require_consistent(parts_, where);
  const std::size_t arm_column = parts_.bins.size();
  std::vector<std::uint8_t> used(arm_column + 1);
  const auto runners = [&](const std::vector<Bag>& bags) {
    std::vector<Runner> list;
    for (const Bag& bag : bags) {
      Runner& runner = list.emplace_back();
      runner.base = bag.base;
      for (const Tree& tree : bag.trees) {
        runner.trees.emplace_back(tree, arm_column, parts_.num_arms());
        for (const trees::Node& node : tree.nodes) {
          if (node.feature != trees::kLeaf) used[node.feature] = 1;
        }
      }
    }
    return list;
  };
  revenue_ = runners(parts_.revenue);
  cost_ = runners(parts_.cost);
  for (std::uint32_t feature = 0; feature < arm_column; ++feature) {
    if (used[feature] != 0) columns_.push_back(feature);
  }
}

void BoostPredictor::predict_outcome(const std::vector<Runner>& bags, const learn::OutcomeFacts& facts,
                                     const learn::OutcomeScale& scale, const BlockColumns& columns,
                                     core::MatrixView<float> out) const {
  const std::size_t num_arms = out.cols;
  std::vector<float> raw(num_arms * kBlockUnits);
  std::vector<double> mean(raw.size());
  for (const Runner& bag : bags) {
    for (std::size_t arm = 0; arm < num_arms; ++arm)
      std::fill_n(raw.begin() + static_cast<std::ptrdiff_t>(arm * kBlockUnits), kBlockUnits, bag.base[arm]);
    for (const LeafMasks& tree : bag.trees) tree.add_arm_values(columns, raw.data());
    apply_link(facts.kind, raw);
    for (std::size_t i = 0; i < raw.size(); ++i) mean[i] += static_cast<double>(raw[i]);
  }
  const double factor = bags.empty() ? 0.0 : scale.scale / static_cast<double>(bags.size());
  const bool positive = facts.non_negative || (facts.control_is_free && facts.arm_shape != learn::ArmShape::plain);
  for (std::size_t unit = 0; unit < out.rows; ++unit) {
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      double value = bags.empty() ? 0.0 : scale.center + factor * mean[arm * kBlockUnits + unit];
      if (positive) value = std::max(value, 0.0);
      if (facts.control_is_free && arm == facts.control) value = 0.0;
      out(unit, arm) = static_cast<float>(value);
    }
  }
}

void BoostPredictor::predict(const learn::FeatureTile& units, learn::Outcomes out, core::RunContext& context) const {
  core::for_each_chunk(context, units.size(), kBlockUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<std::uint8_t> block((parts_.bins.size() + 1) * kBlockUnits);
    std::array<float, kBlockUnits> values;
    for (const std::uint32_t column : columns_) {
      for (std::size_t unit = begin; unit < end; ++unit)
        values[unit - begin] = units.values(units.rows.empty() ? unit : units.rows[unit], column);
      trees::find_bins(parts_.bins[column], {values.data(), end - begin}, block.data() + column * kBlockUnits);
    }
    const BlockColumns columns{block.data(), kBlockUnits};
    const learn::Outcomes to = out.slice(begin, end - begin);
    predict_outcome(revenue_, parts_.facts.revenue, parts_.scales.revenue, columns, to.revenue);
    predict_outcome(cost_, parts_.facts.cost, parts_.scales.cost, columns, to.cost);
  });
}

std::vector<double> BoostPredictor::importance() const {
  const auto& shares = parts_.importance;
  if (std::all_of(shares.begin(), shares.end(), [](float share) { return share == 0.0f; })) return {};
  return {shares.begin(), shares.end()};
}

learn::Description BoostPredictor::describe(const learn::Schema& schema) const {
  std::size_t numbers = 0;
  for (const trees::FeatureBins& bins : parts_.bins) numbers += bins.categorical ? 0 : 1;
  const std::string features =
      fmt::format("{} in bins: {}, {}; trees look at {}", core::plural(parts_.bins.size(), "column", "columns"),
                  core::plural(numbers, "number", "numbers"),
                  core::plural(parts_.bins.size() - numbers, "category", "categories"), columns_.size());
  std::vector<std::size_t> order(parts_.importance.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts_.importance[a] > parts_.importance[b]; });
  ordered_json importance = ordered_json::object();
  for (const std::size_t feature : order)
    importance[schema.features[feature].name] = static_cast<double>(parts_.importance[feature]);
  const ordered_json json = {{"boost",
                              {{"trees", num_trees(parts_.revenue) + num_trees(parts_.cost)},
                               {"revenue_trees", outcome_json(parts_.revenue)},
                               {"cost_trees", outcome_json(parts_.cost)},
                               {"importance", importance}}}};
  return {parts_.facts,
          parts_.scales,
          {{"features", features},
           {"boost", fmt::format("revenue {}; cost {}", outcome_text(parts_.revenue, parts_.facts.revenue.kind),
                                 outcome_text(parts_.cost, parts_.facts.cost.kind))}},
          json.dump(-1, ' ', false, ordered_json::error_handler_t::replace)};
}

void BoostPredictor::require_fits(const learn::Schema& schema, const std::string& where) const {
  const auto require = [&](bool good, const char* what) {
    if (!good)
      throw core::Error({.kind = core::ErrorKind::file,
                         .what = std::string("a model whose parts do not fit each other: ") + what,
                         .where = where});
  };
  require(parts_.num_arms() == schema.arms.size(), "arms of the boosted trees");
  for (const learn::OutcomeFacts* facts : {&parts_.facts.revenue, &parts_.facts.cost})
    require(facts->control == schema.arms.control, "control of the boosted trees");
  require(parts_.bins.size() == schema.features.size(), "features of the boosted trees");
  for (std::size_t feature = 0; feature < parts_.bins.size(); ++feature) {
    const data::FeatureColumn& column = schema.features[feature];
    require(parts_.bins[feature].categorical == column.categorical &&
                (!column.categorical || parts_.bins[feature].level_bin.size() == column.levels.size()),
            "features of the boosted trees");
  }
}

void BoostPredictor::save(learn::PartWriter part) const { put_parts(part, parts_); }

std::unique_ptr<learn::Predictor> load_boost(const learn::PartReader& part) {
  return std::make_unique<BoostPredictor>(parts_of(part), part.where());
}

}  // namespace dfcl::boost

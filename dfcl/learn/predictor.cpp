// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/predictor.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"

namespace dfcl::learn {
namespace {

constexpr std::size_t kBlockUnits = 65'536;  // of which more than one predictor is averaged at a time

void rescale(core::MatrixView<float> values, const OutcomeScale& scale) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values.data[i] = static_cast<float>((static_cast<double>(values.data[i]) - scale.center) / scale.scale);
}

}  // namespace

void Predictor::predict_scaled(const FeatureTile& units, const Scales& scales, Outcomes out,
                               core::RunContext& context) const {
  predict(units, out, context);
  rescale(out.revenue, scales.revenue);
  rescale(out.cost, scales.cost);
}

void Predictor::require_standard_errors() const {
  throw core::Error({.kind = core::ErrorKind::usage,
                     .what = "this model does not know how uncertain its effects are",
                     .found = fmt::format("a {}", kind())});
}

void Predictor::standard_errors(const FeatureTile&, Outcomes, core::RunContext&) const { require_standard_errors(); }

GraphOutcomes Predictor::add_to_graph(io::OnnxGraph&, const Schema&, const std::vector<double>&) const {
  throw core::Error({.kind = core::ErrorKind::unavailable,
                     .what = fmt::format("a {} cannot be exported to ONNX", kind()),
                     .hint = "train another method; `dfcl predict` runs this one"});
}

void predict_mean(std::span<const WeightedPredictor> predictors, const FeatureTile& units, Outcomes out,
                  core::RunContext& context) {
  if (predictors.size() == 1) return predictors.front().predictor->predict(units, out, context);
  const std::size_t num_arms = out.cost.cols;
  double total = 0.0;
  for (const WeightedPredictor& part : predictors) total += part.weight;
  for (std::size_t first = 0; first < units.size(); first += kBlockUnits) {
    const std::size_t count = std::min(kBlockUnits, units.size() - first);
    const Outcomes block = out.slice(first, count);
    std::vector<double> revenue(count * num_arms), cost(count * num_arms);
    for (const WeightedPredictor& part : predictors) {
      part.predictor->predict(units.slice(first, count), block, context);
      for (std::size_t i = 0; i < revenue.size(); ++i) {
        revenue[i] += part.weight * static_cast<double>(block.revenue.data[i]);
        cost[i] += part.weight * static_cast<double>(block.cost.data[i]);
      }
    }
    for (std::size_t i = 0; i < revenue.size(); ++i) {
      block.revenue.data[i] = static_cast<float>(revenue[i] / total);
      block.cost.data[i] = static_cast<float>(cost[i] / total);
    }
  }
}

std::vector<WeightedPredictor> joined(std::vector<std::unique_ptr<Predictor>> predictors) {
  struct Group {
    std::unique_ptr<Predictor> predictor;
    double weight;
  };
  std::vector<Group> groups;
  for (std::unique_ptr<Predictor>& predictor : predictors) {
    if (!groups.empty() && groups.back().predictor->join(*predictor)) {
      groups.back().weight += 1.0;
    } else {
      groups.push_back({std::move(predictor), 1.0});
    }
  }
  std::vector<WeightedPredictor> list;
  for (Group& group : groups) list.push_back({std::move(group.predictor), groups.size() == 1 ? 1.0 : group.weight});
  return list;
}

}  // namespace dfcl::learn

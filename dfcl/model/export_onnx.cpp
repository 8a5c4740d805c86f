// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/export_onnx.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/io/onnx/onnx_graph.h"
#include "dfcl/learn/mean_graph.h"
#include "dfcl/model/model_file.h"

namespace dfcl::model {
namespace {

// Names in a graph are unique, and these are its own.
void require_free_name(const std::string& feature) {
  if (feature != "revenue" && feature != "cost" && !feature.starts_with("value.") && !feature.starts_with("constant."))
    return;
  throw core::Error({.kind = core::ErrorKind::unavailable,
                     .what = "a feature whose name an ONNX graph of ours uses itself",
                     .found = fmt::format("'{}'", feature),
                     .hint = "rename the column and train again"});
}

// What is known about costs in the place of what was predicted (dfcl/learn/known_costs.h).
std::string known_cost(io::OnnxGraph& graph, const Model& model, const std::string& revenue, const std::string& cost) {
  const data::CostFacts& facts = model.cost_facts;
  if (!facts.is_known()) return cost;
  const std::vector<float> amounts(facts.per_arm.begin(), facts.per_arm.end());
  const std::string per_arm = graph.floats(amounts, {1, static_cast<std::int64_t>(amounts.size())});
  if (facts.kind == data::CostKind::rate) return graph.node("Mul", {revenue, per_arm});
  if (facts.kind == data::CostKind::price_if) return graph.node("Mul", {cost, per_arm});
  return graph.node("Add", {graph.node("Mul", {revenue, graph.scalar(0.0f)}), per_arm});  // as many rows as units
}

std::string per_arm(io::OnnxGraph& graph, const std::vector<double>& numbers) {
  return graph.floats({numbers.begin(), numbers.end()}, {1, static_cast<std::int64_t>(numbers.size())});
}

// units x 1: the prediction of control.
std::string control_of(io::OnnxGraph& graph, const std::string& value, std::size_t control) {
  return graph.node("Gather", {value, graph.numbers({static_cast<std::int64_t>(control)})},
                    io::OnnxGraph::Attributes().number("axis", 1));
}

std::string bounded(io::OnnxGraph& graph, const learn::OutcomeForm& form, const std::string& value) {
  if (form.bounded(-1.0) < 0.0) return value;
  const std::string at_least = graph.node("Max", {value, graph.scalar(0.0f)});
  return form.bounded(2.0) > 1.0 ? at_least : graph.node("Min", {at_least, graph.scalar(1.0f)});
}

// control + share x (value - control) + amount per arm, which is 0 for control.
std::string affine_effect(io::OnnxGraph& graph, const std::string& value, std::size_t control, double share,
                          const std::vector<double>& amounts) {
  const std::string base = control_of(graph, value, control);
  const std::string effect =
      graph.node("Mul", {graph.node("Sub", {value, base}), graph.scalar(static_cast<float>(share))});
  return graph.node("Add", {graph.node("Add", {base, effect}), per_arm(graph, amounts)});
}

std::vector<double> scaled(std::vector<double> numbers, double factor) {
  for (double& number : numbers) number *= factor;
  return numbers;
}

std::string mixed(io::OnnxGraph& graph, const learn::MeanEffect::Outcome& mean, double weight, std::size_t control,
                  const std::string& value) {
  if (mean.effect.empty() || weight == 0.0) return value;
  return bounded(graph, mean.form, affine_effect(graph, value, control, 1.0 - weight, scaled(mean.effect, weight)));
}

// Control's revenue, calibrated, in deviations from its mean, as a column.
std::string base_deviations(io::OnnxGraph& graph, const learn::Calibration& calibration, std::size_t control,
                            const std::string& revenue) {
  const std::string distance =
      graph.node("Sub", {control_of(graph, revenue, control), graph.scalar(static_cast<float>(calibration.base_mean))});
  const std::string deviations =
      graph.node("Div", {distance, graph.scalar(static_cast<float>(calibration.base_spread))});
  constexpr auto kMost = static_cast<float>(learn::Calibration::kMostDeviations);
  return graph.node("Max", {graph.scalar(-kMost), graph.node("Min", {graph.scalar(kMost), deviations})});
}

std::string shifted(io::OnnxGraph& graph, const learn::Calibration::Outcome& outcome, std::string value) {
  std::vector<double> factors = outcome.shift;
  for (double& factor : factors) factor = std::exp(factor);
  switch (outcome.form.kind) {
    case loss::OutcomeKind::real: value = graph.node("Add", {value, per_arm(graph, outcome.shift)}); break;
    case loss::OutcomeKind::non_negative: value = graph.node("Mul", {value, per_arm(graph, factors)}); break;
    case loss::OutcomeKind::binary: {
      const std::string odds = graph.node("Mul", {value, per_arm(graph, factors)});
      const std::string others = graph.node("Sub", {graph.scalar(1.0f), value});
      value = graph.node("Div", {odds, graph.node("Add", {others, odds})});
      break;
    }
  }
  return value;
}

// base: deviations of control's revenue; empty where no outcome asks.
std::string calibrated(io::OnnxGraph& graph, const learn::Calibration::Outcome& outcome, std::size_t control,
                       const std::string& base, std::string value) {
  if (outcome.is_known()) return value;
  const double factor = outcome.plan_factor;
  if (outcome.slope != 1.0 || factor != 1.0)
    value = affine_effect(graph, value, control, factor * outcome.slope,
                          scaled(outcome.center, factor * (1.0 - outcome.slope)));
  if (outcome.base_slope != 0.0)
    value = graph.node(
        "Add", {value, graph.node("Mul", {base, per_arm(graph, scaled(outcome.size, factor * outcome.base_slope))})});
  return bounded(graph, outcome.form, value);
}

void calibrate(io::OnnxGraph& graph, const learn::Calibration& calibration, std::size_t control, std::string& revenue,
               std::string& cost) {
  if (!calibration.revenue.is_known()) revenue = shifted(graph, calibration.revenue, revenue);
  if (!calibration.cost.is_known()) cost = shifted(graph, calibration.cost, cost);
  std::string base;
  if (calibration.revenue.base_slope != 0.0 || calibration.cost.base_slope != 0.0)
    base = base_deviations(graph, calibration, control, bounded(graph, calibration.revenue.form, revenue));
  revenue = calibrated(graph, calibration.revenue, control, base, revenue);
  cost = calibrated(graph, calibration.cost, control, base, cost);
}

}  // namespace

std::string onnx_bytes(const Model& model) {
  io::OnnxGraph graph;
  for (const data::FeatureColumn& feature : model.features) {
    require_free_name(feature.name);
    if (feature.categorical) {
      graph.add_text_input(feature.name);
    } else {
      graph.add_float_input(feature.name);
    }
  }
  auto [revenue, cost] = learn::add_mean_to_graph(model.predictors, graph, model.schema(), model.missing);
  const std::size_t control = model.arms.control;
  if (const auto& mean = model.mean_effect) {
    revenue = mixed(graph, mean->revenue, mean->weight, control, revenue);
    cost = mixed(graph, mean->cost, mean->weight, control, cost);
  }
  if (model.calibration) calibrate(graph, *model.calibration, control, revenue, cost);
  cost = known_cost(graph, model, revenue, cost);
  graph.add_output("revenue", revenue, model.arms.size());
  graph.add_output("cost", cost, model.arms.size());
  return graph.file(model.version, {{"method", model.method},
                                    {"arms", fmt::format("{}", fmt::join(model.arms.labels, "\n"))},
                                    {"control", model.arms.labels[model.arms.control]},
                                    {"revenue_is_index", model.is_index() ? "true" : "false"},
                                    {"model", fingerprint_of(model)}});
}

}  // namespace dfcl::model

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/graph_parts.h"

#include <algorithm>

#include "dfcl/io/onnx/graph_columns.h"

namespace dfcl::nn {
namespace {

using Attributes = io::OnnxGraph::Attributes;

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

// A constant matrix of zeros but for the entries set.
class Weights {
 public:
  Weights(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols), values_(rows * cols, 0.0f) {}
  float& operator()(std::size_t row, std::size_t col) { return values_[row * cols_ + col]; }
  std::string multiply(io::OnnxGraph& graph, const std::string& left) const {
    return graph.node("MatMul", {left, graph.floats(values_, {whole(rows_), whole(cols_)})});
  }

 private:
  std::size_t rows_, cols_;
  std::vector<float> values_;
};

std::string clip(io::OnnxGraph& graph, const std::string& value, float most) {
  return graph.node("Clip", {value, graph.scalar(-most), graph.scalar(most)});
}

// clamp((f(x) - center) factor) for numbers of one kind: with a logarithm or without.
std::string number_inputs(io::OnnxGraph& graph, const GraphNumbers& numbers, std::span<const NumberInput> inputs,
                          float most) {
  std::vector<std::int64_t> places;
  std::vector<float> log_factor, center, factor, missing;
  for (const NumberInput& input : inputs) {
    places.push_back(numbers.place[input.feature]);
    log_factor.push_back(input.log_factor);
    center.push_back(input.center);
    factor.push_back(input.factor);
    missing.push_back(input.missing);
  }
  const std::vector<std::int64_t> shape = {1, whole(inputs.size())};
  std::string x = graph_columns(graph, numbers.values, places);
  if (inputs.front().log_factor != 0.0f) {
    x = graph.node("Mul", {x, graph.floats(log_factor, shape)});
    const std::string size = graph.node("Add", {graph.node("Abs", {x}), graph.scalar(1.0f)});
    x = graph.node("Mul", {graph.node("Sign", {x}), graph.node("Log", {size})});
  }
  x = graph.node("Mul", {graph.node("Sub", {x, graph.floats(center, shape)}), graph.floats(factor, shape)});
  return graph.node(
      "Where", {graph_columns(graph, numbers.is_missing, places), graph.floats(missing, shape), clip(graph, x, most)});
}

constexpr auto kBound = static_cast<float>(kLargestExponent);

// Arms that are free of each other (dfcl/nn/outcome_head.h).
std::string plain_head(io::OnnxGraph& graph, const OutcomeHead<float>& head, const std::string& raw) {
  const OutcomeOptions& options = head.options();
  Weights of_arm(head.num_outputs(), options.num_arms);
  std::vector<float> is_paid(options.num_arms, 1.0f);
  for (std::size_t arm = 0; arm < options.num_arms; ++arm) {
    for (const std::size_t output : head.outputs_of(arm)) of_arm(output, arm) = 1.0f;
    if (options.control_is_free && arm == options.control) is_paid[arm] = 0.0f;
  }
  std::string value = of_arm.multiply(graph, raw);
  if (options.kind == loss::OutcomeKind::binary) {
    value = graph.node("Sigmoid", {clip(graph, value, kBound)});
  } else if (options.kind == loss::OutcomeKind::non_negative) {
    value = graph.node("Exp", {clip(graph, value, kBound)});
  } else if (options.non_negative) {
    value = graph.node("Softplus", {value});
  }
  return options.control_is_free ? graph.node("Mul", {value, graph.floats(is_paid, {1, whole(options.num_arms)})})
                                 : value;
}

// Arms that rise by steps, after a base unless the outcome is real and control is free.
std::string rising_head(io::OnnxGraph& graph, const OutcomeHead<float>& head, const std::string& raw) {
  const OutcomeOptions& options = head.options();
  const bool is_free = options.control_is_free;
  const bool is_log = options.kind == loss::OutcomeKind::non_negative;
  const std::size_t first_arm = is_free ? 1 : 0;
  const std::size_t first_step = options.kind == loss::OutcomeKind::real && is_free ? 0 : 1;
  const std::size_t num_steps = head.num_outputs() - first_step;
  const std::size_t num_predicted = options.num_arms - first_arm;
  const bool first_has_step = num_steps == num_predicted;
  // What each softplus adds to each arm: step j is part of arm k; a concave step is part of all steps before it too.
  Weights of_step(num_steps, options.num_arms);
  Weights of_base(1, options.num_arms);
  for (std::size_t k = 0; k < num_predicted; ++k) {
    const std::size_t steps = k + (first_has_step ? 1 : 0);
    for (std::size_t j = 0; j < num_steps; ++j) {
      const bool is_concave = options.arm_shape == ArmShape::concave;
      of_step(j, first_arm + k) = static_cast<float>(is_concave ? std::min(steps, j + 1) : (j < steps ? 1u : 0u));
    }
    of_base(0, first_arm + k) = 1.0f;
  }
  std::string level;
  if (num_steps > 0) {
    std::vector<std::int64_t> places;
    for (std::size_t j = 0; j < num_steps; ++j) places.push_back(whole(first_step + j));
    level = of_step.multiply(graph, graph.node("Softplus", {graph_columns(graph, raw, places)}));
  }
  std::string base = first_step == 1 ? graph_columns(graph, raw, {0}) : "";
  if (is_log) {
    std::vector<float> start(options.num_arms, is_free ? 0.0f : 1.0f);
    level = level.empty()
                ? of_base.multiply(graph, graph.node("Exp", {clip(graph, base, kBound)}))
                : graph.node("Mul", {graph.node("Add", {level, graph.floats(start, {1, whole(start.size())})}),
                                     graph.node("Exp", {clip(graph, base, kBound)})});
    return level;
  }
  if (!base.empty()) {
    if (options.kind == loss::OutcomeKind::real && options.non_negative) base = graph.node("Softplus", {base});
    const std::string bases = of_base.multiply(graph, base);
    level = level.empty() ? bases : graph.node("Add", {level, bases});
  }
  if (options.kind != loss::OutcomeKind::binary) return level;
  const std::string chance = graph.node("Sigmoid", {clip(graph, level, kBound)});
  if (!is_free) return chance;
  std::vector<float> is_paid(options.num_arms, 1.0f);
  is_paid[options.control] = 0.0f;
  return graph.node("Mul", {chance, graph.floats(is_paid, {1, whole(options.num_arms)})});
}

}  // namespace

std::string graph_columns(io::OnnxGraph& graph, const std::string& matrix, const std::vector<std::int64_t>& columns) {
  return io::graph_chosen(graph, matrix, columns);
}

GraphNumbers graph_numbers(io::OnnxGraph& graph, const GraphSource& source) {
  const io::GraphNumbers read = io::graph_numbers(graph, source.schema.features, source.missing);
  if (read.raw.empty()) return {.values = "", .is_missing = "", .place = read.place};
  const std::string values = graph.node("Where", {read.is_missing, graph.scalar(0.0f), read.raw});
  return {.values = values, .is_missing = read.is_missing, .place = read.place};
}

std::string graph_number_inputs(io::OnnxGraph& graph, const GraphNumbers& numbers, const GraphSource& source,
                                float most) {
  std::vector<std::string> parts;
  const std::span<const NumberInput> all = source.preprocessing.numbers();
  const auto first_log =
      std::find_if(all.begin(), all.end(), [](const auto& input) { return input.log_factor != 0.0f; });
  const auto num_plain = static_cast<std::size_t>(first_log - all.begin());
  if (num_plain > 0) parts.push_back(number_inputs(graph, numbers, all.first(num_plain), most));
  if (num_plain < all.size()) parts.push_back(number_inputs(graph, numbers, all.subspan(num_plain), most));
  return graph_joined(graph, parts);
}

std::string graph_missing(io::OnnxGraph& graph, const GraphNumbers& numbers,
                          const std::vector<std::uint32_t>& features) {
  std::vector<std::int64_t> places;
  for (const std::uint32_t feature : features) places.push_back(numbers.place[feature]);
  if (places.empty()) return "";
  return graph.node("Cast", {graph_columns(graph, numbers.is_missing, places)}, Attributes().number("to", 1));
}

std::string graph_joined(io::OnnxGraph& graph, const std::vector<std::string>& parts) {
  std::vector<std::string> present;
  for (const std::string& part : parts) {
    if (!part.empty()) present.push_back(part);
  }
  if (present.empty()) return "";
  return present.size() == 1 ? present.front() : graph.node("Concat", present, Attributes().number("axis", 1));
}

std::string graph_category(io::OnnxGraph& graph, const GraphSource& source, const CategoryInput& category) {
  const std::string code = io::graph_codes(graph, source.schema.features[category.feature], source.missing);
  const std::size_t width = category.share.size();
  std::vector<float> rows;  // codes x inputs
  for (const std::int32_t position : category.position) {
    for (std::size_t input = 0; input < width; ++input) {
      const float own = whole(input) == position ? 1.0f : 0.0f;
      rows.push_back(position < 0 ? category.share[input] : own);
    }
  }
  const std::string table = graph.floats(rows, {whole(category.position.size()), whole(width)});
  return graph.node("Reshape", {graph.node("Gather", {table, code}), graph.numbers({-1, whole(width)})});
}

std::string graph_head(io::OnnxGraph& graph, const OutcomeHead<float>& head, std::span<const std::size_t> outputs,
                       const std::string& raw) {
  std::vector<std::int64_t> places;
  for (const std::size_t output : outputs) places.push_back(whole(output));
  const std::string own = graph_columns(graph, raw, places);
  return head.options().arm_shape == ArmShape::plain ? plain_head(graph, head, own) : rising_head(graph, head, own);
}

std::string graph_index(io::OnnxGraph& graph, loss::RevenueForm form, double cost_scale, std::size_t num_arms,
                        const std::string& scores, const std::string& cost) {
  const auto scale = static_cast<float>(cost_scale);
  std::string efficiency;
  if (form == loss::RevenueForm::drm_scores) {
    efficiency = graph.node("Exp", {graph.node("Tanh", {scores})});
  } else {
    const float factor = form == loss::RevenueForm::dpm_scores ? 2.0f * scale : scale;
    efficiency = graph.node("Mul", {graph.node("Sigmoid", {scores}), graph.scalar(factor)});
  }
  Weights difference(num_arms, num_arms - 1);
  Weights sum(num_arms - 1, num_arms);
  for (std::size_t step = 0; step + 1 < num_arms; ++step) {
    difference(step, step) = -1.0f;
    difference(step + 1, step) = 1.0f;
    for (std::size_t arm = step + 1; arm < num_arms; ++arm) sum(step, arm) = 1.0f;
  }
  return sum.multiply(graph, graph.node("Mul", {efficiency, difference.multiply(graph, cost)}));
}

std::string graph_mean(io::OnnxGraph& graph, const std::vector<std::string>& members,
                       const learn::OutcomeScale& scale) {
  const std::string sum = members.size() == 1 ? members.front() : graph.node("Sum", members);
  const auto factor = static_cast<float>(scale.scale / static_cast<double>(members.size()));
  return graph.node("Add",
                    {graph.node("Mul", {sum, graph.scalar(factor)}), graph.scalar(static_cast<float>(scale.center))});
}

}  // namespace dfcl::nn

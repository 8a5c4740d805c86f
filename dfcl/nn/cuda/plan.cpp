// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/cuda/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"

namespace dfcl::nn::cuda {
namespace {

int rounded_up(std::size_t size, std::size_t step) { return static_cast<int>((size + step - 1) / step * step); }

// Words of a row in shared memory: whole blocks, see place_in_tile.
int blocks_for(int words) { return rounded_up(static_cast<std::size_t>(words), 32); }

[[noreturn]] void refuse(const std::string& what, std::size_t found, std::size_t most) {
  throw core::Error({.kind = core::ErrorKind::unavailable,
                     .what = what + " is more than the engine for graphics cards takes",
                     .found = fmt::format("{}", found),
                     .expected = fmt::format("at most {}", most),
                     .hint = "train on the processor"});
}

class PlanMaker {
 public:
  PlanMaker(const CardNetworkOptions& options, bool with_nuisance)
      : per_word_(static_cast<std::size_t>(columns_per_word(options.precision))), model_(options.network) {
    add_rows(with_nuisance);
    add_layers();
    add_maps();
    network().loss =
        make_loss_plan(options, model_.revenue(), model_.cost(), model_.revenue_outputs(), model_.cost_outputs());
    plan_.num_parameters = model_.network().num_parameters();
  }
  Plan take() { return std::move(plan_); }

 private:
  NetworkPlan& network() { return plan_.network; }

  void add_rows(bool with_nuisance) {
    const std::size_t inputs = model_.network().shape().inputs;
    const std::size_t num_arms = model_.cost().num_arms();
    require_at_most("the number of inputs", inputs, 4096);
    network().inputs = static_cast<int>(inputs);
    const std::size_t facts = record_facts(with_nuisance, num_arms);
    network().record_inputs = network().first_fact = network().inputs;
    if (per_word_ == 2) {  // what pads must be numbers, and facts are none of 16 bits
      network().record_inputs = rounded_up((inputs + 1) / 2, 4);
      network().first_fact = rounded_up(inputs, 32) / 2;
    }
    network().record_floats = rounded_up(static_cast<std::size_t>(network().record_inputs) + facts, 4);
    const int words = network().first_fact + network().record_floats - network().record_inputs;
    network().row_floats = blocks_for(std::max(rounded_up(inputs, 16) / static_cast<int>(per_word_), words));
  }

  void add_layer(std::size_t groups, std::size_t inputs, std::size_t outputs, bool common_input, bool relu) {
    const std::size_t all_inputs = common_input ? inputs : groups * inputs;
    const std::size_t all_outputs = groups * outputs;
    require_at_most("the number of layers", static_cast<std::size_t>(network().num_layers) + 1, kMostLayers);
    require_at_most("the width of a layer", std::max(all_inputs, all_outputs), 4096);
    LayerPlan& layer = network().layers[network().num_layers];
    const LayerPlan* before = network().num_layers == 0 ? nullptr : &layer - 1;
    layer.outputs = static_cast<int>(all_outputs);
    layer.k16 = rounded_up(all_inputs, 16);
    layer.k32 = rounded_up(all_inputs, 32);
    layer.n8 = rounded_up(all_outputs, 8);
    layer.n16 = rounded_up(all_outputs, 16);
    layer.in_offset = before == nullptr ? 0 : before->out_offset;
    layer.out_offset = network().row_floats;
    layer.k_pairs = rounded_up(all_inputs, 16 * per_word_) / static_cast<int>(16 * per_word_);
    layer.n_pairs = rounded_up(all_outputs, 16 * per_word_) / static_cast<int>(16 * per_word_);
    network().row_floats += blocks_for(relu ? 16 * layer.n_pairs : layer.n16);  // outputs of the last are floats
    layer.groups = common_input ? 1 : static_cast<int>(groups);
    layer.group_inputs = static_cast<int>(inputs);
    layer.group_outputs = static_cast<int>(common_input ? all_outputs : outputs);
    layer.weight = network().layout_size;
    layer.bias = layer.weight + layer.n16 * layer.k32;
    network().layout_size = layer.bias + layer.n16;
    layer.packed_forward = network().packed_size;
    layer.packed_backward = layer.packed_forward + layer.n8 * layer.k_pairs * 16;
    layer.packed_bias = layer.packed_backward + (before == nullptr ? 0 : layer.k16 * layer.n_pairs * 16);
    network().packed_size = layer.packed_bias + layer.n16;
    layer.relu = relu;
    ++network().num_layers;
  }

  // The layers of nn::Network, in their order.
  void add_layers() {
    const NetworkShape& shape = model_.network().shape();
    std::size_t width = shape.inputs;
    for (const std::size_t outputs : shape.shared) {
      add_layer(1, width, outputs, true, true);
      width = outputs;
    }
    bool common_input = true;
    for (const std::size_t outputs : shape.head_hidden) {
      add_layer(shape.num_heads, width, outputs, common_input, true);
      width = outputs;
      common_input = false;
    }
    add_layer(shape.num_heads, width, shape.outputs_per_head, common_input, false);
    network().layout_size = rounded_up(static_cast<std::size_t>(network().layout_size), kUnitPositions);
    network().packed_size += 128;  // products read one fragment ahead
  }

  int place(int first, int n, int k, int pairs) const {
    const auto per_word = static_cast<int>(per_word_);
    return (first + packed_index(n, k / per_word, pairs)) * per_word + k % per_word;
  }

  void add_maps() {
    LayoutMaps& maps = plan_.maps;
    const auto size = static_cast<std::size_t>(network().layout_size);
    maps.parameter.assign(size, -1);
    maps.forward.assign(size, -1);
    maps.backward.assign(size, -1);
    std::int32_t parameter = 0;
    for (int l = 0; l < network().num_layers; ++l) {
      const LayerPlan& layer = network().layers[l];
      for (int n = 0; n < layer.outputs; ++n) {
        const int first_input = n / layer.group_outputs * layer.group_inputs;
        for (int i = 0; i < layer.group_inputs; ++i) {
          const int k = first_input + i;
          const auto position = static_cast<std::size_t>(layer.weight + n * layer.k32 + k);
          maps.parameter[position] = parameter++;
          maps.forward[position] = place(layer.packed_forward, n, k, layer.k_pairs);
          if (l > 0) maps.backward[position] = place(layer.packed_backward, k, n, layer.n_pairs);
        }
      }
      for (int n = 0; n < layer.outputs; ++n) {
        const auto position = static_cast<std::size_t>(layer.bias + n);
        maps.parameter[position] = parameter++;
        maps.forward[position] = layer.packed_bias + n;
        maps.backward[position] = -2;
      }
    }
  }

  std::size_t per_word_;
  OutcomeNetwork<float> model_;
  Plan plan_{};
};

}  // namespace

void require_at_most(const char* what, std::size_t found, std::size_t most) {
  if (found > most) refuse(what, found, most);
}

LossPlan make_loss_plan(const CardLosses& losses, const OutcomeHead<float>& revenue, const OutcomeHead<float>& cost,
                        std::span<const std::size_t> revenue_outputs, std::span<const std::size_t> cost_outputs) {
  require_at_most("the number of arms", std::max(cost.num_arms(), revenue.num_arms()), kMostArms);
  if (revenue.num_arms() != cost.num_arms()) {
    throw core::Error({.kind = core::ErrorKind::unavailable,
                       .what = "losses of efficiencies do not run on a graphics card",
                       .hint = "train on the processor"});
  }
  LossPlan loss{};
  loss.revenue = revenue.lines();
  loss.cost = cost.lines();
  std::ranges::copy(revenue_outputs, loss.revenue_column);
  std::ranges::copy(cost_outputs, loss.cost_column);
  loss.num_arms = static_cast<int>(cost.num_arms());
  loss.plain = loss.revenue.is_plain() && loss.cost.is_plain();
  loss.use_revenue = losses.prediction.use_revenue;
  loss.use_cost = losses.prediction.use_cost;
  loss.prediction_factor = losses.prediction_weight / loss.num_arms;
  loss.decision = losses.decision;
  if (loss.decision == DecisionKind::none) return loss;
  const loss::DecisionOptions& decision = losses.decision_options;
  loss::require_valid(decision);
  require_at_most("the number of multipliers", decision.multipliers.size(), kMostMultipliers);
  loss.baseline = decision.baseline;
  loss.gradient_to_cost = decision.gradient_to_cost;
  loss.num_multipliers = static_cast<int>(decision.multipliers.size());
  loss.decision_factor = losses.decision_weight / loss.num_multipliers;
  std::ranges::transform(decision.multipliers, loss.multipliers, [](double m) { return static_cast<float>(m); });
  loss.policy = loss::PolicyKernel<float>(decision);
  loss.ifd = loss::IfdKernel<float>(decision);
  loss.ifd_softmax = loss::IfdSoftmaxKernel<float>(decision);
  return loss;
}

Plan make_plan(const CardNetworkOptions& options, bool with_nuisance) {
  return PlanMaker(options, with_nuisance).take();
}

}  // namespace dfcl::nn::cuda

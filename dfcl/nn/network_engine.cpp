// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/network_engine.h"

namespace dfcl::nn {

NetworkEngine::NetworkEngine(const learn::TrainingSet& set, const learn::Objective& objective,
                             const Preprocessing& preprocessing, const OutcomeNetworkOptions& options)
    : HostEngine(set, objective), preprocessing_(preprocessing), network_(options), gradient_(network_) {}

std::vector<float> NetworkEngine::initial_parameters(std::uint64_t seed) {
  network_.network().initialise(seed);
  return {parameters().begin(), parameters().end()};
}

std::vector<double> NetworkEngine::compute(const Batch& batch, std::span<float> gradient, core::RunContext& context) {
  const FillInputs<float> fill = [this](std::span<const std::uint32_t> rows, core::MatrixView<float> inputs) {
    preprocessing_.apply(set().features->values.view(), rows, inputs);
  };
  const BatchOptions options{.received_arm_only = objective().received_arm_only};
  return gradient_.compute(context, fill, data(), batch.rows, objective().losses(), options, gradient);
}

// On this thread: these networks are small.
double NetworkEngine::step(const AdamOptions& options, AdamState<float>& adam, std::span<const float> gradient,
                           core::RunContext&) {
  return adam_step<float>(options, adam, gradient, parameters());
}

learn::Predicted NetworkEngine::predict(std::span<const float> parameters, std::span<const std::uint32_t> rows,
                                        core::RunContext& context) {
  set_parameters(parameters);
  learn::Predicted predicted{core::Matrix<float>(context.scratch(), rows.size(), network_.revenue().num_arms()),
                             core::Matrix<float>(context.scratch(), rows.size(), network_.cost().num_arms())};
  const auto fill = [&](std::size_t first, core::MatrixView<float> inputs) {
    preprocessing_.apply(set().features->values.view(), rows.subspan(first, inputs.rows), inputs);
  };
  nn::predict<float>(context, network_, rows.size(), fill, predicted.revenue.view(), predicted.cost.view());
  return predicted;
}

}  // namespace dfcl::nn

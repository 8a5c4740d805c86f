// SPDX-License-Identifier: Apache-2.0
//
// Trains a plain network on the processor. Memory: see batch_gradient.h.
#pragma once

#include "dfcl/nn/host_engine.h"
#include "dfcl/nn/inputs/preprocessing.h"

namespace dfcl::nn {

class NetworkEngine final : public HostEngine {
 public:
  // All but the options must outlive the engine.
  NetworkEngine(const learn::TrainingSet& set, const learn::Objective& objective, const Preprocessing& preprocessing,
                const OutcomeNetworkOptions& options);

  std::vector<float> initial_parameters(std::uint64_t seed) override;
  learn::Predicted predict(std::span<const float> parameters, std::span<const std::uint32_t> rows,
                           core::RunContext& context) override;

 protected:
  std::span<float> parameters() override { return network_.network().parameters(); }
  std::vector<double> compute(const Batch& batch, std::span<float> gradient, core::RunContext& context) override;
  double step(const AdamOptions& options, AdamState<float>& adam, std::span<const float> gradient,
              core::RunContext& context) override;

 private:
  const Preprocessing& preprocessing_;
  OutcomeNetwork<float> network_;
  BatchGradient<float> gradient_;
};

}  // namespace dfcl::nn

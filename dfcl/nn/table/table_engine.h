// SPDX-License-Identifier: Apache-2.0
//
// Trains a network for tables on the processor. Memory: see table_network.h and table_gradient.h.
#pragma once

#include "dfcl/nn/host_engine.h"
#include "dfcl/nn/table/table_gradient.h"
#include "dfcl/nn/table/table_runner.h"

namespace dfcl::nn {

class TableEngine final : public HostEngine {
 public:
  // Set, objective and encoding must outlive the engine. dropout: the share of numbers dropped.
  TableEngine(const learn::TrainingSet& set, const learn::Objective& objective, const TableEncoding& encoding,
              const TableOptions& options, double dropout);

  // At the arms' means (arm_means.h).
  std::vector<float> initial_parameters(std::uint64_t seed) override;
  learn::Predicted predict(std::span<const float> parameters, std::span<const std::uint32_t> rows,
                           core::RunContext& context) override;

 protected:
  std::span<float> parameters() override { return network_.parameters(); }
  std::vector<double> compute(const Batch& batch, std::span<float> gradient, core::RunContext& context) override;
  double step(const AdamOptions& options, AdamState<float>& adam, std::span<const float> gradient,
              core::RunContext& context) override;

 private:
  double dropout_;
  TableNetwork<float> network_;
  TableGradient<float> gradient_;
  TableRunner runner_;
};

}  // namespace dfcl::nn

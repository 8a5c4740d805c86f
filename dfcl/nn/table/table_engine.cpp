// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/table_engine.h"

#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"
#include "dfcl/nn/table/arm_means.h"

namespace dfcl::nn {

TableEngine::TableEngine(const learn::TrainingSet& set, const learn::Objective& objective,
                         const TableEncoding& encoding, const TableOptions& options, double dropout)
    : HostEngine(set, objective),
      dropout_(dropout),
      network_(encoding, options),
      gradient_(network_),
      runner_(network_) {}

std::vector<float> TableEngine::initial_parameters(std::uint64_t seed) {
  network_.initialise(seed);
  start_at_arm_means(set(), objective().revenue_form == loss::RevenueForm::outcome, network_);
  return {parameters().begin(), parameters().end()};
}

std::vector<double> TableEngine::compute(const Batch& batch, std::span<float> gradient, core::RunContext& context) {
  const std::uint64_t seed = core::combine_hashes(batch.seed, core::stream_purpose("table dropout"));
  const std::uint64_t epoch_seed = core::combine_hashes(seed, batch.epoch);
  network_.refresh(context);
  return gradient_.compute(context, set().features->values.view(), data(), batch.rows, objective().losses(),
                           {dropout_, core::combine_hashes(epoch_seed, batch.begin)}, gradient);
}

// By all threads: these networks have a row of weights for each bin and level.
double TableEngine::step(const AdamOptions& options, AdamState<float>& adam, std::span<const float> gradient,
                         core::RunContext& context) {
  return adam_step<float>(context, options, adam, gradient, parameters());
}

learn::Predicted TableEngine::predict(std::span<const float> parameters, std::span<const std::uint32_t> rows,
                                      core::RunContext& context) {
  set_parameters(parameters);
  network_.refresh(context);
  learn::Predicted predicted{core::Matrix<float>(context.scratch(), rows.size(), network_.revenue().num_arms()),
                             core::Matrix<float>(context.scratch(), rows.size(), network_.cost().num_arms())};
  const std::size_t members = network_.members();
  const auto mean = [&](std::size_t first, std::size_t count, core::MatrixView<float> from, core::Matrix<float>& to) {
    const std::size_t size = count * from.cols;
    for (std::size_t i = 0; i < size; ++i) {
      double sum = 0.0;
      for (std::size_t member = 0; member < members; ++member) sum += static_cast<double>(from.data[member * size + i]);
      to.data()[first * from.cols + i] = static_cast<float>(sum / static_cast<double>(members));
    }
  };
  if (!rows.empty())  // no rows would mean all
    runner_.run(context, network_, set().tile(rows), [&](std::size_t first, std::size_t count, TableTile<float>& tile) {
      mean(first, count, tile.revenue(), predicted.revenue);
      mean(first, count, tile.cost(), predicted.cost);
    });
  return predicted;
}

}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/simulate.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/parallel.h"
#include "dfcl/core/version.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/simulate/batch_sources.h"

namespace dfcl::verbs {

data::Provenance simulation_provenance(const simulate::Simulator& simulator, const char* kind) {
  const simulate::SimulatorOptions& options = simulator.options();
  data::Provenance provenance{.kind = kind,
                              .version = core::version(),
                              .verb = "simulate",
                              .options = {{"preset", simulate::name_of(options.preset)},
                                          {"response", simulate::name_of(options.response)},
                                          {"rows", fmt::format("{}", options.num_rows)},
                                          {"days", fmt::format("{}", options.num_days)},
                                          {"shares", fmt::format("{}", fmt::join(simulator.shares(), ","))},
                                          {"noise", fmt::format("{}", options.noise)},
                                          {"imbalance", options.imbalance ? "true" : "false"},
                                          {"seed", fmt::format("{}", options.seed)}}};
  if (provenance.kind == "truth") provenance.options.emplace_back(data::kControlOption, simulator.arms().front());
  if (options.cost_scale != 1.0) provenance.options.emplace_back("cost_scale", fmt::format("{}", options.cost_scale));
  if (options.population_shift != 0.0)
    provenance.options.emplace_back("population_shift", fmt::format("{}", options.population_shift));
  return provenance;
}

SimulatedTables simulate_tables(const simulate::Simulator& simulator, core::RunContext& context) {
  const std::uint64_t num_rows = simulator.num_rows();
  const std::size_t num_batches =
      static_cast<std::size_t>((num_rows + simulate::kBatchRows - 1) / simulate::kBatchRows);
  data::Table trial{simulator.trial_columns(), std::vector<data::Batch>(num_batches)};
  data::Table truth{simulator.truth_columns(), std::vector<data::Batch>(num_batches)};
  core::for_each_chunk(context, num_batches, 1, [&](std::size_t batch, std::size_t, std::size_t) {
    const std::uint64_t first_row = batch * simulate::kBatchRows;
    const std::uint64_t rows = std::min<std::uint64_t>(simulate::kBatchRows, num_rows - first_row);
    simulate::SimulatedRows made = simulator.make_rows(first_row, static_cast<std::size_t>(rows));
    trial.batches[batch] = std::move(made.trial);
    truth.batches[batch] = std::move(made.truth);
  });
  return {std::make_shared<const data::Table>(std::move(trial)), std::make_shared<const data::Table>(std::move(truth))};
}

}  // namespace dfcl::verbs

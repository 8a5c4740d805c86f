// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/host_engine.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/random.h"

namespace dfcl::nn {
namespace {

core::Column<std::uint32_t> shuffled(const EpochPlan& plan, const core::RunContext& context) {
  core::Column<std::uint32_t> order(context.scratch());
  order.append(plan.rows.begin(), plan.rows.end());
  core::RandomStream stream(plan.seed, core::stream_purpose("train.shuffle"), plan.epoch);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[stream.below(static_cast<std::uint32_t>(i))]);
  return order;
}

}  // namespace

HostEngine::HostEngine(const learn::TrainingSet& set, const learn::Objective& objective)
    : set_(set), objective_(objective), data_{set.arm,    set.scaled_revenue,   set.scaled_cost,
                                              set.weight, set.nuisance_revenue, set.nuisance_cost,
                                              set.sample} {}

void HostEngine::set_parameters(std::span<const float> values) { std::ranges::copy(values, parameters().begin()); }

EpochLosses HostEngine::run_epoch(const EpochPlan& plan, EngineState& state, core::RunContext& context) {
  const core::Column<std::uint32_t> order = shuffled(plan, context);
  set_parameters(state.parameters);
  std::vector<float> gradient(state.parameters.size());
  std::vector<double> sums(objective_.losses().size());
  for (std::size_t begin = 0; begin < order.size(); begin += plan.batch) {
    context.check_cancelled();
    const std::size_t count = std::min(plan.batch, order.size() - begin);
    const Batch batch{std::span(order).subspan(begin, count), plan.seed, plan.epoch, begin};
    std::vector<double> means = compute(batch, gradient, context);
    const double norm = step(plan.adam, state.adam, gradient, context);
    for (std::size_t i = 0; i < means.size(); ++i) sums[i] += means[i] * static_cast<double>(count);
    const bool finite = std::ranges::all_of(means, [](double mean) { return std::isfinite(mean); });
    if (!finite || !std::isfinite(norm)) return {std::move(means), true, norm};
  }
  std::ranges::copy(parameters(), state.parameters.begin());
  for (double& sum : sums) sum /= static_cast<double>(order.size());
  return {std::move(sums)};
}

}  // namespace dfcl::nn

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/multiplier_box.h"

#include <algorithm>
#include <cmath>

#include "dfcl/allocate/chosen_units.h"

namespace dfcl::allocate {
namespace {

constexpr std::size_t kFewUnits = 40'000;  // solved without a sample
constexpr std::size_t kLeastSample = 16'384;
constexpr std::size_t kMostSample = 65'536;
constexpr double kSampleSoftness = 1e-3;       // below it a sample says nothing of all units
constexpr std::size_t kManyUnits = 4'000'000;  // worth a second, larger sample
constexpr std::size_t kSecondSample = 1'048'576;
constexpr double kSecondSoftness = 2e-4;
// Share of the sample that is open, times the root of its size: some standard errors in each of a few directions.
constexpr double kOpenShare = 24.0;

// Widths relative to each other, as standard errors of multipliers are: a limit that concerns a share f of the units is
// known to 1 / sqrt(f) of what all units would say.
std::vector<double> relative_widths(const CoupledModel& model) {
  const auto units = static_cast<double>(model.num_units());
  std::vector<double> share(model.num_limits(), 1.0);
  const auto set_share = [&](std::size_t limit, double count) {
    if (limit != CoupledModel::kNone) share[limit] = std::clamp(count / units, 1.0 / units, 1.0);
  };
  for (const auto* limits : {&model.upper, &model.lower}) {
    for (const std::size_t limit : *limits) {
      if (limit != CoupledModel::kNone) set_share(limit, std::abs(model.limits()[limit]));
    }
  }
  std::vector<double> in_segment(model.segment.size());
  if (!in_segment.empty()) {
    for (const std::uint32_t segment : model.problem().segments.of_unit) in_segment[segment] += 1.0;
  }
  for (std::size_t s = 0; s < in_segment.size(); ++s) set_share(model.segment[s], in_segment[s]);
  std::vector<double> widths(model.num_limits());
  for (std::size_t k = 0; k < widths.size(); ++k)
    widths[k] = model.gain_spread() / model.scales()[k] / std::sqrt(share[k]);
  return widths;
}

std::vector<double> limits_of_share(const CoupledModel& whole, double share) {
  std::vector<double> limits = whole.limits();
  for (double& limit : limits) limit *= share;
  return limits;
}

// The box by a larger sample, of which the box settles most units already.
void refine(const CoupledModel& whole, std::size_t first_size, MultiplierBox& box, core::RunContext& context) {
  constexpr int kMostRounds = 4;
  const Problem& problem = whole.problem();
  const ChosenUnits sample(problem, sample_units(problem, kSecondSample, context), context);
  const double share = static_cast<double>(sample.size()) / static_cast<double>(problem.num_units());
  const CoupledModel model(whole, sample.problem(), limits_of_share(whole, share));
  std::vector<std::uint8_t> arms(sample.size());
  for (int round = 0; round < kMostRounds; ++round) {
    const PriceBox prices = model.price_box(box.middle, box.width);
    const SettledUnits settled = settle_units(sample.problem(), prices, arms.data(), context);
    const ChosenUnits open(sample.problem(), settled.open, context);
    DualOptions options = box.dual_options();
    options.last_softness = kSecondSoftness;
    const CoupledModel rest(whole, open.problem(), model.limits_beside(settled.sums));
    const DualSolution dual = solve_dual(rest, options, context);
    if (box.recentre(dual.multipliers)) continue;
    const double narrower = std::sqrt(static_cast<double>(first_size) / static_cast<double>(sample.size()));
    box.middle = dual.multipliers;
    for (double& width : box.width) width *= narrower;
    box.softness = std::max(1e-4, box.softness * narrower);
    return;
  }
}

}  // namespace

DualOptions MultiplierBox::dual_options() const {
  DualOptions options{.first_softness = softness, .start = middle, .low = middle, .high = middle, .seeks_proof = false};
  for (std::size_t k = 0; k < middle.size(); ++k) {
    options.low[k] = std::max(0.0, middle[k] - width[k]);
    options.high[k] = middle[k] + width[k];
  }
  return options;
}

bool MultiplierBox::recentre(const std::vector<double>& found) {
  bool outside = false;
  for (std::size_t k = 0; k < middle.size(); ++k) {
    const double away = std::abs(found[k] - middle[k]);
    if (away < 0.999 * width[k] || (found[k] <= 1e-3 * width[k] && middle[k] <= width[k])) continue;
    outside = true;
    width[k] *= 2.0;
  }
  if (outside) middle = found;
  return outside;
}

void MultiplierBox::widen() {
  for (double& one : width) one *= 4.0;
  softness *= 4.0;
}

std::optional<MultiplierBox> box_on_sample(CoupledModel& whole, bool& infeasible, core::RunContext& context) {
  const Problem& problem = whole.problem();
  if (problem.num_units() <= kFewUnits) return std::nullopt;
  const std::size_t size = std::clamp(problem.num_units() / 8, kLeastSample, kMostSample);
  const ChosenUnits sample(problem, sample_units(problem, size, context), context);
  if (sample.size() == problem.num_units()) return std::nullopt;
  whole.measure_scales(sample.problem());
  const double share = static_cast<double>(sample.size()) / static_cast<double>(problem.num_units());
  const CoupledModel model(whole, sample.problem(), limits_of_share(whole, share));
  const DualSolution dual = solve_dual(model, {.last_softness = kSampleSoftness}, context);
  if (!dual.proof.empty()) {
    infeasible = is_proof(whole, dual.proof, context);
    return std::nullopt;
  }
  MultiplierBox box{dual.multipliers, relative_widths(model), 0.0};
  std::vector<double> factors = opening_factors(sample.problem(), model.price_box(box.middle, box.width), context);
  const double open = std::min(0.5, kOpenShare / std::sqrt(static_cast<double>(sample.size())));
  const auto place = factors.begin() + static_cast<std::ptrdiff_t>(open * static_cast<double>(factors.size()));
  std::nth_element(factors.begin(), place, factors.end());
  const double factor = std::clamp(*place, 1e-6, 1.0);
  for (double& width : box.width) width *= factor;
  box.softness = std::clamp(factor / 3.0, 1e-4, 0.05);
  if (problem.num_units() >= kManyUnits) refine(whole, sample.size(), box, context);
  return box;
}

}  // namespace dfcl::allocate

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/effect_slopes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "dfcl/core/parallel.h"
#include "dfcl/core/small_system.h"

namespace dfcl::train {
namespace {

constexpr std::size_t kSlopeChunk = 16'384;
constexpr double kBaseErrors = 2.0;  // standard errors within which effects are taken not to go with the base
constexpr double kUsualSlope = 0.7;  // how far slopes are from none, as a rule (decision 115)
constexpr double kPrior = kUsualSlope * kUsualSlope;
constexpr double kLeastVariance = 0.1;  // of the mean variance: no unit counts ten times as much as a typical one

// What is regressed on: slope less 1, slope by the base, level of the effects; the last two belong to no arm.
enum Term : std::size_t { kOwnEffect, kBase, kLevel, kConstant, kBaseOfAll, kTerms };
using Terms = std::array<double, kTerms>;
using Vector = std::vector<double>;

struct Row {
  Terms terms{};
  double distance = 0.0;  // observed less predicted
  double weight = 0.0;
};

class Rows {
 public:
  Rows(const SeenOutcome& seen, std::span<const float> deviations, const learn::Calibration::Outcome& outcome)
      : seen_(seen), deviations_(deviations), outcome_(outcome), share_(seen.predicted.cols) {
    double total = 0.0, variance = 0.0;
    for (std::size_t unit = 0; unit < seen.size(); ++unit) {
      share_[seen.units.arm[unit]] += seen.sample_weight(unit);
      total += seen.sample_weight(unit);
      variance += seen.sample_weight(unit) * variance_at(unit);
    }
    for (double& share : share_) share /= total;
    least_variance_ = variance > 0.0 ? kLeastVariance * variance / total : 1.0;
  }

  Row row(std::size_t unit) const {
    const std::size_t received = seen_.units.arm[unit];
    const double base = seen_.value(outcome_, unit, seen_.control);
    const auto deviation = static_cast<double>(deviations_[unit]);
    Row row;
    for (std::size_t arm = 0; arm < share_.size(); ++arm) {
      if (arm == seen_.control) continue;
      const double part = (arm == received ? 1.0 : 0.0) - share_[arm];
      row.terms[kOwnEffect] += part * (seen_.value(outcome_, unit, arm) - base - outcome_.center[arm]);
      row.terms[kBase] += part * outcome_.size[arm] * deviation;
      row.terms[kLevel] += part * outcome_.size[arm];
    }
    row.terms[kConstant] = 1.0;
    row.terms[kBaseOfAll] = deviation;
    row.distance = static_cast<double>(seen_.observed[unit]) - seen_.value(outcome_, unit, received);
    // Weighted so, every unit is as likely to be in an arm as the arm's share.
    row.weight =
        static_cast<double>(seen_.units.weight[unit]) * share_[received] / std::max(least_variance_, variance_at(unit));
    return row;
  }

 private:
  double variance_at(std::size_t unit) const {
    return usual_variance(outcome_.form.kind, seen_.value(outcome_, unit, seen_.units.arm[unit]));
  }

  const SeenOutcome& seen_;
  std::span<const float> deviations_;
  const learn::Calibration::Outcome& outcome_;
  Vector share_;
  double least_variance_ = 1.0;
};

// Coefficients of some terms and their covariances, over clusters.
struct Regression {
  Terms value{};
  std::array<double, kTerms * kTerms> covariance{};

  double variance(Term term) const { return covariance[term * kTerms + term]; }
};

// The sums of products of the terms, kTerms x kTerms, and of each with the distance.
struct Moments {
  Vector products = Vector(kTerms * kTerms);
  Vector with_distance = Vector(kTerms);
};

Moments moments_of(const Rows& rows, std::size_t size, core::RunContext& context) {
  return core::sum_chunks(
      context, size, kSlopeChunk, Moments(),
      [&](std::size_t begin, std::size_t end) {
        Moments part;
        for (std::size_t unit = begin; unit < end; ++unit) {
          const Row row = rows.row(unit);
          for (std::size_t i = 0; i < kTerms; ++i) {
            for (std::size_t j = 0; j < kTerms; ++j)
              part.products[i * kTerms + j] += row.weight * row.terms[i] * row.terms[j];
            part.with_distance[i] += row.weight * row.terms[i] * row.distance;
          }
        }
        return part;
      },
      [](Moments& all, const Moments& part) {
        for (std::size_t i = 0; i < all.products.size(); ++i) all.products[i] += part.products[i];
        for (std::size_t i = 0; i < all.with_distance.size(); ++i) all.with_distance[i] += part.with_distance[i];
      });
}

// Terms without variation have no say. None where nothing is left of a term that is asked for.
std::optional<Regression> regress(const Rows& rows, const SeenOutcome& seen, const Moments& moments,
                                  const std::vector<std::size_t>& asked) {
  std::vector<std::size_t> terms;
  for (const std::size_t term : asked) {
    if (moments.products[term * kTerms + term] > 0.0) terms.push_back(term);
  }
  const std::size_t n = terms.size();
  Vector matrix(n * n);  // of terms in units of their own size, so that pivots can be compared
  Vector scale(n);
  for (std::size_t i = 0; i < n; ++i) scale[i] = 1.0 / std::sqrt(moments.products[terms[i] * kTerms + terms[i]]);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      matrix[i * n + j] = scale[i] * scale[j] * moments.products[terms[i] * kTerms + terms[j]];
  }
  const auto inverse = core::inverse_of(matrix, n);
  if (!inverse) return std::nullopt;
  Regression found;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      found.value[terms[i]] += scale[i] * (*inverse)[i * n + j] * scale[j] * moments.with_distance[terms[j]];
  }
  ProductSums<kTerms> sums(seen.units.cluster);
  for (std::size_t unit = 0; unit < seen.size(); ++unit) {
    const Row row = rows.row(unit);
    double left = row.distance;
    for (const std::size_t term : terms) left -= found.value[term] * row.terms[term];
    Terms influence{};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        influence[terms[i]] += scale[i] * (*inverse)[i * n + j] * scale[j] * row.weight * left * row.terms[terms[j]];
    }
    sums.add(unit, influence);
  }
  found.covariance = sums.total();
  return found;
}

// Both slopes, drawn towards none by a prior (eq. 23): found together on few units they can be far off in opposite
// directions, because effects that go with the base are much alike to their product with it.
void set_both(const Regression& found, learn::Calibration::Outcome& outcome) {
  const double a = found.variance(kOwnEffect) + kPrior, b = found.covariance[kOwnEffect * kTerms + kBase],
               c = found.variance(kBase) + kPrior;
  const double x = found.value[kOwnEffect], y = found.value[kBase];
  const double determinant = a * c - b * b;
  if (!(determinant > 0.0)) return;
  outcome.slope = std::clamp(1.0 + kPrior * (c * x - b * y) / determinant, learn::kLeastSlope, learn::kMostSlope);
  outcome.base_slope = std::clamp(kPrior * (a * y - b * x) / determinant, -learn::kMostSlope, learn::kMostSlope);
}

// Means over the units of the effects and their squares.
void set_sizes(const SeenOutcome& seen, learn::Calibration::Outcome& outcome) {
  const std::size_t num_arms = seen.predicted.cols;
  outcome.center.assign(num_arms, 0.0);
  outcome.size.assign(num_arms, 0.0);
  for (std::size_t unit = 0; unit < seen.size(); ++unit) {
    const double base = seen.value(outcome, unit, seen.control);
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      if (arm == seen.control) continue;
      const double effect = seen.value(outcome, unit, arm) - base;
      outcome.center[arm] += seen.sample_weight(unit) * effect;
      outcome.size[arm] += seen.sample_weight(unit) * effect * effect;
    }
  }
  const double total = seen.total();
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    outcome.center[arm] /= total;
    outcome.size[arm] = std::sqrt(outcome.size[arm] / total);
  }
}

// Whether effects differ between units by more than rounding.
bool do_differ(const SeenOutcome& seen, const learn::Calibration::Outcome& outcome) {
  double squares = 0.0, size = 0.0;
  for (std::size_t unit = 0; unit < seen.size(); ++unit) {
    const double base = seen.value(outcome, unit, seen.control);
    for (std::size_t arm = 0; arm < outcome.center.size(); ++arm) {
      if (arm == seen.control) continue;
      const double distance = seen.value(outcome, unit, arm) - base - outcome.center[arm];
      squares += distance * distance;
    }
  }
  for (const double center : outcome.center) size += center * center;
  return squares > 1e-12 * size * static_cast<double>(seen.size()) && squares > 0.0;
}

}  // namespace

void find_slopes(const SeenOutcome& seen, std::span<const float> deviations, learn::Calibration::Outcome& outcome,
                 core::RunContext& context) {
  set_sizes(seen, outcome);
  if (!do_differ(seen, outcome)) {
    outcome.size.clear();
    return;
  }
  const Rows rows(seen, deviations, outcome);
  const Moments moments = moments_of(rows, seen.size(), context);
  const auto alone = regress(rows, seen, moments, {kOwnEffect, kLevel, kConstant, kBaseOfAll});
  context.check_cancelled();
  const bool is_plain = seen.facts.arm_shape == learn::ArmShape::plain;
  if (alone) {
    outcome.found_slope = 1.0 + alone->value[kOwnEffect];
    outcome.slope_error = std::sqrt(alone->variance(kOwnEffect));
    // Drawn towards none as both slopes are; one above 1 would not keep a shape over the arms.
    outcome.slope = std::clamp(1.0 + alone->value[kOwnEffect] * kPrior / (kPrior + alone->variance(kOwnEffect)),
                               learn::kLeastSlope, is_plain ? learn::kMostSlope : 1.0);
  }
  const auto both =
      is_plain ? regress(rows, seen, moments, {kOwnEffect, kBase, kLevel, kConstant, kBaseOfAll}) : std::nullopt;
  if (both && std::abs(both->value[kBase]) > kBaseErrors * std::sqrt(both->variance(kBase))) set_both(*both, outcome);
  if (outcome.base_slope == 0.0) outcome.size.clear();
}

}  // namespace dfcl::train

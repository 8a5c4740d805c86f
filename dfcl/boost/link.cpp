// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/link.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/fast_exp.h"
#include "dfcl/core/for_each_processor.h"

namespace dfcl::boost {
namespace {

constexpr double kMostLogisticStep = 4.0;
constexpr float kLeastVariance = 1e-6f;  // p (1 - p)

DFCL_INLINE float inside(float raw) { return raw > kMostRaw ? kMostRaw : raw; }

DFCL_FOR_EACH_PROCESSOR
void poisson(const float* raw, const float* observed, const float* weight, std::size_t count, float* gradient,
             float* hessian) {
  for (std::size_t i = 0; i < count; ++i) {
    const float predicted = weight[i] * core::fast_exp(inside(raw[i]));
    gradient[i] = predicted - weight[i] * observed[i];
    hessian[i] = predicted;
  }
}

DFCL_FOR_EACH_PROCESSOR
void logistic(const float* raw, const float* observed, const float* weight, std::size_t count, float* gradient,
              float* hessian) {
  for (std::size_t i = 0; i < count; ++i) {
    const float p = 1.0f / (1.0f + core::fast_exp(-raw[i]));
    const float variance = p * (1.0f - p);
    gradient[i] = weight[i] * (p - observed[i]);
    hessian[i] = weight[i] * (variance < kLeastVariance ? kLeastVariance : variance);
  }
}

DFCL_FOR_EACH_PROCESSOR
void squared(const float* raw, const float* observed, const float* weight, std::size_t count, float* gradient,
             float* hessian) {
  for (std::size_t i = 0; i < count; ++i) {
    gradient[i] = weight[i] * (raw[i] - observed[i]);
    hessian[i] = weight[i];
  }
}

DFCL_FOR_EACH_PROCESSOR
void exponential(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = core::fast_exp(inside(values[i]));
}

DFCL_FOR_EACH_PROCESSOR
void logistic(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float chance = 1.0f / (1.0f + core::fast_exp(-values[i]));
    values[i] = values[i] <= kNeverRaw ? 0.0f : chance;
  }
}

}  // namespace

void derivatives(loss::OutcomeKind kind, std::span<const float> raw, std::span<const float> observed,
                 std::span<const float> weight, Derivatives to) {
  const auto function = kind == loss::OutcomeKind::real           ? squared
                        : kind == loss::OutcomeKind::non_negative ? poisson
                                                                  : static_cast<decltype(&squared)>(logistic);
  function(raw.data(), observed.data(), weight.data(), raw.size(), to.gradient.data(), to.hessian.data());
}

void apply_link(loss::OutcomeKind kind, std::span<float> values) {
  if (kind == loss::OutcomeKind::non_negative) exponential(values.data(), values.size());
  if (kind == loss::OutcomeKind::binary) logistic(values.data(), values.size());
}

float raw_of(loss::OutcomeKind kind, double mean) {
  if (kind == loss::OutcomeKind::real) return static_cast<float>(mean);
  if (!(mean > 0.0)) return kNeverRaw;
  if (kind == loss::OutcomeKind::non_negative) return static_cast<float>(std::log(mean));
  return mean < 1.0 ? static_cast<float>(std::log(mean / (1.0 - mean))) : -kNeverRaw;
}

double loss_at(loss::OutcomeKind kind, double raw, double observed) {
  switch (kind) {
    case loss::OutcomeKind::real: return (raw - observed) * (raw - observed);
    case loss::OutcomeKind::non_negative:
      return static_cast<double>(core::fast_exp(inside(static_cast<float>(raw)))) - observed * raw;
    case loss::OutcomeKind::binary: return std::max(raw, 0.0) + std::log1p(std::exp(-std::abs(raw))) - observed * raw;
  }
  return 0.0;  // no other kind
}

double leaf_step(loss::OutcomeKind kind, double value) {
  if (kind == loss::OutcomeKind::non_negative) return std::log1p(std::max(value, -0.99));
  if (kind == loss::OutcomeKind::binary) return std::clamp(value, -kMostLogisticStep, kMostLogisticStep);
  return value;
}

}  // namespace dfcl::boost

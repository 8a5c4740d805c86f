// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/adam.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <numbers>

#include "dfcl/core/error.h"
#include "dfcl/core/for_each_processor.h"
#include "dfcl/core/parallel.h"

namespace dfcl::nn {
namespace {

// The numbers of one step that all parameters share.
template <class T>
struct Step {
  T scale;  // of the gradient, by clipping
  T beta1;
  T beta2;
  T rate;        // with the correction of the mean for its start at zero
  T root_scale;  // the correction of the mean square, under the root
  T epsilon;
  T kept;  // 1 - rate x weight decay
};

template <class T>
DFCL_INLINE void update_body(const Step<T>& step, std::size_t size, const T* gradient, T* mean, T* mean_square,
                             T* parameters) {
  for (std::size_t i = 0; i < size; ++i) {
    const T g = step.scale * gradient[i];
    const T m = step.beta1 * mean[i] + (T(1) - step.beta1) * g;
    const T v = step.beta2 * mean_square[i] + (T(1) - step.beta2) * g * g;
    mean[i] = m;
    mean_square[i] = v;
    parameters[i] = step.kept * parameters[i] - step.rate * m / (std::sqrt(v) * step.root_scale + step.epsilon);
  }
}

DFCL_FOR_EACH_PROCESSOR void update(const Step<float>& step, std::size_t size, const float* gradient, float* mean,
                                    float* mean_square, float* parameters) {
  update_body(step, size, gradient, mean, mean_square, parameters);
}

void update(const Step<double>& step, std::size_t size, const double* gradient, double* mean, double* mean_square,
            double* parameters) {
  update_body(step, size, gradient, mean, mean_square, parameters);
}

template <class T>
double square_sum(std::span<const T> gradient) {
  constexpr std::size_t kLanes = 8;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= gradient.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = gradient[i + lane];
      lanes[lane] += value * value;
    }
  }
  for (; i < gradient.size(); ++i) lanes[0] += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

void require(bool holds, const char* field, double value, const char* expected) {
  if (holds) return;
  throw core::Error({.kind = core::ErrorKind::usage,
                     .what = fmt::format("the optimiser cannot run with this {}", field),
                     .found = fmt::format("{}", value),
                     .expected = expected});
}

}  // namespace

void require_valid(const AdamOptions& options) {
  const auto is_share = [](double x) { return x >= 0.0 && x < 1.0; };
  const auto is_size = [](double x) { return x >= 0.0 && std::isfinite(x); };
  require(options.rate > 0.0 && std::isfinite(options.rate), "rate", options.rate, "above 0");
  require(is_share(options.beta1), "beta1", options.beta1, "at least 0 and below 1");
  require(is_share(options.beta2), "beta2", options.beta2, "at least 0 and below 1");
  require(options.epsilon > 0.0 && std::isfinite(options.epsilon), "epsilon", options.epsilon, "above 0");
  require(is_size(options.weight_decay), "weight decay", options.weight_decay, "at least 0");
  require(is_size(options.clip_norm), "clipping norm", options.clip_norm, "at least 0");
  require(options.final_share >= 0.0 && options.final_share <= 1.0, "final share of the rate", options.final_share,
          "from 0 to 1");
}

double rate_at(const AdamOptions& options, std::uint64_t step) {
  if (step < options.warmup_steps) {
    return options.rate * static_cast<double>(step + 1) / static_cast<double>(options.warmup_steps);
  }
  if (options.total_steps == 0) return options.rate;
  if (step >= options.total_steps) return options.rate * options.final_share;
  // warmup_steps <= step < total_steps
  const double done = static_cast<double>(step - options.warmup_steps) /
                      static_cast<double>(options.total_steps - options.warmup_steps);
  const double fall = 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  return options.rate * (options.final_share + (1.0 - options.final_share) * fall);
}

namespace {

template <class T>
void require_sizes(const AdamState<T>& state, std::span<const T> gradient, std::span<T> parameters) {
  if (gradient.size() != parameters.size() || state.mean.size() != parameters.size())
    throw core::Error({.what = "the optimiser's state, the gradient and the parameters differ in size"});
}

// Counts the step.
template <class T>
Step<T> next_step(const AdamOptions& options, AdamState<T>& state, double norm) {
  const double rate = rate_at(options, state.step);
  const double count = static_cast<double>(++state.step);
  const bool clip = options.clip_norm > 0.0 && norm > options.clip_norm;
  return {.scale = static_cast<T>(clip ? options.clip_norm / norm : 1.0),
          .beta1 = static_cast<T>(options.beta1),
          .beta2 = static_cast<T>(options.beta2),
          .rate = static_cast<T>(rate / (1.0 - std::pow(options.beta1, count))),
          .root_scale = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(options.beta2, count))),
          .epsilon = static_cast<T>(options.epsilon),
          .kept = static_cast<T>(1.0 - rate * options.weight_decay)};
}

}  // namespace

template <class T>
double adam_step(const AdamOptions& options, AdamState<T>& state, std::span<const T> gradient,
                 std::span<T> parameters) {
  require_sizes(state, gradient, parameters);
  const double norm = std::sqrt(square_sum(gradient));
  if (!std::isfinite(norm)) return norm;
  const Step<T> step = next_step(options, state, norm);
  update(step, parameters.size(), gradient.data(), state.mean.data(), state.mean_square.data(), parameters.data());
  return norm;
}

template <class T>
double adam_step(core::RunContext& context, const AdamOptions& options, AdamState<T>& state,
                 std::span<const T> gradient, std::span<T> parameters) {
  constexpr std::size_t kBlock = 32'768;
  require_sizes(state, gradient, parameters);
  const auto square = [&](std::size_t begin, std::size_t end) {
    return square_sum(gradient.subspan(begin, end - begin));
  };
  const double norm = std::sqrt(core::sum_chunks(context, gradient.size(), kBlock, 0.0, square,
                                                 [](double& total, double part) { total += part; }));
  if (!std::isfinite(norm)) return norm;
  const Step<T> step = next_step(options, state, norm);
  core::for_each_chunk(context, gradient.size(), kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
    update(step, end - begin, gradient.data() + begin, state.mean.data() + begin, state.mean_square.data() + begin,
           parameters.data() + begin);
  });
  return norm;
}

template double adam_step(const AdamOptions&, AdamState<float>&, std::span<const float>, std::span<float>);
template double adam_step(const AdamOptions&, AdamState<double>&, std::span<const double>, std::span<double>);
template double adam_step(core::RunContext&, const AdamOptions&, AdamState<float>&, std::span<const float>,
                          std::span<float>);
template double adam_step(core::RunContext&, const AdamOptions&, AdamState<double>&, std::span<const double>,
                          std::span<double>);

}  // namespace dfcl::nn

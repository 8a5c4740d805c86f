// SPDX-License-Identifier: Apache-2.0
//
// Adam (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019), clipping by the global norm, and
// a rate that warms up linearly and falls by a cosine. A checkpoint of training is the parameters and this state. Time:
// one pass over the parameters, less than a nanosecond each; memory: twice the parameters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/run_context.h"

namespace dfcl::nn {

struct AdamOptions {
  double rate = 1e-3;              // highest
  double beta1 = 0.9;              // memory of the mean gradient
  double beta2 = 0.999;            // memory of the mean square
  double epsilon = 1e-8;           // added to the root of the mean square
  double weight_decay = 0.0;       // a step takes rate x this share off every parameter
  double clip_norm = 0.0;          // longer gradients are cut to this length; 0: never
  std::uint64_t warmup_steps = 0;  // the rate rises linearly over these
  std::uint64_t total_steps = 0;   // then falls by a half cosine until here; 0: it stays
  double final_share = 0.0;        // of the rate, from total_steps on
};

template <class T>
struct AdamState {
  explicit AdamState(std::size_t num_parameters) : mean(num_parameters, T(0)), mean_square(num_parameters, T(0)) {}
  std::vector<T> mean;
  std::vector<T> mean_square;
  std::uint64_t step = 0;  // steps made
};

// Throws a usage error that names the field and the bound it breaks.
void require_valid(const AdamOptions& options);

// The rate of the step number `step`, counted from 0.
double rate_at(const AdamOptions& options, std::uint64_t step);

// One step. Returns the length of the gradient before clipping; it is not finite where the gradient is not, and then
// nothing has been changed.
template <class T>
double adam_step(const AdamOptions& options, AdamState<T>& state, std::span<const T> gradient, std::span<T> parameters);

// The same by all threads, in fixed blocks: the same bytes on any number of them, not quite those of one thread's step.
template <class T>
double adam_step(core::RunContext& context, const AdamOptions& options, AdamState<T>& state,
                 std::span<const T> gradient, std::span<T> parameters);

}  // namespace dfcl::nn

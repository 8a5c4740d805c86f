// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/loss.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/core/error.h"

namespace dfcl::loss {
namespace {

[[noreturn]] void refuse(const char* field, double value, const char* expected) {
  throw core::Error({.kind = core::ErrorKind::usage,
                     .what = fmt::format("{} of a decision loss is out of range", field),
                     .found = fmt::format("{}", value),
                     .expected = expected});
}

}  // namespace

void require_valid(const DecisionOptions& options) {
  if (options.multipliers.empty()) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "a decision loss has no multipliers",
                       .expected = "one or more",
                       .hint = "name budgets in the study, or multipliers"});
  }
  for (const double multiplier : options.multipliers) {
    if (!(multiplier >= 0.0) || !std::isfinite(multiplier))
      refuse("multiplier", multiplier, "a finite number, zero or more");
  }
  if (!(options.temperature > 0.0) || !std::isfinite(options.temperature)) {
    refuse("temperature", options.temperature, "a finite number above zero");
  }
  if (!(options.window > 0.0) || !std::isfinite(options.window)) {
    refuse("window", options.window, "a finite number above zero");
  }
  if (options.as_published && options.baseline == Baseline::doubly_robust) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "the published form of a decision loss knows the reward of one arm only",
                       .found = "baseline dr",
                       .expected = "baseline none or mean"});
  }
}

void require_nuisance(const DecisionOptions& options, std::size_t size_predicted, std::size_t size_nuisance) {
  if (options.baseline != Baseline::doubly_robust || size_predicted == size_nuisance) return;
  throw core::Error({.kind = core::ErrorKind::internal,
                     .what = "the doubly robust form lacks its nuisance predictions",
                     .found = fmt::format("{} numbers", size_nuisance),
                     .expected = fmt::format("{}", size_predicted)});
}

}  // namespace dfcl::loss

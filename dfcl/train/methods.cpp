// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/methods.h"

#include <algorithm>
#include <iterator>

#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"

namespace dfcl::train {
namespace {

constexpr Method kMethods[] = {
    {.name = "tsm", .summary = "two stages: predict revenue and cost, then decide"},
    {.name = "tsm-forest", .summary = "two stages with a causal forest for both outcomes", .grows_forest = true},
    {.name = "dfcl-pl",
     .summary = "policy learning loss beside the prediction loss",
     .loss = DecisionLoss::policy,
     .temperature = 1.0,
     .relative = false,
     .published_temperature = 1.0},
    {.name = "dfcl-mer",
     .summary = "policy learning with a temperature (maximum entropy regularised)",
     .loss = DecisionLoss::policy,
     .temperature = 0.5,
     .published_temperature = 0.01},
    {.name = "dfcl-ifd",
     .summary = "improved finite differences of the decision's value",
     .loss = DecisionLoss::ifd,
     .temperature = 1.0,
     .published_temperature = 0.3},
    {.name = "dfcl-ifd-softmax",
     .summary = "improved finite differences, measured on the softmax of the scores",
     .loss = DecisionLoss::ifd_softmax,
     .temperature = 0.5,
     .published_temperature = 1.0},
    {.name = "dfcl-fd",
     .summary = "plain finite differences, a new plan for each: slow, a few thousand units at most",
     .loss = DecisionLoss::fd,
     .temperature = 0.5,
     .published_temperature = 0.3},
    {.name = "drm",
     .summary = "direct ranking by cost per revenue",
     .loss = DecisionLoss::drm,
     .ordered_arms_only = true,
     .learns_efficiencies = true},
    {.name = "drp",
     .summary = "direct efficiency of a trial with two arms",
     .loss = DecisionLoss::drp,
     .two_arms_only = true,
     .learns_efficiencies = true},
    {.name = "dpm",
     .summary = "marginal efficiencies of ordered arms",
     .loss = DecisionLoss::dpm,
     .ordered_arms_only = true,
     .learns_efficiencies = true},
    {.name = "cn",
     .summary = "two stages with predictions that rise with the arm",
     .ordered_arms_only = true,
     .monotone = true},
};

}  // namespace

std::span<const Method> all_methods() { return kMethods; }

const Method& find_method(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kMethods), std::end(kMethods), [&](const Method& method) { return name == method.name; });
  if (found != std::end(kMethods)) return *found;
  std::vector<std::string> names = {"auto"};
  for (const Method& method : kMethods) names.emplace_back(method.name);
  throw core::Error(
      {.kind = core::ErrorKind::usage, .what = "unknown method '" + name + "'", .hint = core::suggest(name, names)});
}

}  // namespace dfcl::train

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/methods.h"

#include <algorithm>
#include <iterator>

#include "dfcl/boost/boost_learner.h"
#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"
#include "dfcl/forest/forest_learner.h"
#include "dfcl/loss/dpm_loss.h"
#include "dfcl/loss/drm_loss.h"
#include "dfcl/loss/drp_loss.h"
#include "dfcl/loss/ifd_loss.h"
#include "dfcl/loss/ifd_softmax_loss.h"
#include "dfcl/loss/policy_loss.h"
#include "dfcl/nn/network_learner.h"

namespace dfcl::train {
namespace {

template <template <class> class Loss>
LossPointer decision_loss(const loss::DecisionOptions& options) {
  return std::make_unique<Loss<float>>(options);
}
LossPointer drm_loss(std::size_t num_arms, double) { return std::make_unique<loss::DrmLoss<float>>(num_arms); }
LossPointer drp_loss(std::size_t, double cost_scale) { return std::make_unique<loss::DrpLoss<float>>(cost_scale); }
LossPointer dpm_loss(std::size_t, double cost_scale) { return std::make_unique<loss::DpmLoss<float>>(cost_scale); }

constexpr Method kMethods[] = {
    {.name = "tsm",
     .title = "network, two stages",
     .summary = "two stages: predict revenue and cost, then decide",
     .traits = "network ensemble concave start",
     .learner = nn::make_network_learner,
     .stack_place = 3},
    {.name = "tsm-boost",
     .title = "boosted trees",
     .summary = "two stages with boosted trees for each outcome",
     .traits = "boost validated",
     .learner = boost::make_boost_learner,
     .stack_place = 1},
    {.name = "tsm-forest",
     .title = "causal forest",
     .summary = "two stages with a causal forest for both outcomes",
     .traits = "boost forest out-of-sample standard-errors",
     .learner = forest::make_forest_learner,
     .base = boost::make_boost_learner,
     .check_settings = forest::check_settings,
     .stack_place = 2},
    {.name = "dfcl-pl",
     .title = "network with policy loss",
     .summary = "policy learning loss beside the prediction loss",
     .traits = "network ensemble concave start decision temperature",
     .learner = nn::make_network_learner,
     .nuisance = boost::make_boost_learner,
     .decision = decision_loss<loss::PolicyLoss>,
     .temperature = 1.0,
     .relative = false,
     .published_temperature = 1.0},
    {.name = "dfcl-mer",
     .title = "network with smoothed policy loss",
     .summary = "policy learning with a temperature (maximum entropy regularised)",
     .traits = "network ensemble concave start decision temperature",
     .learner = nn::make_network_learner,
     .nuisance = boost::make_boost_learner,
     .decision = decision_loss<loss::PolicyLoss>,
     .temperature = 0.5,
     .published_temperature = 0.01,
     .stack_place = 4},
    {.name = "dfcl-ifd",
     .title = "network with finite-difference loss",
     .summary = "improved finite differences of the decision's value",
     .traits = "network ensemble concave start decision window",
     .learner = nn::make_network_learner,
     .nuisance = boost::make_boost_learner,
     .decision = decision_loss<loss::IfdLoss>,
     .temperature = 1.0,
     .published_temperature = 0.3,
     .stack_place = 5},
    {.name = "dfcl-ifd-softmax",
     .title = "network with softmax finite-difference loss",
     .summary = "improved finite differences, measured on the softmax of the scores",
     .traits = "network ensemble concave start decision temperature",
     .learner = nn::make_network_learner,
     .nuisance = boost::make_boost_learner,
     .decision = decision_loss<loss::IfdSoftmaxLoss>,
     .temperature = 0.5,
     .published_temperature = 1.0,
     .fixed_window = 0.3},  // steps are differences of probabilities, which have a scale of their own
    {.name = "drm",
     .title = "direct ranking network",
     .summary = "direct ranking by cost per revenue",
     .traits = "network ensemble concave start",
     .learner = nn::make_network_learner,
     .scores = drm_loss,
     .revenue_form = loss::RevenueForm::drm_scores,
     .ordered_arms_only = true,
     .whole_batch_as_published = true},
    {.name = "drp",
     .title = "direct efficiency network",
     .summary = "direct efficiency of a trial with two arms",
     .traits = "network ensemble concave start",
     .learner = nn::make_network_learner,
     .scores = drp_loss,
     .revenue_form = loss::RevenueForm::drp_scores,
     .two_arms_only = true},
    {.name = "dpm",
     .title = "marginal efficiency network",
     .summary = "marginal efficiencies of ordered arms",
     .traits = "network ensemble concave start",
     .learner = nn::make_network_learner,
     .scores = dpm_loss,
     .revenue_form = loss::RevenueForm::dpm_scores,
     .ordered_arms_only = true},
    {.name = "cn",
     .title = "monotone network",
     .summary = "two stages with predictions that rise with the arm",
     .traits = "network ensemble concave start",
     .learner = nn::make_network_learner,
     .ordered_arms_only = true,
     .monotone = true},
};

}  // namespace

std::span<const Method> all_methods() { return kMethods; }

bool Method::uses(std::string_view trait) const {
  std::string_view rest = traits;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == trait) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::string method_words(const std::string& name) {
  if (name == "auto") return "weighted stack of methods (auto)";
  for (const Method& method : kMethods) {
    if (name == method.name) return std::string(method.title) + " (" + name + ")";
  }
  return name;
}

const Method& find_method(const std::string& name, const char* field) {
  const auto found =
      std::find_if(std::begin(kMethods), std::end(kMethods), [&](const Method& method) { return name == method.name; });
  if (found != std::end(kMethods)) return *found;
  std::vector<std::string> names = {"auto"};
  for (const Method& method : kMethods) names.emplace_back(method.name);
  throw core::Error({.kind = core::ErrorKind::usage,
                     .field = field,
                     .what = "unknown method '" + name + "'",
                     .hint = core::suggest(name, names)});
}

}  // namespace dfcl::train

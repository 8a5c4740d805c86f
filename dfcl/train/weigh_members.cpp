// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/weigh_members.h"

#include <algorithm>

#include "dfcl/train/calibrate.h"

namespace dfcl::train {
namespace {

// slope: by how much calibration stretches the effects of revenue.
learn::Predicted calibrated_copy(const data::Trial& trial, const Preparation& prepared, const HeldOutcomes& outcomes,
                                 const learn::Predicted& unseen, double& slope, core::RunContext& context) {
  const learn::TrainingSet set = prepared.training_set(trial);
  learn::Predicted copy{core::Matrix<float>(context.scratch(), unseen.revenue.rows(), unseen.revenue.cols()),
                        core::Matrix<float>(context.scratch(), unseen.cost.rows(), unseen.cost.cols())};
  std::copy_n(unseen.revenue.data(), unseen.revenue.rows() * unseen.revenue.cols(), copy.revenue.data());
  std::copy_n(unseen.cost.data(), unseen.cost.rows() * unseen.cost.cols(), copy.cost.data());
  const std::size_t control = trial.arms.control;
  const learn::Calibration found =
      fit_calibration(outcomes.as_units(), unseen, set.facts, control, set.learns_cost, context);
  slope = found.revenue.slope;
  learn::calibrate(found, control, {copy.revenue.view(), copy.cost.view()});
  return copy;
}

// A member's effects enter as many times larger as calibration made them; what is common to all is left to it.
std::vector<double> weights_as_learned(std::vector<double> weights, const std::vector<double>& slopes) {
  double before = 0.0, after = 0.0;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    before += weights[i];
    weights[i] *= slopes[i];
    after += weights[i];
  }
  for (std::size_t i = 0; i < slopes.size() && after > 0.0; ++i) weights[i] *= before / after;
  return weights;
}

}  // namespace

WeighedMembers weigh_members(const data::Trial& trial, const Preparation& prepared, const HeldUnits& units,
                             const HeldOutcomes& outcomes, const std::vector<MemberPredictions>& members,
                             bool calibrated, core::RunContext& context) {
  std::vector<const learn::Predicted*> unseen, judged;
  std::vector<learn::Predicted> copies;
  std::vector<double> slopes;
  copies.reserve(members.size());
  for (const MemberPredictions& member : members) {
    unseen.push_back(member.unseen);
    slopes.push_back(1.0);
    judged.push_back(member.unseen);
    if (!calibrated) continue;
    copies.push_back(calibrated_copy(trial, prepared, outcomes, *member.unseen, slopes.back(), context));
    judged.back() = &copies.back();
  }
  StackJudge judge(trial, prepared, units, outcomes, judged, context);
  const std::vector<double> chosen = judge.weights();
  WeighedMembers result;
  result.weights = weights_as_learned(chosen, slopes);
  result.facts.num_units = units.size();
  result.facts.num_folds = kFolds;
  for (std::size_t i = 0; i < result.weights.size(); ++i) {
    std::vector<double> alone(result.weights.size());
    alone[i] = 1.0;
    const evaluate::Estimate value = judge.net_value(alone);
    result.facts.members.push_back({i == members.size() ? model::kMeanEffectName : members[i].name, result.weights[i],
                                    value.value, value.standard_error, 0.0});
  }
  const evaluate::Estimate value = judge.net_value(chosen);
  result.facts.net_value = value.value;
  result.facts.standard_error = value.standard_error;
  result.unseen = judge.mixture(unseen, result.weights);
  if (result.weights.back() > 0.0) {
    result.mean_effect = judge.mean_effect();
    result.mean_effect->weight = result.weights.back();
  }
  return result;
}

}  // namespace dfcl::train

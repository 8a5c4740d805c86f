// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/plan_elsewhere.h"

#include <fmt/format.h>

#include <utility>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/field.h"
#include "dfcl/launch/role_sums.h"
#include "dfcl/verbs/plan_input.h"
#include "dfcl/verbs/plan_parts.h"

namespace dfcl::verbs {
namespace {

// Without ids a plan would depend on how the units are cut into parts.
std::unique_ptr<PlanInput> open_part(const AllocateRequest& request, core::RunContext& context) {
  std::unique_ptr<PlanInput> input = open_plan_input(request, context);
  if (!input->has_ids) {
    throw core::data_error("", "there is no column 'id'", "", "the id of each unit",
                           "ties between units, and who is who in the plan, go by id");
  }
  return input;
}

}  // namespace

PlanPart::PlanPart(AllocateRequest request, const std::string& pass)
    : request_(std::move(request)), pass_(allocate::PathPass::from_bytes(pass)) {
  request_.stream = true;
}

void PlanPart::add(const std::string& predictions, core::RunContext& context) {
  request_.predictions = predictions;
  const std::unique_ptr<PlanInput> input = open_part(request_, context);
  const std::size_t num_arms = input->facts.arms.size();
  if (found_ == nullptr) {
    rules_ = input->rules;
    prices_ = std::make_unique<allocate::Prices>(rules_);
    found_ = std::make_unique<allocate::PassPart>(pass_, rules_, *prices_, num_arms);
  }
  naming_units(*input, [&] {
    input->path().pieces()->for_each(
        [&](const allocate::Units& units, const data::Batch*) { found_->add(units, 0, units.size()); });
  });
}

std::string PlanPart::to_bytes() { return found_ == nullptr ? "" : found_->to_bytes(); }

std::string merge_parts(const std::string& pass_bytes, const std::vector<std::string>& parts, std::size_t num_arms) {
  if (num_arms < 1 || num_arms > allocate::kMaxArms)
    throw core::Error({.what = "parts of a plan with too many arms, or none", .found = fmt::format("{}", num_arms)});
  const allocate::PathPass pass = allocate::PathPass::from_bytes(pass_bytes);
  const allocate::Rules rules;  // sums were made by the rules of the parts
  const allocate::Prices prices(rules);
  allocate::PassPart merged(pass, rules, prices, num_arms);
  for (const std::string& part : parts) merged.merge_bytes(part);
  return merged.to_bytes();
}

KeptPlan assign_part(const AllocateRequest& request, const std::string& cut, double multiplier,
                     core::RunContext& context) {
  AllocateRequest streamed = request;
  streamed.stream = true;
  const std::unique_ptr<PlanInput> input = open_part(streamed, context);
  allocate::PathPlan plan;
  plan.summary.status = allocate::Status::optimal;
  plan.summary.multiplier = multiplier;
  plan.cut = allocate::PathCut::from_bytes(cut, input->facts.arms.size());
  auto whole = std::make_shared<data::Plan>();
  naming_units(*input, [&] {
    input->path().deliver(
        plan,
        [&](const allocate::PlannedUnits& planned) { append_plan(make_piece(*input, planned, plan.summary), *whole); },
        context);
  });
  return {std::move(whole), {}, {}};
}

std::string sum_roles(const KeptPlan& plan) {
  launch::RoleSums sums;
  sums.add(*plan.plan);
  return sums.to_bytes();
}

std::string merge_roles(const std::vector<std::string>& parts) {
  launch::RoleSums merged;
  for (const std::string& part : parts) merged.merge(launch::RoleSums::from_bytes(part));
  return merged.to_bytes();
}

}  // namespace dfcl::verbs

// SPDX-License-Identifier: Apache-2.0
//
// The side of allocate that runs where units are elsewhere (AllocateRequest::elsewhere): on an executor of a cluster,
// for one part of the units. A part takes tables of predictions, piece by piece, and answers a pass; the answers of
// parts merge; the cut that allocate returns then gives every unit its arm. Requests are those of allocate, with
// `stream` and without a budget. Memory: one table, and the findings (allocate/path_pass.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/allocate/path_pass.h"
#include "dfcl/core/run_context.h"
#include "dfcl/verbs/allocate.h"
#include "dfcl/verbs/allocate_request.h"

namespace dfcl::verbs {

// What a pass finds in one part of the units.
class PlanPart {
 public:
  // pass: as the runner was handed it. Throws Error of kind data.
  PlanPart(AllocateRequest request, const std::string& pass);

  // predictions: a table with a column `id`. Throws Error that names the unit.
  void add(const std::string& predictions, core::RunContext& context);
  // "" where nothing was added.
  std::string to_bytes();

 private:
  AllocateRequest request_;
  allocate::PathPass pass_;
  allocate::Rules rules_;
  std::unique_ptr<allocate::Prices> prices_;
  std::unique_ptr<allocate::PassPart> found_;  // null until the first table
};

// The findings of several parts as one, whatever their order. num_arms: of the predictions.
std::string merge_parts(const std::string& pass, const std::vector<std::string>& parts, std::size_t num_arms);

// The plan of some units: `cut` is that of allocate, `multiplier` that of its plan, for the propensities of roles.
KeptPlan assign_part(const AllocateRequest& request, const std::string& cut, double multiplier,
                     core::RunContext& context);

// What the units of each role earn and spend in such a plan, as bytes, and several of those as one.
std::string sum_roles(const KeptPlan& plan);
std::string merge_roles(const std::vector<std::string>& parts);

}  // namespace dfcl::verbs

// SPDX-License-Identifier: Apache-2.0
//
// The parts of a plan's screen and JSON that are there only with a hold-out, exploration or an earlier plan.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dfcl/report/plan/plan_report.h"

namespace dfcl::report {

std::string roles_text(const LaunchFigures& launch);
// Adds `holdout`, `explore`, `roles` and `spend_elasticity`.
void add_roles(const LaunchFigures& launch, nlohmann::ordered_json& plan);

std::string change_text(const launch::PlanChange& change);
nlohmann::ordered_json change_json(const launch::PlanChange& change);

}  // namespace dfcl::report

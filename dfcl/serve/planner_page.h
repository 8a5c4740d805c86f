// SPDX-License-Identifier: Apache-2.0
//
// The page of `dfcl serve`: the bundle of web/src/planner with what is known of the units. Internal to serve.
#pragma once

#include <string>
#include <string_view>

#include "dfcl/serve/planner.h"

namespace dfcl::serve {

// Made by web/build.mjs.
std::string_view planner_template();

std::string planner_page(const PlannerFacts& facts, bool has_report);

// The content security policy that a page of ours says in its head, with what only a header can say.
std::string page_policy(std::string_view page);

}  // namespace dfcl::serve

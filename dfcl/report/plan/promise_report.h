// SPDX-License-Identifier: Apache-2.0
//
// What a plan was worth on units that the model had not seen, in words: for plans, and by spend for models.
#pragma once

#include <string>

#include "dfcl/data/evaluated_plans.h"
#include "dfcl/data/report_words.h"
#include "dfcl/launch/promise.h"

namespace dfcl::report {

// "18,600 (9,100 to 28,000)"
std::string evaluated_text(const core::Interval& interval);
// Which units: how many, and how they were not seen.
std::string unseen_text(data::UnseenUnits unseen, std::size_t num_units, bool chose_members,
                        const std::string& units = "units");

// One sentence without a full stop: "predicted +64,254; on units the model had not seen such a plan was worth ...", or
// why it is not evaluated. words: whose currency stands before money.
std::string promise_sentence(const launch::Promise& promise, const data::ReportWords& words = {});

// Of a model: value by spend, a table.
std::string evaluated_plans_text(const data::EvaluatedPlans& evaluated);

}  // namespace dfcl::report

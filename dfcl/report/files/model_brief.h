// SPDX-License-Identifier: Apache-2.0
//
// What `dfcl train` and `dfcl info` print of a model unless asked for all of it. Internal to report.
#pragma once

#include <string>

#include "dfcl/data/report_words.h"
#include "dfcl/model/model.h"

namespace dfcl::report {

std::string model_brief(const model::Model& model, const std::string& path);

// "No E-Mail (control), Mens E-Mail"
std::string model_arms_text(const model::Model& model);

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
//
// What training found out about a model (dfcl/model/training_facts.h) as text and JSON: calibration, losses on held-out
// units, how a stack was weighed, and a line where the model does not learn. Parts of model_report.h.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/model/model.h"

namespace dfcl::report {

// Name and text, as the lines of the head of a model.
std::vector<std::pair<std::string, std::string>> finding_lines(const model::Model& model);
// Remarks, and the table of the stack; "" where there is nothing to say.
std::string findings_text(const model::Model& model);
// Adds stack, mean_effect, calibration and held_out where the model has them, and remarks.
void add_findings(nlohmann::ordered_json& json, const model::Model& model);

}  // namespace dfcl::report

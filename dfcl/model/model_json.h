// SPDX-License-Identifier: Apache-2.0
//
// The parts of a model that are JSON in the metadata of its file. Internal to model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dfcl/model/model.h"

namespace dfcl::model {

struct JsonPartName {
  std::string name;
  bool is_optional;  // not every model has it
};
// arms, features, missing, known_costs, multipliers, options, trained; summaries, mean_effect, calibration, stack,
// held_out, evaluated_plans.
const std::vector<JsonPartName>& json_part_names();

// Name -> JSON.
std::map<std::string, std::string> json_parts_of(const Model& model);

// Throws Error of kind file for text that does not say what the part must.
void set_json_part(Model& model, const std::string& name, const std::string& text, const std::string& where);

}  // namespace dfcl::model

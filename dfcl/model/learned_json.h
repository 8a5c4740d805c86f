// SPDX-License-Identifier: Apache-2.0
//
// Calibration, mean effects, stack and held-out figures as JSON in model files. Internal to model. Reading throws
// nlohmann::json::exception for what is not of this form.
#pragma once

#include <nlohmann/json.hpp>

#include "dfcl/model/model.h"

namespace dfcl::model {

nlohmann::ordered_json mean_effect_json(const Model& model);
void set_mean_effect(Model& model, const nlohmann::json& value);

nlohmann::ordered_json calibration_json(const Model& model);
void set_calibration(Model& model, const nlohmann::json& value);

nlohmann::ordered_json stack_json(const Model& model);
void set_stack(Model& model, const nlohmann::json& value);

nlohmann::ordered_json held_out_json(const Model& model);
void set_held_out(Model& model, const nlohmann::json& value);

nlohmann::ordered_json evaluated_json(const Model& model);
void set_evaluated(Model& model, const nlohmann::json& value);

}  // namespace dfcl::model

// SPDX-License-Identifier: Apache-2.0
//
// The outcomes of predictors of networks as JSON in their parts of a model file. Internal to the room.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "dfcl/learn/part.h"

namespace dfcl::nn {

// All but the number of members.
nlohmann::ordered_json outcomes_json(const learn::Origin& outcomes);
// The reverse. Throws nlohmann::json::exception for what is not of this form.
learn::Origin outcomes_of(const nlohmann::json& value);

// Reads a text of the part as JSON; the file is refused where it is malformed, or `set` throws.
void read_json(const learn::PartReader& part, const std::string& name,
               const std::function<void(const nlohmann::json&)>& set);

}  // namespace dfcl::nn

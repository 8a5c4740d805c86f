// SPDX-License-Identifier: Apache-2.0
//
// Which keys of a study matter to which method: the traits of the table of keys against the table of methods.
#pragma once

#include <string>
#include <vector>

#include "dfcl/data/study_keys.h"
#include "dfcl/train/methods.h"

namespace dfcl::train {

bool has_trait(const Method& method, data::MethodTrait trait);

// Of the keys that were given ("method.alpha"), those that change nothing with this method; unknown ones are none of
// them. `auto` tries methods of every kind, so that nothing is idle with it.
std::vector<std::string> idle_keys(const std::vector<std::string>& keys, const std::string& method);

// The methods whose row has this word among its traits, as the caller would name them.
std::string methods_with(std::string_view trait);

}  // namespace dfcl::train

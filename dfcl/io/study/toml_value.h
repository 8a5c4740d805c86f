// SPDX-License-Identifier: Apache-2.0
//
// From a value in a TOML file to a value of a study's key. Internal to io.
#pragma once

#include <toml++/toml.h>

#include <string>

#include "dfcl/data/study_keys.h"

namespace dfcl::io {

// Throws Error of kind usage that names the key where the type is wrong; a value of a sweep is checked as the key it
// sweeps. A label may be written as a number. where: the place of the value.
data::KeyValue read_key_value(const toml::node& node, const data::StudyKey& key, const std::string& where);

}  // namespace dfcl::io

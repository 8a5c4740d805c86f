// SPDX-License-Identifier: Apache-2.0
//
// How the program writes what the library calls a field: `--min-roi 2` and PREDICTIONS for parts of a request, the flag
// for a key of the study that has one, else `[method] alpha`.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "dfcl/core/field.h"

namespace dfcl::cli {

using KeyFlags = std::map<std::string, std::string, std::less<>>;  // "method.alpha" -> "--alpha"

// verb: where the fields are set; may be null. Both must outlive the style.
core::FieldStyle flag_style(const CLI::App* verb, const KeyFlags& key_flags);

}  // namespace dfcl::cli

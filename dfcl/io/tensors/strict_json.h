// SPDX-License-Identifier: Apache-2.0
//
// JSON of unknown origin: nothing but one value, no key twice in an object, no deeper than asked for. Internal to
// the library. Time and memory grow with the text, which callers limit.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dfcl::io {

// Throws Error of kind file; `where` names the text.
nlohmann::json parse_strictly(std::string_view text, int most_depth, const std::string& where);

}  // namespace dfcl::io

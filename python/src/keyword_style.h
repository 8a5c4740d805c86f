// SPDX-License-Identifier: Apache-2.0
//
// How Python writes what the library calls a field: `min_roi=`, `split="test"`; a key of the study by its keyword, or
// `settings={"method.alpha": 0.5}`.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace dfcl::python {

// Key of the study -> keyword. Set once, when the package is imported.
void set_keywords(std::map<std::string, std::string> keyword_of_key);

std::string keyword_style(std::string_view field, std::string_view value);

}  // namespace dfcl::python

// SPDX-License-Identifier: Apache-2.0
//
// Names of what a caller can set, inside texts of the library. A field is a part of a request ("min_roi") or a key of
// the study ("method.alpha"). The library does not know how a caller writes it (`--min-roi 2`, `min_roi=2`), so texts
// hold a token, which the caller renders. Time and memory: the text's.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace dfcl::core {

// A token for a field, with a value where an example is to be shown. Only letters, digits, '_', '-' and '.' can be in
// the name.
std::string field_name(std::string_view field, std::string_view value = "");

// How a caller writes a field; value "" is the field alone.
using FieldStyle = std::function<std::string(std::string_view field, std::string_view value)>;

// "min_roi", "min_roi 2"; of a key of the study "[method] alpha", "[method] alpha = 2".
std::string plain_field(std::string_view field, std::string_view value);

// The text with its tokens as the style has them. Anything else that looks like a token is left alone.
std::string render_fields(std::string_view text, const FieldStyle& style);

}  // namespace dfcl::core

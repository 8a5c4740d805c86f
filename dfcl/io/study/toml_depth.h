// SPDX-License-Identifier: Apache-2.0
//
// TOML of unknown origin, looked at before the library builds it. The library bounds how deep values nest, not how many
// tables a dotted key opens, and takes a nested table apart by recursion: 40,000 dots overflow the stack. Internal to
// io. Time: one pass over the text.
#pragma once

#include <string>
#include <string_view>

namespace dfcl::io {

// Whether no key has more parts than any study's has.
bool is_shallow(std::string_view text);

// Throws Error of kind usage that names the line of such a key.
void require_shallow(std::string_view text, const std::string& where);

}  // namespace dfcl::io

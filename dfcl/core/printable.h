// SPDX-License-Identifier: Apache-2.0
//
// Text of unknown origin made safe to show: control characters and bytes that are not UTF-8 become '?', so that no
// input can drive the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dfcl::core {

std::string printable(std::string_view text);

// At most the first `most` bytes of it, then "...".
std::string printable_start(std::string_view text, std::size_t most);

}  // namespace dfcl::core

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

// Whether every byte belongs to a character of UTF-8.
bool is_utf8(std::string_view text);

// What a message shows of a name that came with an input.
inline constexpr std::size_t kMostNameBytes = 60;

// At most the first `most` bytes of it, then "...".
std::string printable_start(std::string_view text, std::size_t most = kMostNameBytes);

}  // namespace dfcl::core

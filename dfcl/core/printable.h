// SPDX-License-Identifier: Apache-2.0
//
// Text of unknown origin made safe to show: control characters and bytes that are not UTF-8 become '?', so that no
// input can drive the terminal.
#pragma once

#include <string>
#include <string_view>

namespace dfcl::core {

std::string printable(std::string_view text);

}  // namespace dfcl::core

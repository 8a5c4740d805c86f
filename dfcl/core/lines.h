// SPDX-License-Identifier: Apache-2.0
//
// The lines of a text, without their ends. Takes as much memory as the text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace dfcl::core {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace dfcl::core

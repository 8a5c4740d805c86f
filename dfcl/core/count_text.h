// SPDX-License-Identifier: Apache-2.0
//
// Counts as people read them: 1,234,567.
#pragma once

#include <cstddef>
#include <string>

namespace dfcl::core {

inline std::string count_text(std::size_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// "1 tree", "2,000 trees".
inline std::string plural(std::size_t count, const std::string& one, const std::string& many) {
  return count_text(count) + " " + (count == 1 ? one : many);
}

}  // namespace dfcl::core

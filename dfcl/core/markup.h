// SPDX-License-Identifier: Apache-2.0
//
// Text as it stands in HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace dfcl::core {

inline std::string markup_safe(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += letter;
    }
  }
  return safe;
}

}  // namespace dfcl::core

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/printable.h"

#include <cstddef>

namespace dfcl::core {
namespace {

// The length of the UTF-8 character that starts here, or 0 where there is none.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  // Longer forms than needed, and halves of UTF-16 pairs, are no characters either.
  const auto second = static_cast<unsigned char>(length > 1 ? text[1] : 0);
  const bool too_long = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool too_high = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
  return too_long || too_high ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const bool control = static_cast<unsigned char>(text.front()) < 0x20 || text.front() == 0x7f;
    if (length == 0 || control) {
      shown += '?';
    } else {
      shown += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable_start(std::string_view text, std::size_t most) {
  if (text.size() <= most) return printable(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;  // not inside a character
  return printable(text.substr(0, most)) + "...";
}

}  // namespace dfcl::core

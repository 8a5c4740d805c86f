// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/field.h"

#include <algorithm>

namespace dfcl::core {
namespace {

// STX, US and ETX: in no text that people write, and no harm where an input has them (render_fields checks the name).
constexpr char kBegin = '\x02';
constexpr char kValue = '\x1f';
constexpr char kEnd = '\x03';
constexpr std::size_t kMostLetters = 200;

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '-' || letter == '.';
  });
}

}  // namespace

std::string field_name(std::string_view field, std::string_view value) {
  std::string token(1, kBegin);
  token += field;
  if (!value.empty()) token.append(1, kValue).append(value);
  return token + kEnd;
}

std::string plain_field(std::string_view field, std::string_view value) {
  const std::size_t dot = field.find('.');
  if (dot == std::string_view::npos) return std::string(field) + (value.empty() ? "" : " ") + std::string(value);
  const std::string key = "[" + std::string(field.substr(0, dot)) + "] " + std::string(field.substr(dot + 1));
  return key + (value.empty() ? "" : " = ") + std::string(value);
}

std::string render_fields(std::string_view text, const FieldStyle& style) {
  std::string rendered;
  while (!text.empty()) {
    const std::size_t begin = text.find(kBegin);
    rendered += text.substr(0, begin);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t end = text.substr(0, kMostLetters).find(kEnd);
    const std::string_view inside = end == std::string_view::npos ? "" : text.substr(1, end - 1);
    const std::size_t value = inside.find(kValue);
    if (is_name(inside.substr(0, value))) {
      rendered += style(inside.substr(0, value),
                        value == std::string_view::npos ? std::string_view() : inside.substr(value + 1));
      text.remove_prefix(end + 1);
    } else {
      rendered += kBegin;
      text.remove_prefix(1);
    }
  }
  return rendered;
}

}  // namespace dfcl::core

// SPDX-License-Identifier: Apache-2.0
#include "keyword_style.h"

#include <cstdlib>
#include <utility>

namespace dfcl::python {
namespace {

std::map<std::string, std::string>& keywords() {
  static std::map<std::string, std::string> keyword_of_key;
  return keyword_of_key;
}

// A number or a list as it stands, words in quotes.
std::string literal(std::string_view value) {
  const std::string text(value);
  if (text == "true") return "True";
  if (text == "false") return "False";
  char* end = nullptr;
  (void)std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && *end == '\0';
  return is_number || text.find_first_of("[{\"") == 0 ? text : "\"" + text + "\"";
}

}  // namespace

void set_keywords(std::map<std::string, std::string> keyword_of_key) { keywords() = std::move(keyword_of_key); }

std::string keyword_style(std::string_view field, std::string_view value) {
  const std::string name(field);
  const auto keyword = keywords().find(name);
  const bool is_key = name.find('.') != std::string::npos;
  if (is_key && keyword == keywords().end())
    return "settings={\"" + name + "\": " + (value.empty() ? "..." : literal(value)) + "}";
  return (keyword == keywords().end() ? name : keyword->second) + "=" + (value.empty() ? "" : literal(value));
}

}  // namespace dfcl::python

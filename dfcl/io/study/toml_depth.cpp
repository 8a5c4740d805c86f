// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/study/toml_depth.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error_makers.h"

namespace dfcl::io {
namespace {

constexpr int kMostParts = 8;  // a study's keys have two

// The place after the string that begins at `at` with the quote, as TOML ends it: a line end ends one of a single line
// too, as no key or value goes on there.
std::size_t string_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool has_escapes = quote == '"';
  const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
  const bool is_long = text.substr(at).starts_with(three);
  for (at += is_long ? 3 : 1; at < text.size(); ++at) {
    if (has_escapes && text[at] == '\\') {
      ++at;
    } else if (!is_long && (text[at] == quote || text[at] == '\n')) {
      return at + 1;
    } else if (is_long && text.substr(at).starts_with(three)) {
      // Up to two quotes before the three that end it belong to the string.
      at += 3;
      for (int more = 0; more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
      return at;
    }
  }
  return text.size();
}

// Where a key becomes too long; npos: nowhere.
std::size_t find_deep_key(std::string_view text) {
  constexpr std::string_view kEnds = "=,[]{}\n";  // of a key
  int parts = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char letter = text[at];
    if (letter == '"' || letter == '\'') {
      at = string_end(text, at);
      continue;
    }
    if (letter == '#') {
      at = std::min(text.size(), text.find('\n', at));
      continue;
    }
    if (kEnds.find(letter) != std::string_view::npos) parts = 1;
    if (letter == '.' && ++parts > kMostParts) return at;
    ++at;
  }
  return std::string_view::npos;
}

}  // namespace

bool is_shallow(std::string_view text) { return find_deep_key(text) == std::string_view::npos; }

void require_shallow(std::string_view text, const std::string& where) {
  const std::size_t at = find_deep_key(text);
  if (at == std::string_view::npos) return;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  throw core::usage_error(fmt::format("{}:{}", where, line), "not a study file",
                          fmt::format("a key of more than {} parts", kMostParts), "section.key");
}

}  // namespace dfcl::io

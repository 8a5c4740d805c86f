// SPDX-License-Identifier: Apache-2.0
//
// Enums as the words users type: one way to read them, to write them and to list them. An enum declares its words
// beside itself, in the order of its values, which count from 0:
//   template <>
//   inline constexpr std::array<std::string_view, 2> core::kWords<Colour> = {"red", "green"};
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/suggest.h"

namespace dfcl::core {

template <class Enum>
inline constexpr std::array<std::string_view, 0> kWords = {};

template <class Enum>
constexpr std::string_view to_word(Enum value) {
  return kWords<Enum>[static_cast<std::size_t>(value)];
}

template <class Enum>
std::vector<std::string> all_words() {
  return {kWords<Enum>.begin(), kWords<Enum>.end()};
}

// Throws Error of kind usage that names the field, the choices and the word that was probably meant.
template <class Enum>
Enum parse_word(std::string_view word, std::string_view field) {
  static_assert(!kWords<Enum>.empty(), "the enum declares no words");
  for (std::size_t i = 0; i < kWords<Enum>.size(); ++i) {
    if (kWords<Enum>[i] == word) return static_cast<Enum>(i);
  }
  const std::vector<std::string> words = all_words<Enum>();
  std::string choices;
  for (const std::string& choice : words) choices += (choices.empty() ? "" : ", ") + choice;
  const std::string nearest = nearest_name(word, words);
  throw field_error(std::string(field), "unknown word", "'" + std::string(word) + "'", "one of " + choices,
                    nearest.empty() ? "" : "did you mean '" + nearest + "'?");
}

}  // namespace dfcl::core

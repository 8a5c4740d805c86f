// SPDX-License-Identifier: Apache-2.0
//
// Facts about outcomes, and their scales, as JSON in model files. Internal to the library. Reading throws
// nlohmann::json::exception for what is not of this form; callers turn it into an error that names the file.
#pragma once

#include <nlohmann/json.hpp>

#include "dfcl/learn/outcome_facts.h"

namespace dfcl::learn {

nlohmann::ordered_json facts_json(const OutcomeFacts& facts);
OutcomeFacts facts_of(const nlohmann::json& value);

nlohmann::ordered_json facts_json(const Facts& facts);
Facts both_facts_of(const nlohmann::json& value);

// A whole number that is not negative.
std::size_t size_of(const nlohmann::json& value);

// The place of a word among those that stand for an enumeration.
template <class Enum, std::size_t N>
Enum enum_of(const nlohmann::json& value, const char* const (&words)[N]) {
  const auto& word = value.get_ref<const std::string&>();
  for (std::size_t i = 0; i < N; ++i) {
    if (word == words[i]) return static_cast<Enum>(i);
  }
  throw nlohmann::json::other_error::create(501, "unknown word", nullptr);
}

// In the words of files, so that enumerations may be renumbered.
const char* kind_word(loss::OutcomeKind kind);
const char* shape_word(ArmShape shape);

}  // namespace dfcl::learn

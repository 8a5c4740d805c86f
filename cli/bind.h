// SPDX-License-Identifier: Apache-2.0
//
// Options that fill the fields of a request. The request must live as long as the session. What a value may be is for
// the verb to say, not for the option.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>

#include "dfcl/core/words.h"
#include "dfcl/verbs/model_input.h"

namespace dfcl::cli {

// "min_roi" of "--min-roi", "output" of "-o,--output".
inline std::string field_of_flag(const std::string& names) {
  std::string field = names.substr(names.find("--") + 2);
  std::replace(field.begin(), field.end(), '-', '_');
  return field;
}

template <class Value>
CLI::Option* add_field(CLI::App& verb, const std::string& names, std::optional<Value>& field,
                       const std::string& meaning) {
  return verb.add_option_function<Value>(
      names, [&field](const Value& value) { field = value; }, meaning);
}

// A field with a few words; `field` is the enum or an optional of it. Help shows the words.
template <class Enum, class Field>
CLI::Option* add_word(CLI::App& verb, const std::string& flag, Field& field, const std::string& meaning) {
  std::string words;
  for (const std::string_view word : core::kWords<Enum>) words.append(words.empty() ? "" : "|").append(word);
  return verb
      .add_option_function<std::string>(
          flag,
          [&field, name = field_of_flag(flag)](const std::string& word) { field = core::parse_word<Enum>(word, name); },
          meaning)
      ->check(CLI::Validator([](const std::string&) { return std::string(); }, words));
}

// A limit on memory. how: what the verb does to keep it.
inline void add_memory(CLI::App& verb, std::optional<std::string>& field, const std::string& how) {
  add_field(verb, "--memory", field,
            "use at most about this much memory: 500MB, 2GB, 1.5GiB\nWhere that is too little it " + how +
                ", or refuses before it begins.\nThe result is the same.");
}

// A model or predictions, by path.
inline CLI::Option* add_model(CLI::App& verb, const std::string& flag, std::optional<verbs::ModelInput>& field,
                              const std::string& meaning) {
  return verb.add_option_function<std::string>(
      flag, [&field](const std::string& path) { field = verbs::ModelInput{.path = path}; }, meaning);
}

// Where networks are trained. On the command line a card is used where there is one.
inline void add_device(CLI::App& verb, std::string& device, std::string& precision) {
  device = "auto";
  verb.add_option("--device", device,
                  "where networks are trained: auto, cpu or cuda\nauto: on a graphics card where this build and this "
                  "machine have one. Its results differ slightly from the processor's, and repeat exactly on one kind "
                  "of card.");
  verb.add_option("--precision", precision,
                  "number format of matrix products on a graphics card: tf32, fp32 or bf16\ntf32 has 10 bits after the "
                  "point, fp32 23, bf16 7 (fastest). Default: tf32.");
}

}  // namespace dfcl::cli

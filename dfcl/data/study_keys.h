// SPDX-License-Identifier: Apache-2.0
//
// The one table of a study's keys. For each: its type, range or choices, default, the methods it matters to, the flags
// and the keyword of Python that set it, and its sentence. Reading, `--set`, flags, Python, the identity of a run, the
// remarks on settings that do nothing and docs/study.md all come from here. A new key is its field in data/study.h and
// one entry in study_key_table.cpp. No TOML here: io/study reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dfcl/data/study.h"

namespace dfcl::data {

// The order is that of KeyValue's alternatives.
enum class KeyType : std::uint8_t { truth, whole, number, text, wholes, numbers, texts, table };

using KeyValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                              std::vector<std::string>, std::map<std::string, double>>;

// What a method must have for a key to matter to it. The table of methods (train/methods.h) says which has what.
enum class MethodTrait : std::uint8_t {
  any,
  decision,     // a decision loss joins the prediction loss
  temperature,  // whose smoothing is a temperature
  window,       // whose smoothing is a window
  members,      // networks that are averaged
  forest,       // a forest is grown
  boost,        // trees are boosted
  stack,        // methods are stacked
};

// Of a number, or of each number in a list or table.
struct KeyRange {
  std::optional<double> least = {};
  std::optional<double> most = {};
  bool above_least = false;  // least itself is out of range

  bool holds(double value) const;
  std::string text() const;  // "1 to 100,000", "above 0"; "": any number
};

struct KeyFlag {
  std::string verb;  // "train"
  std::string flag;  // "--epochs"
};

struct StudyKey {
  std::string section;  // "": above all sections
  std::string name;
  KeyType type = KeyType::text;
  std::string meaning;                    // one sentence, or a few
  std::string unset = {};                 // what is done where the key has no value: "chosen from their number"
  KeyRange range = {};                    //
  std::vector<std::string> choices = {};  // of a text, of each text in a list, of the names in a table
  bool may_be_empty = false;              // a text
  MethodTrait trait = MethodTrait::any;
  bool trains = true;  // can change what is trained
  std::vector<KeyFlag> flags = {};
  std::string keyword = {};  // of Python's Study; "": none
  // Version 0.1 had no way to leave a number open but this value, or where it is negative any negative one.
  std::optional<double> unset_in_format_1 = {};
  const StudyKey* swept = nullptr;  // a key of [sweep]: its values are a list of values of this one, as TOML

  // None where the study leaves the key open; a list may be empty.
  std::function<std::optional<KeyValue>(const Study&)> get;
  // Unchecked. None: its default.
  std::function<void(Study&, std::optional<KeyValue>)> set;
  bool is_optional = false;  // a study may leave it open

  std::string full_name() const { return section.empty() ? name : section + "." + name; }
  std::string shown_name() const { return section.empty() ? name : "[" + section + "] " + name; }
};

// The most units of one layer of a network.
inline constexpr std::int64_t kMostLayerWidth = 8192;
// Of networks for tables.
inline constexpr std::int64_t kMostNetworkMembers = 64;
inline constexpr std::int64_t kMostNumberBins = 256;

// Every key there is, in the order of docs/study.md.
const std::vector<StudyKey>& study_keys();

// Throws Error of kind usage with "did you mean". full_name: "section.key".
const StudyKey& find_study_key(const std::string& section, const std::string& name, const std::string& where);
const StudyKey& find_study_key(const std::string& full_name);

// Sets a key after checking its range and choices. Throws Error of kind usage that names the key, the value and what
// was expected.
void set_study_key(Study& study, const StudyKey& key, KeyValue value, const std::string& where);

// A value as TOML writes it.
std::string value_text(const KeyValue& value);
// The value of a key as TOML writes it; "" where it has none.
std::string value_text(const Study& study, const StudyKey& key);
bool is_set(const Study& study, const StudyKey& key);  // to another value than its default

// "whole number", and "whole number, 1 to 100,000".
std::string type_name(const StudyKey& key);
std::string type_text(const StudyKey& key);

// What can change what is trained: "section.key" and its value, of the keys that are set, in the order of the table.
// Two studies with the same list train the same model of the same trial.
std::vector<std::pair<std::string, std::string>> training_identity(const Study& study);

// The first key that can change what is trained in which two studies differ, with both values: "[method] alpha was 0.5,
// and is 1.0 now"; "" where none does.
std::string training_difference(const Study& before, const Study& now);

// docs/study.md: every key, its type, its default and what it means.
std::string study_reference();

}  // namespace dfcl::data

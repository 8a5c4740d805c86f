// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/study_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/suggest.h"

namespace dfcl::data {
namespace {

// 100000 -> "100,000".
std::string grouped(double value) {
  std::string text = fmt::format("{}", value);
  if (value != std::floor(value) || std::abs(value) < 1000.0 || std::abs(value) >= 1e15) return text;
  for (auto place = static_cast<std::ptrdiff_t>(text.size()) - 3; place > (value < 0.0 ? 1 : 0); place -= 3)
    text.insert(static_cast<std::size_t>(place), ",");
  return text;
}

std::string list_text(const std::vector<std::string>& parts) { return fmt::format("[{}]", fmt::join(parts, ", ")); }

template <class T>
std::vector<std::string> texts_of(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T& value : values) texts.push_back(value_text(KeyValue(value)));
  return texts;
}

std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') text += '\\';
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
      text += fmt::format("\\u{:04x}", static_cast<int>(letter));
    } else {
      text += letter;
    }
  }
  return text + '"';
}

const char* type_name(KeyType type) {
  switch (type) {
    case KeyType::truth: return "true/false";
    case KeyType::whole: return "whole number";
    case KeyType::number: return "number";
    case KeyType::text: return "text";
    case KeyType::wholes: return "list of whole numbers";
    case KeyType::numbers: return "list of numbers";
    case KeyType::texts: return "list of texts";
    case KeyType::table: return "table of numbers";
  }
  return "";
}

std::string sweep_type(const StudyKey& swept) {
  const std::string type = type_name(swept.type);
  if (type.starts_with("list of ")) return "list of lists of " + type.substr(8);
  return type == "true/false" ? "list of true/false" : "list of " + type + "s";
}

std::string choices_text(const std::vector<std::string>& choices) {
  if (choices.size() == 1) return choices.front();
  return fmt::format("{} or {}", fmt::join(choices.begin(), choices.end() - 1, ", "), choices.back());
}

// Checks one value; throws what is wrong with it.
class Checker {
 public:
  Checker(const StudyKey& key, const std::string& where) : key_(key), where_(where) {}

  void operator()(bool) const {}
  void operator()(std::int64_t value) const { check_number(static_cast<double>(value)); }
  void operator()(double value) const { check_number(value); }
  void operator()(const std::string& value) const {
    if (value.empty() && !key_.may_be_empty) throw error("an empty text", "''", "a text");
    check_choice(value);
  }
  template <class T>
  void operator()(const std::vector<T>& values) const {
    for (const T& value : values) (*this)(value);
  }
  void operator()(const std::map<std::string, double>& values) const {
    for (const auto& [name, value] : values) {
      check_choice(name);
      check_number(value);
    }
  }

 private:
  core::Error error(std::string what, std::string found, std::string expected, std::string hint = "") const {
    if (hint.empty() && key_.is_optional && key_.type != KeyType::text)
      hint = fmt::format("leave it out: {}", key_.unset.empty() ? "it has no default" : key_.unset);
    return core::usage_error(where_, std::move(what), std::move(found), std::move(expected), std::move(hint),
                             key_.full_name());
  }
  void check_number(double value) const {
    if (!std::isfinite(value)) throw error("not a number", fmt::format("{}", value), "a finite number");
    if (!key_.range.holds(value)) throw error("out of range", fmt::format("{}", value), key_.range.text());
  }
  void check_choice(const std::string& value) const {
    if (key_.choices.empty() || std::find(key_.choices.begin(), key_.choices.end(), value) != key_.choices.end())
      return;
    const std::string nearest = core::nearest_name(value, key_.choices);
    throw error("unknown value", fmt::format("'{}'", value), choices_text(key_.choices),
                nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
  }

  const StudyKey& key_;
  const std::string& where_;
};

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const StudyKey& key : study_keys()) {
    if (!key.section.empty() && (names.empty() || names.back() != key.section)) names.push_back(key.section);
  }
  return names;
}

std::string trait_text(MethodTrait trait) {
  switch (trait) {
    case MethodTrait::decision: return "methods with a decision loss";
    case MethodTrait::temperature: return "methods with a temperature";
    case MethodTrait::window: return "methods with a window";
    case MethodTrait::members: return "methods that average networks";
    case MethodTrait::forest: return "forests";
    case MethodTrait::boost: return "boosted trees";
    case MethodTrait::stack: return "`auto`";
    case MethodTrait::any: break;
  }
  return "";
}

std::string default_text(const StudyKey& key) {
  if (!key.unset.empty()) return key.unset;
  const std::string text = value_text(Study(), key);
  return text.empty() || text == "\"\"" ? "none" : fmt::format("`{}`", text);
}

}  // namespace

bool KeyRange::holds(double value) const {
  if (least && (value < *least || (above_least && value == *least))) return false;
  return !most || value <= *most;
}

std::string KeyRange::text() const {
  if (least && most && *least == *most) return grouped(*least);
  if (above_least) {
    const std::string above = fmt::format("above {}", grouped(*least));
    return most ? fmt::format("{}, at most {}", above, grouped(*most)) : above;
  }
  if (least && most) return fmt::format("{} to {}", grouped(*least), grouped(*most));
  if (least) return fmt::format("{} or more", grouped(*least));
  return most ? fmt::format("at most {}", grouped(*most)) : "";
}

const StudyKey& find_study_key(const std::string& section, const std::string& name, const std::string& where) {
  const std::vector<std::string> sections = section_names();
  if (!section.empty() && std::find(sections.begin(), sections.end(), section) == sections.end())
    throw core::usage_error(where, fmt::format("unknown section [{}]", section), "", "",
                            core::suggest(section, sections));
  std::vector<std::string> names;
  for (const StudyKey& key : study_keys()) {
    if (key.section == section && key.name == name) return key;
    if (key.section == section) names.push_back(key.name);
  }
  if (section.empty())
    throw core::usage_error(where, fmt::format("key '{}' outside a section", name), "", "",
                            "put it under [data], [columns], ...");
  throw core::usage_error(where, fmt::format("unknown key '{}' in [{}]", name, section), "", "",
                          core::suggest(name, names));
}

const StudyKey& find_study_key(const std::string& full_name) {
  const std::size_t dot = full_name.find('.');
  if (dot == std::string::npos) return find_study_key("", full_name, full_name);
  return find_study_key(full_name.substr(0, dot), full_name.substr(dot + 1), full_name);
}

void set_study_key(Study& study, const StudyKey& key, KeyValue value, const std::string& where) {
  if (key.swept == nullptr) std::visit(Checker(key, where), value);  // a sweep's values are checked one by one
  key.set(study, std::move(value));
}

std::string value_text(const KeyValue& value) {
  struct Text {
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const {
      const std::string text = fmt::format("{}", number);
      return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
    }
    std::string operator()(const std::string& text) const { return quoted(text); }
    std::string operator()(const std::vector<std::int64_t>& list) const { return list_text(texts_of(list)); }
    std::string operator()(const std::vector<double>& list) const { return list_text(texts_of(list)); }
    std::string operator()(const std::vector<std::string>& list) const { return list_text(texts_of(list)); }
    std::string operator()(const std::map<std::string, double>& table) const {
      if (table.empty()) return "{}";
      std::vector<std::string> entries;
      for (const auto& [name, number] : table) entries.push_back(fmt::format("{} = {}", quoted(name), (*this)(number)));
      return fmt::format("{{ {} }}", fmt::join(entries, ", "));
    }
  };
  return std::visit(Text(), value);
}

std::string value_text(const Study& study, const StudyKey& key) {
  const std::optional<KeyValue> value = key.get(study);
  if (!value) return "";
  return key.swept != nullptr ? list_text(std::get<std::vector<std::string>>(*value)) : value_text(*value);
}

bool is_set(const Study& study, const StudyKey& key) { return key.get(study) != key.get(Study()); }

std::string type_name(const StudyKey& key) {
  return key.swept != nullptr ? sweep_type(*key.swept) : type_name(key.type);
}

std::string type_text(const StudyKey& key) {
  std::string text = type_name(key);
  if (key.swept != nullptr) return text;
  if (!key.choices.empty()) text += fmt::format(": {}", choices_text(key.choices));
  const std::string range = key.range.text();
  return range.empty() ? text : text + ", " + range;
}

std::vector<std::pair<std::string, std::string>> training_identity(const Study& study) {
  std::vector<std::pair<std::string, std::string>> identity;
  for (const StudyKey& key : study_keys()) {
    if (key.trains && is_set(study, key)) identity.emplace_back(key.full_name(), value_text(study, key));
  }
  return identity;
}

std::string training_difference(const Study& before, const Study& now) {
  const auto shown = [](const Study& study, const StudyKey& key) {
    const std::string text = value_text(study, key);
    return text.empty() ? std::string("not set") : text;
  };
  for (const StudyKey& key : study_keys()) {
    if (key.trains && key.get(before) != key.get(now))
      return fmt::format("{} was {}, and is {} now", key.shown_name(), shown(before, key), shown(now, key));
  }
  return "";
}

std::string study_reference() {
  std::string text =
      "# The study file\n\n"
      "One TOML file says what a trial's columns mean. `dfcl init TRIAL -o study.toml` writes a first one. Any key can "
      "be\n"
      "overridden on the command line with `--set section.key=value`, and `--set section.key=` unsets an optional "
      "one.\n"
      "Unknown keys are errors.\n\n"
      "This page is printed by `dfcl info --study-keys`; a test compares the two.\n\n"
      "| key | type | default | meaning |\n|---|---|---|---|\n";
  std::string section;
  for (const StudyKey& key : study_keys()) {
    if (key.section != section) {
      section = key.section;
      text += fmt::format("\n## [{}]\n\n| key | type | default | meaning |\n|---|---|---|---|\n", section);
    }
    text += fmt::format("| `{}` | {} | {} | {}", key.name, type_text(key), default_text(key), key.meaning);
    if (key.trait != MethodTrait::any) text += fmt::format(" For {}.", trait_text(key.trait));
    if (!key.flags.empty()) text += fmt::format(" Flag `{}`.", key.flags.front().flag);
    text += " |\n";
  }
  return text;
}

}  // namespace dfcl::data

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/study/study_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <variant>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/file_calls.h"
#include "dfcl/data/splits.h"
#include "dfcl/data/study_check.h"
#include "dfcl/data/study_keys.h"
#include "dfcl/io/study/toml_depth.h"
#include "dfcl/io/study/toml_value.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/column_values.h"

namespace dfcl::io {
namespace {

using data::Study;

constexpr std::size_t kMostStudyBytes = std::size_t{1} << 20;

std::string place(const std::string& path, const toml::node& node) {
  return node.source().begin.line == 0 ? path : fmt::format("{}:{}", path, node.source().begin.line);
}

// Version 0.1 left keys open by values that mean nothing now: 0, -1, "".
bool leaves_open_in_format_1(const data::StudyKey& key, const data::KeyValue& value) {
  if (!key.is_optional) return false;
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
  if (!key.unset_in_format_1) return false;
  const auto* whole = std::get_if<std::int64_t>(&value);
  const double number = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
  return *key.unset_in_format_1 < 0.0 ? number < 0.0 : number == *key.unset_in_format_1;
}

void set_key(const toml::node& node, const data::StudyKey& key, const std::string& where, Study& study) {
  data::KeyValue value = read_key_value(node, key, where);
  if (study.format == 1 && leaves_open_in_format_1(key, value)) {
    key.set(study, std::nullopt);
  } else {
    data::set_study_key(study, key, std::move(value), where);
  }
}

// The key of "section.key=value". Errors name the field "set", where settings come from the caller.
const data::StudyKey& key_of_override(const std::string& text, const std::string& given) {
  const std::string where = given.empty() ? "" : fmt::format("{} {}", given, text);
  const std::size_t equals = text.find('=');
  const std::string name(trim(std::string_view(text).substr(0, equals)));
  const std::size_t dot = name.find('.');
  try {
    if (equals == std::string::npos || (dot == std::string::npos && name != "format"))
      throw core::usage_error(where, "cannot read the setting", "", "section.key=value, for example split.train=0.7");
    if (dot == std::string::npos) return data::find_study_key("", name, where);
    return data::find_study_key(std::string(trim(std::string_view(name).substr(0, dot))),
                                std::string(trim(std::string_view(name).substr(dot + 1))), where);
  } catch (const core::Error& error) {
    core::ErrorDetails details = error.details();
    if (given.empty()) {
      details.field = "set";
      details.found = fmt::format("'{}'", text);
    }
    throw core::Error(std::move(details));
  }
}

// given: where the setting stands; "": the caller knows.
void apply_override(const std::string& text, const std::string& given, Study& study) {
  const data::StudyKey& key = key_of_override(text, given);
  const std::size_t equals = text.find('=');
  const std::string value = text.substr(equals + 1);
  if (key.is_optional && trim(value).empty()) {
    key.set(study, std::nullopt);
    return;
  }
  std::optional<toml::table> parsed;
  try {
    if (is_shallow(value)) parsed = toml::parse("value = " + value);
  } catch (const toml::parse_error&) {  // a bare word is a text
  }
  if (parsed && parsed->size() == 1) {
    set_key(*parsed->get("value"), key, given, study);
  } else {
    set_key(toml::value<std::string>(value), key, given, study);
  }
}

// What keys say together; a key that an override has set does not stand in the file.
void check_together(const Study& study, const std::string& path, bool needs_trial,
                    const std::vector<std::string>& overrides) {
  try {
    data::check_study(study, path, needs_trial);
  } catch (const core::Error& error) {
    core::ErrorDetails details = error.details();
    const bool is_overridden = std::any_of(overrides.begin(), overrides.end(), [&](const std::string& text) {
      return trim(std::string_view(text).substr(0, text.find('='))) == details.field;
    });
    if (is_overridden) details.where.clear();
    throw core::Error(std::move(details));
  }
}

// A trial in the study's place is told from a study by its first bytes.
void require_study_file(const std::string& path, std::string_view head) {
  const bool is_text = std::none_of(head.begin(), head.end(), [](unsigned char letter) {
    return letter < 32 && letter != '\n' && letter != '\r' && letter != '\t';
  });
  const std::string ending = std::filesystem::path(path).extension().string();
  if (is_text && ending != ".csv") return;
  throw core::usage_error(path, "not a study file", "", "TOML that says what the columns of a trial mean",
                          fmt::format("`dfcl init {} -o study.toml` writes a first one for a trial", path));
}

// A pipe can be read once only. A trial is larger than any study: its first bytes are enough to say so.
std::string read_study_text(const std::string& path) {
  constexpr std::size_t kHead = 64;
  std::error_code absent;
  const bool is_long =
      std::filesystem::is_regular_file(path, absent) && std::filesystem::file_size(path, absent) > kMostStudyBytes;
  if (is_long) {
    const core::Descriptor file = core::open_file(path, O_RDONLY);
    char head[kHead];
    const ssize_t got = file ? core::read_some(file.number(), head, kHead) : 0;
    require_study_file(path, {head, static_cast<std::size_t>(std::max<ssize_t>(0, got))});
  }
  std::string text = read_text_file(path, kMostStudyBytes);
  require_study_file(path, std::string_view(text).substr(0, kHead));
  return text;
}

}  // namespace

Study read_study(const std::string& path, const std::vector<std::string>& overrides, bool needs_trial) {
  const std::string text = read_study_text(path);
  Study study = parse_study(text, path, std::filesystem::path(path).parent_path().string(), overrides, needs_trial);
  study.file = path;
  return study;
}

Study parse_study(const std::string& text, const std::string& path, const std::string& folder,
                  const std::vector<std::string>& overrides, bool needs_trial) {
  Study study;
  study.folder = folder;
  toml::table file;
  try {
    require_shallow(text, path);
    file = toml::parse(text, path);
  } catch (const toml::parse_error& failure) {
    throw core::usage_error(fmt::format("{}:{}", path, failure.source().begin.line), "not a study file",
                            fmt::format("'{}'", failure.description()), "TOML");
  }
  if (!file.contains("format")) study.format = 1;
  for (const auto& [section, node] : file) {
    const std::string name(section.str());
    const auto* table = node.as_table();
    if (table == nullptr) {
      const data::StudyKey& key = data::find_study_key("", name, place(path, node));
      set_key(node, key, place(path, node), study);
      continue;
    }
    for (const auto& [key_name, value] : *table) {
      const std::string where = place(path, value);
      set_key(value, data::find_study_key(name, std::string(key_name.str()), where), where, study);
    }
  }
  for (const std::string& text_override : overrides) apply_override(text_override, "", study);
  check_together(study, path, needs_trial, overrides);
  if (study.data.test) study.split = data::without_test(study.split);
  return study;
}

Study with_settings(Study study, const std::vector<std::string>& settings, const std::string& where) {
  for (const std::string& setting : settings) apply_override(setting, where, study);
  data::check_study(study, where, false);
  if (study.data.test) study.split = data::without_test(study.split);
  return study;
}

namespace {

// Beside the line, or above it where the remark has several lines.
std::string with_remark(const std::string& line, const std::string& remark) {
  if (remark.find('\n') == std::string::npos) return fmt::format("{}  # {}\n", line, remark);
  std::string text = "# ";
  for (const char letter : remark) text += letter == '\n' ? std::string("\n#   ") : std::string(1, letter);
  return fmt::format("{}\n{}\n", text, line);
}

}  // namespace

std::string study_text(const Study& study, const std::map<std::string, std::string>& remarks) {
  std::string text = study.format == 2 ? "format = 2\n" : "";
  text += "# A study: what the columns of a trial mean. Every key is described in docs/study.md.\n";
  std::string section;
  for (const data::StudyKey& key : data::study_keys()) {
    if (key.section.empty()) continue;
    const auto remark = remarks.find(key.full_name());
    const bool is_set = data::is_set(study, key);
    if (!is_set && remark == remarks.end()) continue;
    if (key.section != section) {
      section = key.section;
      text += fmt::format("\n[{}]\n", section);
    }
    const std::string value = data::value_text(study, key);
    const std::string line = fmt::format("{}{} = {}", is_set ? "" : "# ", key.name, value.empty() ? "\"\"" : value);
    text += remark == remarks.end() ? line + "\n" : with_remark(line, remark->second);
  }
  return text;
}

}  // namespace dfcl::io

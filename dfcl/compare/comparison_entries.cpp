// SPDX-License-Identifier: Apache-2.0
#include "dfcl/compare/comparison_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/suggest.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/train/method_traits.h"
#include "dfcl/train/methods.h"

namespace dfcl::compare {
namespace {

// Sections that change how a model is trained, and nothing else.
constexpr std::array<const char*, 6> kTrainingSections = {"method", "network", "forest", "boost", "cost", "budgets"};

// File systems take 255, and a seed and an ending are added.
constexpr std::size_t kMostFileLetters = 180;

// One alternative: a value of a key of [method], or settings.
struct Alternative {
  std::string swept;
  std::string value;
  std::string title;
  std::vector<std::string> settings;
  std::string only = {};  // the method it is for; "": all that use it
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// "section.key" of "section.key=value".
std::string setting_key(const std::string& setting) { return trimmed(setting.substr(0, setting.find('='))); }

// TOML as people would say it: no quotes, 1 instead of 1.0.
std::string plain(const std::string& toml) {
  std::string text;
  for (std::size_t i = 0; i < toml.size(); ++i) {
    if (toml[i] == '"') continue;
    const bool ends_number = i + 2 >= toml.size() || toml[i + 2] == ',' || toml[i + 2] == ']';
    if (toml.compare(i, 2, ".0") == 0 && ends_number) {
      ++i;
      continue;
    }
    text += toml[i];
  }
  return text;
}

// Whether a method uses a key. `auto` chooses among methods and takes all; its forest is grown as the study says.
bool uses(const std::string& key, const std::optional<train::Method>& method) {
  const data::MethodTrait trait = data::find_study_key(key).trait;
  return method ? train::has_trait(*method, trait) : trait != data::MethodTrait::forest;
}

std::vector<std::string> known_methods() {
  std::vector<std::string> names;
  for (const train::Method& method : train::all_methods()) names.emplace_back(method.name);
  names.emplace_back("auto");
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// None for `auto`, which chooses among methods.
std::optional<train::Method> method_named(const std::string& name) {
  const std::vector<std::string> known = known_methods();
  if (!contains(known, name))
    throw core::field_error("compare.methods", fmt::format("unknown method '{}'", name), "", "",
                            core::suggest(name, known));
  if (name == "auto") return std::nullopt;
  return train::find_method(name);
}

// "dfcl-pl rising: ..." is for dfcl-pl alone and called "rising" there.
void keep_to_method(Alternative& alternative, const std::vector<std::string>& methods) {
  const std::size_t blank = alternative.title.find(' ');
  const std::string first = alternative.title.substr(0, blank);
  if (blank == std::string::npos) return;
  if (!contains(methods, first)) {
    if (!contains(known_methods(), first)) return;
    throw core::usage_error(fmt::format("[sweep] settings, '{}'", alternative.title),
                            fmt::format("is for {}, which is not among the methods", first),
                            fmt::format("{}", fmt::join(methods, ", ")), "",
                            fmt::format("add {} to the methods, or let the name begin with another word", first));
  }
  alternative.only = first;
  alternative.title = alternative.value = trimmed(alternative.title.substr(blank));
}

Alternative read_settings(const std::string& text, const std::vector<std::string>& methods) {
  const std::string where = fmt::format("[sweep] settings, '{}'", text);
  Alternative alternative{"settings", text, text, {}};
  std::string rest = text;
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos && text.find('=') > colon) {
    alternative.title = alternative.value = trimmed(text.substr(0, colon));
    keep_to_method(alternative, methods);
    rest = text.substr(colon + 1);
  }
  for (std::size_t begin = 0; begin <= rest.size();) {
    const std::size_t end = std::min(rest.find(';', begin), rest.size());
    const std::string setting = trimmed(rest.substr(begin, end - begin));
    begin = end + 1;
    if (setting.empty()) continue;
    const std::string key = setting_key(setting);
    const std::string section = key.substr(0, key.find('.'));
    if (std::find(kTrainingSections.begin(), kTrainingSections.end(), section) == kTrainingSections.end() ||
        key == "method.name") {
      throw core::usage_error(
          where, "not a setting of a training run", fmt::format("'{}'", setting),
          fmt::format("keys of {}", fmt::join(kTrainingSections, ", ")),
          "all are judged on the same rows; compare other methods with " + core::field_name("compare.methods"));
    }
    alternative.settings.push_back(setting);
  }
  if (alternative.settings.empty() || alternative.title.empty())
    throw core::usage_error(where, "nothing is set", "", "section.key=value, or name: section.key=value");
  return alternative;
}

// No multipliers means those of the budgets, which is what the method as it stands trains on.
void require_value(const std::string& key, const std::string& value) {
  if (key != "multipliers" || value != "[]") return;
  throw core::field_error("sweep." + key, "not a value to try", value, "one number or more",
                          "the method as the study has it is compared anyway");
}

std::vector<Alternative> read_alternatives(const data::Study& study) {
  std::vector<Alternative> alternatives;
  for (const auto& [key, values] : study.sweep.method) {
    for (const std::string& value : values) {
      require_value(key, value);
      alternatives.push_back(
          {key, plain(value), fmt::format("{}={}", key, plain(value)), {fmt::format("method.{}={}", key, value)}});
    }
  }
  for (const std::string& text : study.sweep.settings)
    alternatives.push_back(read_settings(text, study.compare.methods));
  return alternatives;
}

// Letters that a file name can hold everywhere.
std::string file_name(const std::string& name) {
  std::string file;
  for (const char letter : name) {
    const bool good = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '-' ||
                      letter == '=' || letter == '_';
    file += good ? letter : '_';
  }
  return file;
}

void add_entry(std::vector<ComparisonEntry>& entries, std::set<std::string>& files, ComparisonEntry entry) {
  for (const ComparisonEntry& earlier : entries) {
    if (earlier.name == entry.name) {
      throw core::usage_error("the methods and [sweep]", fmt::format("'{}' stands twice", entry.name), "", "",
                              "take one away, or give settings a name: \"name: section.key=value\"");
    }
  }
  const std::string file = file_name(entry.name);
  if (file.size() > kMostFileLetters) {
    throw core::usage_error(fmt::format("[sweep] '{}'", entry.name), "the name is too long for a file",
                            fmt::format("{} letters", file.size()), fmt::format("at most {}", kMostFileLetters),
                            "give settings a short name: \"name: section.key=value\"");
  }
  entry.file = file;
  for (int number = 2; !files.insert(entry.file).second; ++number) entry.file = fmt::format("{}-{}", file, number);
  entries.push_back(std::move(entry));
}

}  // namespace

std::vector<ComparisonEntry> comparison_entries(const data::Study& study) {
  const std::vector<std::string>& methods = study.compare.methods;
  if (methods.empty()) {
    throw core::field_error("compare.methods", "no methods to compare", "", "for example tsm,dfcl-mer",
                            "`dfcl train --help` lists them");
  }
  for (const std::string& name : methods) (void)method_named(name);
  const std::vector<Alternative> alternatives = read_alternatives(study);
  std::set<std::string> used;
  std::set<std::string> files;
  std::vector<ComparisonEntry> entries;
  for (const std::string& name : methods) {
    const std::optional<train::Method> method = method_named(name);
    add_entry(entries, files, {name, "", name, "", "", {}});
    for (const Alternative& alternative : alternatives) {
      const bool is_used = std::any_of(alternative.settings.begin(), alternative.settings.end(),
                                       [&](const std::string& setting) { return uses(setting_key(setting), method); });
      if (!is_used || (!alternative.only.empty() && alternative.only != name)) continue;
      used.insert(alternative.title);
      add_entry(entries, files,
                {fmt::format("{} {}", name, alternative.title), "", name, alternative.swept, alternative.value,
                 alternative.settings});
    }
  }
  for (const Alternative& alternative : alternatives) {
    if (used.contains(alternative.title)) continue;
    throw core::usage_error("[sweep]", fmt::format("none of the methods uses '{}'", alternative.title),
                            fmt::format("{}", fmt::join(methods, ", ")), "");
  }
  for (const ComparisonEntry& entry : entries)
    (void)study_for_entry(study, entry);  // wrong keys and values now, not later
  return entries;
}

data::Study study_for_entry(const data::Study& study, const ComparisonEntry& entry) {
  data::Study own = study;
  own.compare = {};
  own.sweep = {};
  own.method.name = entry.method;
  return io::with_settings(std::move(own), entry.settings, "[sweep]");
}

}  // namespace dfcl::compare

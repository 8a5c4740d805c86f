// SPDX-License-Identifier: Apache-2.0
#include "cli/key_flags.h"

#include <fmt/format.h>

#include <cctype>

#include "dfcl/core/words.h"
#include "dfcl/data/study_keys.h"
#include "dfcl/verbs/words.h"

namespace dfcl::cli {
namespace {

using data::KeyType;
using data::StudyKey;

// The first sentence as -h has it, "passes over the training units"; then the rest and the default, for --help.
std::string help_text(const StudyKey& key) {
  const std::size_t end = key.meaning.find(". ");
  std::string first = key.meaning.substr(0, end);
  if (first.ends_with('.')) first.pop_back();
  const std::string command = fmt::format("`dfcl {}`: ", key.section);
  if (first.starts_with(command)) first.erase(0, command.size());
  const bool is_name = first.size() > 1 && std::isupper(static_cast<unsigned char>(first[1])) != 0;
  if (!is_name) first[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(first[0])));
  if (!key.choices.empty()) first += fmt::format(": {}", fmt::join(key.choices, ", "));
  std::string more = end == std::string::npos ? "" : key.meaning.substr(end + 2);
  const std::string fallback = key.unset.empty() ? data::value_text(data::Study(), key) : key.unset;
  if (!fallback.empty() && key.type != KeyType::truth && fallback != "[]")
    more += fmt::format("{}Default: {}.", more.empty() ? "" : " ", fallback);
  return more.empty() ? first : first + "\n" + more;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

void add_flag(CLI::App& verb, const std::string& flag, const StudyKey& key, std::vector<std::string>& settings) {
  const std::string name = key.full_name();
  const std::string help = help_text(key);
  const auto set = [&settings, name](const std::string& value) { settings.push_back(name + "=" + value); };
  if (key.type == KeyType::truth && std::get<bool>(*key.get(data::Study()))) {  // the flag is there to say no
    verb.add_option_function<std::string>(
            flag,
            [set, name](const std::string& word) {
              set(core::parse_word<verbs::Switch>(word, name) == verbs::Switch::on ? "true" : "false");
            },
            help)
        ->check(CLI::Validator([](const std::string&) { return std::string(); }, "on|off"));
  } else if (key.type == KeyType::truth) {
    verb.add_flag_callback(
        flag, [set] { set("true"); }, help);
  } else if (key.type == KeyType::texts) {
    const auto set_list = [set](std::vector<std::string> values) {
      for (std::string& value : values) value = trimmed(value);
      set(data::value_text(data::KeyValue(std::move(values))));
    };
    verb.add_option_function<std::vector<std::string>>(flag, set_list, help)->delimiter(',');
  } else if (key.type == KeyType::text) {
    verb.add_option_function<std::string>(
        flag, [set](const std::string& value) { set(data::value_text(data::KeyValue(value))); }, help);
  } else {
    // An empty value would take the key back, which is for --set to say.
    verb.add_option_function<std::string>(
        flag, [set](const std::string& value) { set(trimmed(value).empty() ? "\"\"" : value); }, help);
  }
}

}  // namespace

void add_key_flags(CLI::App& verb, std::vector<std::string>& settings, KeyFlags& key_flags) {
  verb.add_option_function<std::vector<std::string>>(
          "--set",
          [&settings](const std::vector<std::string>& given) {
            settings.insert(settings.end(), given.begin(), given.end());
          },
          "any key of the study: section.key=value; may be repeated")
      ->allow_extra_args(false);
  for (const StudyKey& key : data::study_keys()) {
    for (const data::KeyFlag& flag : key.flags) {
      if (flag.verb != verb.get_name()) continue;
      key_flags[key.full_name()] = flag.flag;
      add_flag(verb, flag.flag, key, settings);
    }
  }
}

}  // namespace dfcl::cli

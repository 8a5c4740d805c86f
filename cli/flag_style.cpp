// SPDX-License-Identifier: Apache-2.0
#include "cli/flag_style.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace dfcl::cli {
namespace {

std::string with_value(std::string name, std::string_view value) {
  return value.empty() ? name : name.append(" ").append(value);
}

std::string with_dashes(std::string_view field) {
  std::string flag = "--" + std::string(field);
  std::replace(flag.begin() + 2, flag.end(), '_', '-');
  return flag;
}

// MODEL|PREDICTIONS is the argument for the fields model, models and predictions.
bool stands_for(const std::string& positional, std::string_view field) {
  std::istringstream words(positional);
  for (std::string word; std::getline(words, word, '|');) {
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char letter) { return std::tolower(letter); });
    if (field == word || field == word + "s") return true;
  }
  return false;
}

bool has_flag(const CLI::App* verb, const std::string& flag) {
  return verb != nullptr && verb->get_option_no_throw(flag) != nullptr;
}

std::string request_field(const CLI::App* verb, std::string_view field, std::string_view value) {
  if (verb != nullptr) {
    for (const CLI::Option* option : verb->get_options()) {
      if (option->get_positional() && stands_for(option->get_name(true), field)) return option->get_name(true);
    }
  }
  return with_value(field == "output" ? "-o" : with_dashes(field), value);
}

std::string study_key(const CLI::App* verb, const KeyFlags& key_flags, std::string_view key, std::string_view value) {
  const auto flag = key_flags.find(key);
  if (flag != key_flags.end() && has_flag(verb, flag->second)) return with_value(flag->second, value);
  return core::plain_field(key, value);
}

}  // namespace

core::FieldStyle flag_style(const CLI::App* verb, const KeyFlags& key_flags) {
  return [verb, &key_flags](std::string_view field, std::string_view value) {
    return field.find('.') == std::string_view::npos ? request_field(verb, field, value)
                                                     : study_key(verb, key_flags, field, value);
  };
}

}  // namespace dfcl::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "dfcl/core/lines.h"

namespace dfcl::cli {
namespace {

struct Entry {
  std::string name;
  std::string description;  // the first line is the summary
};

// What stands for the value: FILE, N, marketing|criteo; empty for a flag.
std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  const std::size_t colon = type.find(':');
  std::string base = type.substr(0, colon);
  // A validator of ours names the legal words; the others describe themselves in ways that are not for users.
  if (colon != std::string::npos && type.find('|', colon) != std::string::npos) return type.substr(colon + 1);
  if (base == "INT" || base == "UINT") base = "N";
  if (base == "FLOAT") base = "X";
  return base;
}

Entry option_entry(const CLI::Option& option, HelpLength length) {
  std::string name;
  if (option.get_positional()) {
    name = option.get_name(true);
  } else {
    for (const std::string& letter : option.get_snames()) name += (name.empty() ? "-" : ", -") + letter;
    for (const std::string& word : option.get_lnames()) name += (name.empty() ? "--" : ", --") + word;
    const std::string value = value_name(option);
    if (!value.empty()) name += " " + value;
  }
  std::string description = option.get_description();
  if (length == HelpLength::full && !option.get_default_str().empty()) {
    description += "\ndefault: " + option.get_default_str();
  }
  return {name, description};
}

std::string format_entries(const std::string& title, const std::vector<Entry>& entries, HelpLength length) {
  if (entries.empty()) return {};
  constexpr std::size_t kWidestName = 28;
  std::size_t width = 0;
  for (const Entry& entry : entries) {
    if (entry.name.size() <= kWidestName) width = std::max(width, entry.name.size());
  }
  std::string text = "\n" + title + ":\n";
  for (const Entry& entry : entries) {
    std::vector<std::string> lines = core::lines_of(entry.description);
    if (length == HelpLength::brief && lines.size() > 1) lines.resize(1);
    text += "  " + entry.name;
    std::size_t column = entry.name.size();
    for (const std::string& line : lines) {
      if (column > width) text += "\n  ";
      if (column > width) column = 0;
      text += fmt::format("{:{}}  {}", "", width - column, line);
      column = width + 1;
    }
    text += "\n";
  }
  return text;
}

std::string usage_line(const CLI::App& verb) {
  std::string usage = "usage: dfcl " + verb.get_name() + " [options]";
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_positional() || !option->get_required()) continue;
    const auto& letters = option->get_snames();
    usage += letters.empty() ? " --" + option->get_lnames().front() : " -" + letters.front();
    const std::string value = value_name(*option);
    if (!value.empty()) usage += " " + value;
  }
  return usage + "\n";
}

std::string heading(const std::string& name, const std::string& description, HelpLength length) {
  const std::vector<std::string> lines = core::lines_of(description);
  std::string text = fmt::format("{}: {}\n", name, lines.empty() ? "" : lines.front());
  if (length == HelpLength::full && lines.size() > 1) {
    text += "\n";
    for (std::size_t i = 1; i < lines.size(); ++i) text += lines[i] + "\n";
  }
  return text + "\n";
}

}  // namespace

std::string program_help(const CLI::App& program, HelpLength length) {
  std::string text = heading("dfcl", program.get_description(), length);
  text += "usage: dfcl VERB [options]\n";
  std::vector<Entry> verbs;
  for (const CLI::App* verb : program.get_subcommands(nullptr)) {
    verbs.push_back({verb->get_name(), core::lines_of(verb->get_description()).front()});
  }
  text += format_entries("verbs", verbs, length);
  text += format_entries("options",
                         {{"-h", "this list in short; after a verb: its options"},
                          {"--help", "the long help, with an example; after a verb: of that verb"},
                          {"--version", "the version"}},
                         length);
  if (length == HelpLength::full) {
    text += format_entries("exit codes",
                           {{"0", "good"},
                            {"1", "a bug of ours, or out of memory"},
                            {"2", "wrong usage: an option or a key of the study file"},
                            {"3", "wrong data"},
                            {"4", "a file that cannot be read or written"},
                            {"5", "not available on this machine or in this build"},
                            {"6", "the budget cannot be met"},
                            {"7", "the trial is unfit to learn from"},
                            {"130", "interrupted"}},
                           length);
    text +=
        "\nexample:\n  dfcl simulate --preset marketing --rows 20000 -o trial.parquet --study study.toml\n"
        "  dfcl check study.toml\n";
  }
  return text;
}

std::string verb_help(const CLI::App& verb, const std::string& example, HelpLength length) {
  std::string text = heading("dfcl " + verb.get_name(), verb.get_description(), length) + usage_line(verb);
  std::vector<Entry> arguments;
  std::vector<Entry> options;
  std::vector<Entry> shared;
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    auto& list = option->get_positional() ? arguments : option->get_group() == kSharedGroup ? shared : options;
    list.push_back(option_entry(*option, length));
  }
  shared.push_back({"-h", "this list in short"});
  shared.push_back({"--help", "the long help, with an example"});
  text += format_entries("arguments", arguments, length);
  text += format_entries("options", options, length);
  text += format_entries("on every verb", shared, length);
  if (length == HelpLength::full && !example.empty()) {
    text += "\nexample:\n";
    for (const std::string& line : core::lines_of(example)) text += "  " + line + "\n";
  }
  return text;
}

}  // namespace dfcl::cli

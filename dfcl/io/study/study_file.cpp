// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/study/study_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/io/tables/column_values.h"
#include "dfcl/io/study/study_keys.h"

namespace dfcl::io {
namespace {

using data::Study;

constexpr std::size_t kMostStudyBytes = std::size_t{1} << 20;

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const Key& k : all_keys()) {
    if (names.empty() || names.back() != k.section) names.push_back(k.section);
  }
  return names;
}

const Key& find_key(const std::string& section, const std::string& name, const std::string& where) {
  const std::vector<std::string> sections = section_names();
  if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
    throw core::usage_error(where, fmt::format("unknown section [{}]", section), "", "",
                            core::suggest(section, sections));
  }
  std::vector<std::string> names;
  for (const Key& k : all_keys()) {
    if (k.section == section && k.name == name) return k;
    if (k.section == section) names.push_back(k.name);
  }
  throw core::usage_error(where, fmt::format("unknown key '{}' in [{}]", name, section), "", "",
                          core::suggest(name, names));
}

std::string place(const std::string& path, const toml::node& node) {
  return node.source().begin.line == 0 ? path : fmt::format("{}:{}", path, node.source().begin.line);
}

// given: where the setting stands.
void apply_override(const std::string& text, const std::string& given, Study& study) {
  const std::string where = fmt::format("{} {}", given, text);
  const std::size_t equals = text.find('=');
  const std::size_t dot = text.find('.');
  if (equals == std::string::npos || dot == std::string::npos || dot > equals) {
    throw core::usage_error(where, "cannot read the setting", "", "section.key=value, for example split.train=0.7");
  }
  const std::string name(trim(std::string_view(text).substr(dot + 1, equals - dot - 1)));
  const Key& k = find_key(std::string(trim(std::string_view(text).substr(0, dot))), name, where);
  const std::string value = text.substr(equals + 1);
  try {
    const toml::table parsed = toml::parse("value = " + value);
    k.read(*parsed.get("value"), where, study);
  } catch (const toml::parse_error&) {  // a bare word is a text
    k.read(toml::value<std::string>(value), where, study);
  }
}

void check_shares(const Study& study, const std::string& path) {
  const auto& split = study.split;
  for (const double share : {split.train, split.validation, split.test}) {
    if (!(share >= 0.0 && share <= 1.0)) {
      throw core::usage_error(path + ", [split]", "a share out of range", number_text(share), "0 to 1");
    }
  }
  const double total = split.train + split.validation + split.test;
  if (std::abs(total - 1.0) > 1e-6) {
    throw core::usage_error(path + ", [split]", "the shares do not add up", number_text(total),
                            "train + validation + test = 1");
  }
  double designed = 0.0;
  for (const auto& [arm, share] : study.arms.share) {
    if (!(share > 0.0 && share < 1.0)) {
      throw core::usage_error(path + ", [arms] share", fmt::format("a share out of range for arm '{}'", arm),
                              number_text(share), "more than 0, less than 1");
    }
    designed += share;
  }
  if (!study.arms.share.empty() && std::abs(designed - 1.0) > 1e-6) {
    throw core::usage_error(path + ", [arms] share", "the shares do not add up", number_text(designed),
                            "1 over all arms");
  }
}

void check_arms(const Study& study, const std::string& path) {
  const std::vector<std::string>& order = study.arms.order;
  if (order.empty()) return;
  if (std::set<std::string>(order.begin(), order.end()).size() != order.size()) {
    throw core::usage_error(path + ", [arms] order", "an arm stands twice");
  }
  const auto require_arm = [&](const char* name, const std::string& arm) {
    if (std::find(order.begin(), order.end(), arm) == order.end()) {
      throw core::usage_error(fmt::format("{}, [arms] {}", path, name),
                              fmt::format("arm '{}' is not in [arms] order", arm), "", "", core::suggest(arm, order));
    }
  };
  if (!study.arms.control.empty()) require_arm("control", study.arms.control);
  for (const auto& [arm, value] : study.arms.share) require_arm("share", arm);
  for (const auto& [arm, value] : study.arms.cost) require_arm("cost", arm);
  for (const auto& [arm, value] : study.arms.cost_per_revenue) require_arm("cost_per_revenue", arm);
  if (!study.arms.share.empty() && study.arms.share.size() != order.size()) {
    throw core::usage_error(path + ", [arms] share", "shares for some arms only",
                            fmt::format("{}", study.arms.share.size()), fmt::format("all {} arms", order.size()));
  }
}

void check_report(const Study::Report& report, const std::string& path) {
  if (report.decimal.empty() || report.decimal == report.thousands) {
    throw core::usage_error(path + ", [report]", "numbers could not be read",
                            fmt::format("decimal '{}', thousands '{}'", report.decimal, report.thousands),
                            "a decimal sign that is not the sign between thousands");
  }
}

void check_study(const Study& study, const std::string& path, bool needs_trial) {
  const auto require = [&](const char* name, const std::string& value) {
    if (value.empty())
      throw core::usage_error(path, fmt::format("{} is not set", name), "", "",
                              "see docs/study.md, or start from `dfcl init TRIAL -o study.toml`");
  };
  if (needs_trial) require("[data] trial", study.data.trial);
  require("[columns] arm", study.columns.arm);
  require("[columns] revenue", study.columns.revenue);
  const int costs = (study.columns.cost.empty() ? 0 : 1) + (study.arms.cost.empty() ? 0 : 1) +
                    (study.arms.cost_per_revenue.empty() ? 0 : 1);
  if (costs != 1) {
    throw core::usage_error(path, "the cost must be said in one way", fmt::format("{} ways", costs),
                            "one of [columns] cost, [arms] cost and [arms] cost_per_revenue");
  }
  for (const auto& [outcome, quantile] : study.columns.winsorize) {
    if ((outcome != "revenue" && outcome != "cost") || !(quantile > 0.5 && quantile <= 1.0)) {
      throw core::usage_error(path + ", [columns] winsorize", "cannot winsorise",
                              fmt::format("{} = {}", outcome, number_text(quantile)),
                              "revenue or cost, with a quantile above 0.5");
    }
  }
  if (study.columns.min_level_units < 0) {
    throw core::usage_error(path + ", [columns] min_level_units", "out of range",
                            std::to_string(study.columns.min_level_units), "0 or more");
  }
  check_shares(study, path);
  check_arms(study, path);
  check_report(study.report, path);
}

// A trial in the study's place is told from a study by its first bytes.
void require_study_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(64, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  const bool is_text = std::none_of(head.begin(), head.end(), [](unsigned char letter) {
    return letter < 32 && letter != '\n' && letter != '\r' && letter != '\t';
  });
  const std::string ending = std::filesystem::path(path).extension().string();
  if (is_text && ending != ".csv") return;
  throw core::usage_error(path, "not a study file", "", "TOML that says what the columns of a trial mean",
                          fmt::format("`dfcl init {} -o study.toml` writes a first one for a trial", path));
}

}  // namespace

Study read_study(const std::string& path, const std::vector<std::string>& overrides) {
  require_study_file(path);
  return parse_study(read_text_file(path, kMostStudyBytes), path, std::filesystem::path(path).parent_path().string(),
                     overrides, true);
}

Study parse_study(const std::string& text, const std::string& path, const std::string& folder,
                  const std::vector<std::string>& overrides, bool needs_trial) {
  Study study;
  study.folder = folder;
  toml::table file;
  try {
    file = toml::parse(text, path);
  } catch (const toml::parse_error& failure) {
    throw core::usage_error(fmt::format("{}:{}", path, failure.source().begin.line), "not a study file",
                            fmt::format("'{}'", failure.description()), "TOML");
  }
  for (const auto& [section, node] : file) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      throw core::usage_error(place(path, node), fmt::format("key '{}' outside a section", std::string(section.str())),
                              "", "", "put it under [data], [columns], ...");
    }
    if (table->empty()) continue;
    for (const auto& [name, value] : *table) {
      const std::string where = place(path, value);
      const Key& k = find_key(std::string(section.str()), std::string(name.str()), where);
      k.read(value, fmt::format("{}, [{}] {}", where, k.section, k.name), study);
    }
  }
  for (const std::string& text_override : overrides) apply_override(text_override, "--set", study);
  check_study(study, path, needs_trial);
  return study;
}

Study with_settings(Study study, const std::vector<std::string>& settings, const std::string& where) {
  for (const std::string& setting : settings) apply_override(setting, where, study);
  check_study(study, where, false);
  return study;
}

std::string study_text(const Study& study, const std::map<std::string, std::string>& remarks) {
  Study written = study;
  Study untouched;
  std::string text = "# A study: what the columns of a trial mean. Every key is described in docs/study.md.\n";
  std::string section;
  for (const Key& k : all_keys()) {
    const std::string value = k.write(written);
    const auto remark = remarks.find(k.full_name());
    const bool is_set = value != k.write(untouched);
    if (!is_set && remark == remarks.end()) continue;
    if (k.section != section) {
      section = k.section;
      text += fmt::format("\n[{}]\n", section);
    }
    text += fmt::format("{}{} = {}", is_set ? "" : "# ", k.name, value);
    text += remark == remarks.end() ? "\n" : fmt::format("  # {}\n", remark->second);
  }
  return text;
}

std::string study_reference() {
  std::string text =
      "# The study file\n\n"
      "One TOML file says what a trial's columns mean. `dfcl init TRIAL -o study.toml` writes a first one. Any key can "
      "be\n"
      "overridden on the command line with `--set section.key=value`. Unknown keys are errors.\n\n"
      "This page is printed by `dfcl info --study-keys`; a test compares the two.\n";
  std::string section;
  for (const Key& k : all_keys()) {
    if (k.section != section) {
      section = k.section;
      text += fmt::format("\n## [{}]\n\n| key | type | default | meaning |\n|---|---|---|---|\n", section);
    }
    const std::string fallback = k.fallback.empty() ? "none" : fmt::format("`{}`", k.fallback);
    text += fmt::format("| `{}` | {} | {} | {} |\n", k.name, k.type, fallback, k.meaning);
  }
  return text;
}

}  // namespace dfcl::io

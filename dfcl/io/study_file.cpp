// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/study_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"
#include "dfcl/io/atomic_file.h"
#include "dfcl/io/column_values.h"

namespace dfcl::io {
namespace {

using data::Study;

constexpr std::size_t kMostStudyBytes = std::size_t{1} << 20;

core::Error usage_error(std::string where, std::string what, std::string found = "", std::string expected = "",
                        std::string hint = "") {
  return core::Error({.kind = core::ErrorKind::usage,
                      .what = std::move(what),
                      .where = std::move(where),
                      .found = std::move(found),
                      .expected = std::move(expected),
                      .hint = std::move(hint)});
}

std::string text_of(const toml::node& node) {
  std::ostringstream stream;
  node.visit([&](const auto& value) { stream << value; });
  return stream.str();
}

core::Error wrong_type(const std::string& where, const toml::node& node, const char* expected) {
  return usage_error(where, "a value of the wrong type", text_of(node), expected);
}

// One overload for each type a key can have; a label may be written as a number.
void read_value(const toml::node& node, const std::string& where, std::string& value) {
  if (const auto* text = node.as_string()) {
    value = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value = std::to_string(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    value = number_text(number->get());
  } else {
    throw wrong_type(where, node, "text in quotes");
  }
}

void read_value(const toml::node& node, const std::string& where, bool& value) {
  if (!node.is_boolean()) throw wrong_type(where, node, "true or false");
  value = node.as_boolean()->get();
}

void read_value(const toml::node& node, const std::string& where, double& value) {
  const auto number = node.value<double>();
  if (!node.is_number() || !number || !std::isfinite(*number)) throw wrong_type(where, node, "a number");
  value = *number;
}

void read_value(const toml::node& node, const std::string& where, std::int64_t& value) {
  if (!node.is_integer()) throw wrong_type(where, node, "a whole number");
  value = node.as_integer()->get();
}

template <class T>
void read_value(const toml::node& node, const std::string& where, std::vector<T>& values) {
  const auto* list = node.as_array();
  if (list == nullptr) throw wrong_type(where, node, "a list in square brackets");
  values.clear();
  for (const toml::node& element : *list) read_value(element, where, values.emplace_back());
}

void read_value(const toml::node& node, const std::string& where, std::map<std::string, double>& values) {
  const auto* table = node.as_table();
  if (table == nullptr) throw wrong_type(where, node, "a table such as { \"a\" = 0.5 }");
  values.clear();
  for (const auto& [name, element] : *table) read_value(element, where, values[std::string(name.str())]);
}

struct Key {
  std::string section;
  std::string name;
  std::string type;
  std::string fallback;  // as it would be written; "" : none
  std::string meaning;
  std::function<void(const toml::node&, const std::string&, Study&)> read;
  std::function<std::string(Study&)> write;  // the value as TOML

  std::string full_name() const { return fmt::format("{}.{}", section, name); }
};

std::string to_toml(const std::string& value) {
  std::string text = "\"";
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') text += '\\';
    if (static_cast<unsigned char>(letter) < 0x20) {
      text += fmt::format("\\u{:04x}", static_cast<int>(letter));
    } else {
      text += letter;
    }
  }
  return text + '"';
}
std::string to_toml(bool value) { return value ? "true" : "false"; }
std::string to_toml(std::int64_t value) { return std::to_string(value); }
std::string to_toml(double value) {
  const std::string text = number_text(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}
template <class T>
std::string to_toml(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) text += (text.size() > 1 ? ", " : "") + to_toml(value);
  return text + "]";
}
std::string to_toml(const std::map<std::string, double>& values) {
  std::string text = "{";
  for (const auto& [name, value] : values)
    text += fmt::format("{} {} = {}", text.size() > 1 ? "," : "", to_toml(name), to_toml(value));
  return text + (values.empty() ? "}" : " }");
}

const char* type_name(const std::string*) { return "text"; }
const char* type_name(const bool*) { return "true/false"; }
const char* type_name(const double*) { return "number"; }
const char* type_name(const std::int64_t*) { return "whole number"; }
const char* type_name(const std::vector<std::string>*) { return "list of texts"; }
const char* type_name(const std::vector<std::int64_t>*) { return "list of whole numbers"; }
const char* type_name(const std::vector<double>*) { return "list of numbers"; }
const char* type_name(const std::map<std::string, double>*) { return "table of numbers"; }

// field: a function from a Study to the field the key sets.
template <class Field>
Key key(const char* section, const char* name, const char* fallback, const char* meaning, Field field) {
  using Value = std::remove_reference_t<std::invoke_result_t<Field, Study&>>;
  return {section,
          name,
          type_name(static_cast<const Value*>(nullptr)),
          fallback,
          meaning,
          [field](const toml::node& node, const std::string& where, Study& study) {
            read_value(node, where, field(study));
          },
          [field](Study& study) { return to_toml(field(study)); }};
}

// Every key there is. The order is that of docs/study.md.
const std::vector<Key>& all_keys() {
  static const std::vector<Key> keys = {
      key(
          "data", "trial", "",
          "The trial: a csv, csv.gz, parquet or arrow file, a glob, or a folder of them. Relative to the study file.",
          [](Study & s) -> auto& { return s.data.trial; }),
      key(
          "columns", "id", "", "Names the unit. Without it a unit is its row number, from 1.",
          [](Study & s) -> auto& { return s.columns.id; }),
      key(
          "columns", "arm", "", "The arm the unit got: text or number; blanks around it do not count.",
          [](Study & s) -> auto& { return s.columns.arm; }),
      key(
          "columns", "revenue", "",
          "What the unit earned: a number, yes/no or true/false. Rows without one are left out and counted.",
          [](Study & s) -> auto& { return s.columns.revenue; }),
      key(
          "columns", "cost", "",
          "What the unit cost. Without such a column give `arms.cost` or `arms.cost_per_revenue`.",
          [](Study & s) -> auto& { return s.columns.cost; }),
      key(
          "columns", "time", "", "The day or week of a row. A unit is then (id, time), and `split.by` may be \"time\".",
          [](Study & s) -> auto& { return s.columns.time; }),
      key(
          "columns", "features", "[\"*\"]", "Names or globs of the features; columns with another role never count.",
          [](Study & s) -> auto& { return s.columns.features; }),
      key(
          "columns", "exclude", "[]",
          "Names or globs that are not features. Everything measured after the arm was drawn belongs here.",
          [](Study & s) -> auto& { return s.columns.exclude; }),
      key(
          "columns", "categorical", "[]",
          "Names or globs of numeric columns that hold categories. Text columns are categorical anyway.",
          [](Study & s) -> auto& { return s.columns.categorical; }),
      key(
          "columns", "missing", "[]", "Numbers that mean missing in a feature, beside empty, null and NaN.",
          [](Study & s) -> auto& { return s.columns.missing; }),
      key(
          "columns", "cluster", "", "Units that share this belong together: split, checked and resampled as one.",
          [](Study & s) -> auto& { return s.columns.cluster; }),
      key(
          "columns", "propensity", "",
          "The probability with which the unit got its arm. Without it: the share of the arm.",
          [](Study & s) -> auto& { return s.columns.propensity; }),
      key(
          "columns", "winsorize", "{}",
          "Cuts `revenue` or `cost` at this quantile, for example { revenue = 0.999 }. Reported.",
          [](Study & s) -> auto& { return s.columns.winsorize; }),
      key(
          "columns", "min_level_units", "50",
          "Levels of a category with fewer training units are pooled; so are levels unseen in training.",
          [](Study & s) -> auto& { return s.columns.min_level_units; }),
      key(
          "arms", "control", "",
          "The arm that means nothing was given. Default: the first of `order`, else an arm named 0, control or none.",
          [](Study & s) -> auto& { return s.arms.control; }),
      key(
          "arms", "order", "[]",
          "All arms from the weakest to the strongest, where they are graded. Any other arm in the trial is an error.",
          [](Study & s) -> auto& { return s.arms.order; }),
      key(
          "arms", "share", "{}", "The designed share of every arm. Without it the sample-ratio test is not run.",
          [](Study & s) -> auto& { return s.arms.share; }),
      key(
          "arms", "cost", "{}", "A known cost per unit for every arm but control, where there is no cost column.",
          [](Study & s) -> auto& { return s.arms.cost; }),
      key(
          "arms", "cost_per_revenue", "{}",
          "Cost as a rate of revenue for every arm but control, where there is no cost column.",
          [](Study & s) -> auto& { return s.arms.cost_per_revenue; }),
      key(
          "cost", "control_is_free", "false", "Control costs nothing.",
          [](Study & s) -> auto& { return s.cost.control_is_free; }),
      key(
          "cost", "non_negative", "false", "No unit's cost is below zero.",
          [](Study & s) -> auto& { return s.cost.non_negative; }),
      key(
          "cost", "rises_with_arm", "false", "A stronger arm never costs less.",
          [](Study & s) -> auto& { return s.cost.rises_with_arm; }),
      key(
          "budgets", "per_unit", "[]", "Budgets as cost per unit, control's cost included.",
          [](Study & s) -> auto& { return s.budgets.per_unit; }),
      key(
          "budgets", "total", "[]", "Budgets as totals.", [](Study & s) -> auto& { return s.budgets.total; }),
      key(
          "budgets", "share_of_max", "[]", "Budgets as shares of the trial's mean cost in its costliest arm.",
          [](Study & s) -> auto& { return s.budgets.share_of_max; }),
      key(
          "split", "by", "\"hash\"",
          "\"hash\" of the cluster or id; \"time\": earlier trains, later tests; or a column that says train, "
          "validation or test.",
          [](Study & s) -> auto& { return s.split.by; }),
      key(
          "split", "train", "0.6", "The share of units (of times, by time) that train.",
          [](Study & s) -> auto& { return s.split.train; }),
      key(
          "split", "validation", "0.1", "The share that validates.",
          [](Study & s) -> auto& { return s.split.validation; }),
      key(
          "split", "test", "0.3", "The share that tests.", [](Study & s) -> auto& { return s.split.test; }),
      key(
          "split", "seed", "0", "Another number gives another split by hash.",
          [](Study & s) -> auto& { return s.split.seed; }),
      key(
          "method", "name", "\"auto\"", "The method to train; `dfcl train --help` lists them.",
          [](Study & s) -> auto& { return s.method.name; }),
      key(
          "method", "epochs", "0", "Passes over the training units. 0: chosen from their number.",
          [](Study & s) -> auto& { return s.method.epochs; }),
      key(
          "method", "batch", "0", "Units in a step. 0: chosen from their number.",
          [](Study & s) -> auto& { return s.method.batch; }),
      key(
          "method", "learning_rate", "0.0", "Adam's, at the start. 0: chosen.",
          [](Study & s) -> auto& { return s.method.learning_rate; }),
      key(
          "method", "weight_decay", "-1.0", "AdamW's. Below 0: chosen.",
          [](Study & s) -> auto& { return s.method.weight_decay; }),
      key(
          "method", "alpha", "0.0", "Weight of the prediction loss beside a decision loss. 0: chosen.",
          [](Study & s) -> auto& { return s.method.alpha; }),
      key(
          "method", "temperature", "0.0", "Temperature of dfcl-mer, in units of the spread of the scores. 0: chosen.",
          [](Study & s) -> auto& { return s.method.temperature; }),
      key(
          "method", "window", "0.0", "Window of dfcl-ifd, in units of the spread of the scores. 0: chosen.",
          [](Study & s) -> auto& { return s.method.window; }),
      key(
          "method", "baseline", "\"\"",
          "Control variate of the decision losses: \"none\", \"mean\" or \"dr\". Empty: chosen.",
          [](Study & s) -> auto& { return s.method.baseline; }),
      key(
          "method", "multipliers", "[]",
          "Fixed multipliers to train on. Empty: those of the budgets, refreshed as the model moves.",
          [](Study & s) -> auto& { return s.method.multipliers; }),
      key(
          "method", "ensemble", "1", "Networks trained from different seeds and averaged.",
          [](Study & s) -> auto& { return s.method.ensemble; }),
      key(
          "method", "monotone", "[]", "Outcomes (\"revenue\", \"cost\") whose predictions rise with the arm.",
          [](Study & s) -> auto& { return s.method.monotone; }),
      key(
          "method", "concave", "[]", "Outcomes whose predictions rise with the arm by falling steps.",
          [](Study & s) -> auto& { return s.method.concave; }),
      key(
          "method", "as_published", "false", "Train as the published paper did, without what makes it work.",
          [](Study & s) -> auto& { return s.method.as_published; }),
      key(
          "network", "hidden", "[]", "Layers of one trunk. Empty: [64, 32, 32], unless `shared` is given.",
          [](Study & s) -> auto& { return s.network.hidden; }),
      key(
          "network", "shared", "[]", "Layers that all heads share.",
          [](Study & s) -> auto& { return s.network.shared; }),
      key(
          "network", "heads", "[]", "Layers of each head; there is one head for each arm and outcome.",
          [](Study & s) -> auto& { return s.network.heads; }),
      key(
          "network", "revenue_kind", "\"\"", "\"real\", \"non_negative\" or \"binary\". Empty: chosen from the data.",
          [](Study & s) -> auto& { return s.network.revenue_kind; }),
      key(
          "network", "cost_kind", "\"\"", "The same for cost.", [](Study & s) -> auto& { return s.network.cost_kind; }),
  };
  return keys;
}

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
    throw usage_error(where, fmt::format("unknown section [{}]", section), "", "", core::suggest(section, sections));
  }
  std::vector<std::string> names;
  for (const Key& k : all_keys()) {
    if (k.section == section && k.name == name) return k;
    if (k.section == section) names.push_back(k.name);
  }
  throw usage_error(where, fmt::format("unknown key '{}' in [{}]", name, section), "", "", core::suggest(name, names));
}

std::string place(const std::string& path, const toml::node& node) {
  return node.source().begin.line == 0 ? path : fmt::format("{}:{}", path, node.source().begin.line);
}

void apply_override(const std::string& text, Study& study) {
  const std::string where = fmt::format("--set {}", text);
  const std::size_t equals = text.find('=');
  const std::size_t dot = text.find('.');
  if (equals == std::string::npos || dot == std::string::npos || dot > equals) {
    throw usage_error(where, "cannot read the setting", "", "section.key=value, for example split.train=0.7");
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
      throw usage_error(path + ", [split]", "a share out of range", number_text(share), "0 to 1");
    }
  }
  const double total = split.train + split.validation + split.test;
  if (std::abs(total - 1.0) > 1e-6) {
    throw usage_error(path + ", [split]", "the shares do not add up", number_text(total),
                      "train + validation + test = 1");
  }
  double designed = 0.0;
  for (const auto& [arm, share] : study.arms.share) {
    if (!(share > 0.0 && share < 1.0)) {
      throw usage_error(path + ", [arms] share", fmt::format("a share out of range for arm '{}'", arm),
                        number_text(share), "more than 0, less than 1");
    }
    designed += share;
  }
  if (!study.arms.share.empty() && std::abs(designed - 1.0) > 1e-6) {
    throw usage_error(path + ", [arms] share", "the shares do not add up", number_text(designed), "1 over all arms");
  }
}

void check_arms(const Study& study, const std::string& path) {
  const std::vector<std::string>& order = study.arms.order;
  if (order.empty()) return;
  if (std::set<std::string>(order.begin(), order.end()).size() != order.size()) {
    throw usage_error(path + ", [arms] order", "an arm stands twice");
  }
  const auto require_arm = [&](const char* name, const std::string& arm) {
    if (std::find(order.begin(), order.end(), arm) == order.end()) {
      throw usage_error(fmt::format("{}, [arms] {}", path, name), fmt::format("arm '{}' is not in [arms] order", arm),
                        "", "", core::suggest(arm, order));
    }
  };
  if (!study.arms.control.empty()) require_arm("control", study.arms.control);
  for (const auto& [arm, value] : study.arms.share) require_arm("share", arm);
  for (const auto& [arm, value] : study.arms.cost) require_arm("cost", arm);
  for (const auto& [arm, value] : study.arms.cost_per_revenue) require_arm("cost_per_revenue", arm);
  if (!study.arms.share.empty() && study.arms.share.size() != order.size()) {
    throw usage_error(path + ", [arms] share", "shares for some arms only", fmt::format("{}", study.arms.share.size()),
                      fmt::format("all {} arms", order.size()));
  }
}

void check_study(const Study& study, const std::string& path) {
  const auto require = [&](const char* name, const std::string& value) {
    if (value.empty())
      throw usage_error(path, fmt::format("{} is not set", name), "", "",
                        "see docs/study.md, or start from `dfcl init TRIAL -o study.toml`");
  };
  require("[data] trial", study.data.trial);
  require("[columns] arm", study.columns.arm);
  require("[columns] revenue", study.columns.revenue);
  const int costs = (study.columns.cost.empty() ? 0 : 1) + (study.arms.cost.empty() ? 0 : 1) +
                    (study.arms.cost_per_revenue.empty() ? 0 : 1);
  if (costs != 1) {
    throw usage_error(path, "the cost must be said in one way", fmt::format("{} ways", costs),
                      "one of [columns] cost, [arms] cost and [arms] cost_per_revenue");
  }
  for (const auto& [outcome, quantile] : study.columns.winsorize) {
    if ((outcome != "revenue" && outcome != "cost") || !(quantile > 0.5 && quantile <= 1.0)) {
      throw usage_error(path + ", [columns] winsorize", "cannot winsorise",
                        fmt::format("{} = {}", outcome, number_text(quantile)),
                        "revenue or cost, with a quantile above 0.5");
    }
  }
  if (study.columns.min_level_units < 0) {
    throw usage_error(path + ", [columns] min_level_units", "out of range",
                      std::to_string(study.columns.min_level_units), "0 or more");
  }
  check_shares(study, path);
  check_arms(study, path);
}

}  // namespace

Study read_study(const std::string& path, const std::vector<std::string>& overrides) {
  const std::string text = read_text_file(path, kMostStudyBytes);
  Study study;
  study.folder = std::filesystem::path(path).parent_path().string();
  toml::table file;
  try {
    file = toml::parse(text, path);
  } catch (const toml::parse_error& failure) {
    throw usage_error(fmt::format("{}:{}", path, failure.source().begin.line), "not a study file",
                      fmt::format("'{}'", failure.description()), "TOML");
  }
  for (const auto& [section, node] : file) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      throw usage_error(place(path, node), fmt::format("key '{}' outside a section", std::string(section.str())), "",
                        "", "put it under [data], [columns], ...");
    }
    if (table->empty()) continue;
    for (const auto& [name, value] : *table) {
      const std::string where = place(path, value);
      const Key& k = find_key(std::string(section.str()), std::string(name.str()), where);
      k.read(value, fmt::format("{}, [{}] {}", where, k.section, k.name), study);
    }
  }
  for (const std::string& text_override : overrides) apply_override(text_override, study);
  check_study(study, path);
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

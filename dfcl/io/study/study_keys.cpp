// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/study/study_keys.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <sstream>
#include <type_traits>

#include "dfcl/core/error_makers.h"
#include "dfcl/io/tables/column_values.h"

namespace dfcl::io {
namespace {

using data::Study;

std::string text_of(const toml::node& node) {
  if (const auto* number = node.as_floating_point()) return number_text(number->get());
  if (const auto* list = node.as_array()) {
    std::vector<std::string> parts;
    for (const toml::node& part : *list) parts.push_back(text_of(part));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  std::ostringstream stream;
  node.visit([&](const auto& value) { stream << value; });
  return stream.str();
}

core::Error wrong_type(const std::string& where, const toml::node& node, const char* expected) {
  return core::usage_error(where, "a value of the wrong type", text_of(node), expected);
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

// All but those of [sweep] that are made from [method].
std::vector<Key> plain_keys() {
  return {
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
          "columns", "cluster", "",
          "Units that share this belong together: split, checked and resampled as one. Where there is a time: the id, "
          "unless named.",
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
          "method", "warm_epochs", "-1", "Of the epochs, those before a decision loss joins. Below 0: chosen.",
          [](Study & s) -> auto& { return s.method.warm_epochs; }),
      key(
          "method", "alpha", "-1.0",
          "Weight of the prediction loss beside a decision loss; 0: the decision loss alone. -1: chosen.",
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
          "Fixed multipliers to train on. Empty: those of the budgets, by the two-stage network that the decision loss "
          "joins.",
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
      key(
          "network", "scaling", "\"\"",
          "How numbers enter: \"standard\" (mean 0, deviation 1, heavy tails through a logarithm) or \"unit\" (0 to "
          "1). "
          "Empty: standard; unit with `as_published`.",
          [](Study & s) -> auto& { return s.network.scaling; }),
      key(
          "forest", "trees", "256", "Trees of a causal forest (tsm-forest).",
          [](Study & s) -> auto& { return s.forest.trees; }),
      key(
          "forest", "leaf", "300", "Units in a leaf, at least: those that choose the splits and those that fill it.",
          [](Study & s) -> auto& { return s.forest.leaf; }),
      key(
          "forest", "min_leaf_per_arm", "20", "Units of every arm in a leaf, at least.",
          [](Study & s) -> auto& { return s.forest.min_leaf_per_arm; }),
      key(
          "forest", "depth", "24", "Splits from the root to a leaf, at most.",
          [](Study & s) -> auto& { return s.forest.depth; }),
      key(
          "forest", "mtry", "0", "Features tried at each split. 0: all.",
          [](Study & s) -> auto& { return s.forest.mtry; }),
      key(
          "forest", "subsample", "0.5", "Share of the training units that each tree sees, at most 0.5.",
          [](Study & s) -> auto& { return s.forest.subsample; }),
      key(
          "report", "title", "\"\"", "Title of reports. Empty: the name of the trial.",
          [](Study & s) -> auto& { return s.report.title; }),
      key(
          "report", "currency", "\"\"", "What amounts of money are shown in, such as \"EUR\". Empty: plain numbers.",
          [](Study & s) -> auto& { return s.report.currency; }),
      key(
          "report", "revenue_name", "\"\"", "What reports call the revenue. Empty: the name of its column.",
          [](Study & s) -> auto& { return s.report.revenue_name; }),
      key(
          "report", "cost_name", "\"\"", "What reports call the cost. Empty: the name of its column, else \"cost\".",
          [](Study & s) -> auto& { return s.report.cost_name; }),
      key(
          "report", "decimal", "\".\"", "The decimal sign of reports: one letter.",
          [](Study & s) -> auto& { return s.report.decimal; }),
      key(
          "report", "thousands", "\",\"", "What stands between thousands in reports; may be empty.",
          [](Study & s) -> auto& { return s.report.thousands; }),
      key(
          "deploy", "methods", "[\"tsm\", \"dpm\", \"dfcl-ifd\"]",
          "`dfcl deploy`: the methods of the simulated online test, a group each.",
          [](Study & s) -> auto& { return s.deploy.methods; }),
      key(
          "deploy", "units", "310000", "Simulated shops.", [](Study & s) -> auto& { return s.deploy.units; }),
      key(
          "deploy", "days", "28", "Days of the test.", [](Study & s) -> auto& { return s.deploy.days; }),
      key(
          "deploy", "response", "\"smooth\"", "Family of functions behind the effects: smooth, tree or sparse.",
          [](Study & s) -> auto& { return s.deploy.response; }),
      key(
          "deploy", "trial_units", "20000", "Shops of the random trial before the test, each day.",
          [](Study & s) -> auto& { return s.deploy.trial_units; }),
      key(
          "deploy", "trial_days", "14", "Days of that trial.", [](Study & s) -> auto& { return s.deploy.trial_days; }),
      key(
          "deploy", "explore", "0.05", "Share of the shops that get a random arm each day of the test.",
          [](Study & s) -> auto& { return s.deploy.explore; }),
      key(
          "deploy", "retrain", "true", "Train the models anew each week, on all random data so far.",
          [](Study & s) -> auto& { return s.deploy.retrain; }),
      key(
          "deploy", "cost_drift", "0.0", "Costs rise evenly by this share until the last day.",
          [](Study & s) -> auto& { return s.deploy.cost_drift; }),
      key(
          "deploy", "population_drift", "0.0",
          "Shops become younger, keener on promotions and less affluent, by this many standard deviations.",
          [](Study & s) -> auto& { return s.deploy.population_drift; }),
      key(
          "compare", "methods", "[]", "`dfcl compare`: the methods to train, of which the first is the reference.",
          [](Study & s) -> auto& { return s.compare.methods; }),
      key(
          "compare", "seeds", "1", "Trainings of each method, with seeds one apart.",
          [](Study & s) -> auto& { return s.compare.seeds; }),
      key(
          "sweep", "settings", "[]",
          "`dfcl compare`: other settings to try beside the study's, one at a time: \"section.key=value\", several "
          "with "
          "\"; \" between them, and \"name: \" before them if they should have one. A name that begins with a method "
          "is for "
          "that method alone: \"dfcl-pl rising: method.monotone=['revenue']\".",
          [](Study & s) -> auto& { return s.sweep.settings; }),
  };
}

}  // namespace

const std::vector<Key>& all_keys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> all = plain_keys();
    add_sweep_keys(all);
    return all;
  }();
  return keys;
}

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/trial/trial_plan.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/core/suggest.h"
#include "dfcl/io/tables/column_values.h"

namespace dfcl::io {
namespace {

bool is_glob(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

class Planner {
 public:
  Planner(const data::Study& study, const arrow::Schema& schema, bool is_text_file, const std::string& path)
      : study_(study), schema_(schema), is_text_file_(is_text_file), path_(path), names_(schema.field_names()) {}

  TrialPlan plan() {
    const auto& columns = study_.columns;
    plan_.arm = add_role("arm", columns.arm, ParseAs::labels);
    plan_.revenue = add_outcome("revenue", columns.revenue);
    plan_.cost = add_outcome("cost", columns.cost);
    plan_.cost_if = add_outcome("cost_if", columns.cost_if);
    plan_.id = add_role("id", columns.id, ParseAs::text);
    plan_.time = add_role("time", columns.time, ParseAs::labels);
    plan_.cluster = add_role("cluster", columns.cluster, ParseAs::text);
    plan_.propensity = add_outcome("propensity", columns.propensity);
    plan_.weight = add_outcome("weight", columns.weight);
    for (const std::string& name : columns.guardrails) plan_.guardrails.push_back(add_outcome("guardrails", name));
    if (columns.rule) keep_from_features("rule", *columns.rule);
    if (study_.split.by != "hash" && study_.split.by != "time") {
      plan_.split = add_role("split", study_.split.by, ParseAs::labels);
    }
    for (const double code : columns.missing) plan_.missing_codes.push_back(static_cast<float>(code));
    check_names("exclude", columns.exclude);
    check_names("categorical", columns.categorical);
    add_features();
    return std::move(plan_);
  }

 private:
  [[noreturn]] void fail_unknown(const std::string& key, const std::string& name) const {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = fmt::format("no column '{}', named by {}", name, key),
                       .where = path_,
                       .hint = core::suggest(name, names_)});
  }

  bool has(const std::string& name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }

  int add_role(const std::string& role, const std::optional<std::string>& named, ParseAs parse_as) {
    if (!named) return TrialPlan::kNone;
    const std::string& name = *named;
    const std::string key = role == "split" ? "[split] by" : fmt::format("[columns] {}", role);
    if (!has(name)) fail_unknown(key, name);
    if (const auto [entry, is_new] = roles_.try_emplace(name, role); !is_new) {
      // A unit is its own cluster where both name one column; a row's id may also be its time's key, never an outcome.
      // A price may be due where something is bought at all, which may be the revenue.
      const bool harmless = (role == "cluster" && entry->second == "id") || role == "split" ||
                            (role == "cost_if" && entry->second == "revenue");
      if (!harmless) {
        throw core::Error({.kind = core::ErrorKind::usage,
                           .what = fmt::format("column '{}' has two roles: {} and {}", name, entry->second, role),
                           .where = "study"});
      }
    }
    plan_.wanted.push_back({name, parse_as});
    return static_cast<int>(plan_.wanted.size()) - 1;
  }

  // A column that is not read with the trial, and is no feature.
  void keep_from_features(const std::string& role, const std::string& name) {
    (void)add_role(role, name, ParseAs::labels);
    plan_.wanted.pop_back();
  }

  // Numbers, or words such as yes and no.
  int add_outcome(const std::string& role, const std::optional<std::string>& name) {
    const auto field = name ? schema_.GetFieldByName(*name) : nullptr;
    const bool number = field != nullptr && field->type()->id() != arrow::Type::BOOL && is_number(*field->type());
    return add_role(role, name, number ? ParseAs::float64 : ParseAs::labels);
  }

  // A plain name that is not there is a mistake; a glob may match nothing.
  void check_names(const std::string& key, const std::vector<std::string>& globs) const {
    for (const std::string& glob : globs) {
      if (!is_glob(glob) && !has(glob)) fail_unknown("[columns] " + key, glob);
    }
  }

  void add_features() {
    const auto& columns = study_.columns;
    check_names("features", columns.features);
    for (const std::string& name : columns.features) {
      if (const auto role = roles_.find(name); !is_glob(name) && role != roles_.end()) {
        throw core::Error({.kind = core::ErrorKind::usage,
                           .what = fmt::format("column '{}' is the {} and cannot be a feature", name, role->second),
                           .where = "study, [columns] features"});
      }
    }
    for (const auto& field : schema_.fields()) {
      const std::string& name = field->name();
      if (roles_.contains(name) || !matches_any(name, columns.features) || matches_any(name, columns.exclude)) continue;
      const bool number = is_number(*field->type()) && !(is_text_file_ && is_word(*field->type()));
      const bool categorical = !number || matches_any(name, columns.categorical);
      plan_.feature_columns.push_back(static_cast<int>(plan_.wanted.size()));
      plan_.wanted.push_back({name, categorical ? ParseAs::labels : ParseAs::float32});
      plan_.features.push_back({name, categorical, {}});
    }
    if (plan_.features.empty()) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = "no features: [columns] features matches no column",
                         .where = path_,
                         .found = fmt::format("features = [\"{}\"]", fmt::join(columns.features, "\", \"")),
                         .hint = fmt::format("the columns are {}", core::suggest("", names_))});
    }
  }

  // Text files: true and false, and dates, are guessed as such but read as labels.
  static bool is_word(const arrow::DataType& type) {
    return type.id() != arrow::Type::INT64 && type.id() != arrow::Type::DOUBLE && type.id() != arrow::Type::NA;
  }

  const data::Study& study_;
  const arrow::Schema& schema_;
  bool is_text_file_;
  const std::string& path_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> roles_;  // column -> role
  TrialPlan plan_;
};

}  // namespace

bool matches_any(const std::string& name, const std::vector<std::string>& globs) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
}

TrialPlan plan_trial(const data::Study& study, const arrow::Schema& schema, bool is_text_file,
                     const std::string& path) {
  return Planner(study, schema, is_text_file, path).plan();
}

}  // namespace dfcl::io

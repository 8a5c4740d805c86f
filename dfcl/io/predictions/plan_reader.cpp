// SPDX-License-Identifier: Apache-2.0
//
// Reading of plans and of what came of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/suggest.h"
#include "dfcl/data/prediction_fingerprint.h"
#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/io/tables/batch_reader.h"
#include "dfcl/io/tables/table_summary_reader.h"

namespace dfcl::io {
namespace {

using data::ColumnType;

// The columns of a table that says something of each unit, read batch by batch.
class UnitTable {
 public:
  UnitTable(const std::string& path, const std::vector<std::string>& required, const std::vector<std::string>& optional,
            core::RunContext& context)
      : path_(path) {
    const std::vector<std::string> present = column_names(path);
    const auto has = [&](const std::string& name) {
      return std::find(present.begin(), present.end(), name) != present.end();
    };
    for (const std::string& name : required) {
      if (has(name)) continue;
      throw core::data_error(path, fmt::format("no column '{}'", name),
                             fmt::format("columns {}", fmt::join(present, ", ")),
                             fmt::format("columns {}", fmt::join(required, ", ")), core::suggest(name, present));
    }
    std::vector<std::string> names = required;
    for (const std::string& name : optional) {
      if (has(name)) names.push_back(name);
    }
    std::vector<ColumnType> types;
    for (const std::string& name : names) {
      places_[name] = types.size();
      types.push_back(type_of(name));
    }
    source_ = open_batches(path, names, types, context, "id");
  }

  bool has(const std::string& name) const { return places_.contains(name); }

  // Calls body(first row) for each batch.
  template <class Body>
  void read(Body&& body) {
    std::unordered_set<std::uint64_t> seen;
    while (source_->next(batch_)) {
      const data::Ids ids = data::ids_of_batch(batch_, places_.at("id"), ids_.size());
      for (std::size_t row = 0; row < ids.size(); ++row) {
        if (!seen.insert(ids.hash(row)).second) {
          throw core::data_error(path_, "an id stands twice", fmt::format("'{}'", ids.text(row)), "one row a unit",
                                 "add up the rows of a unit first");
        }
      }
      const std::size_t first = ids_.size();
      ids_.append(ids);
      body(first);
    }
    if (ids_.size() == 0) throw core::data_error(path_, "no rows", "a header only", "one row a unit");
  }

  std::size_t num_rows() const { return batch_.num_rows; }
  data::Ids& ids() { return ids_; }
  core::Error error(std::size_t unit, const std::string& column, const std::string& what, const std::string& found,
                    const std::string& expected) const {
    return core::data_error(fmt::format("{}, unit '{}', column '{}'", path_, ids_.text(unit), column), what, found,
                            expected);
  }
  const std::vector<double>& numbers(const std::string& name) const {
    return std::get<std::vector<double>>(batch_.columns[places_.at(name)]);
  }
  const data::TextColumn& texts(const std::string& name) const {
    return std::get<data::TextColumn>(batch_.columns[places_.at(name)]);
  }

  template <class T>
  void append_finite(const std::string& name, std::size_t first, std::vector<T>& values) const {
    for (std::size_t row = 0; row < num_rows(); ++row) {
      const double number = numbers(name)[row];
      if (!std::isfinite(number))
        throw error(first + row, name, "not a finite number", fmt::format("{}", number), "a number");
      values.push_back(static_cast<T>(number));
    }
  }

  void append_roles(std::size_t first, std::vector<data::Role>& roles) const {
    for (std::size_t row = 0; row < num_rows(); ++row) {
      const std::string_view word = texts("role")[row];
      const auto* const found = std::find(std::begin(data::kRoleNames), std::end(data::kRoleNames), word);
      if (found == std::end(data::kRoleNames)) {
        throw error(first + row, "role", "unknown role", fmt::format("'{}'", word), "plan, holdout or explore");
      }
      roles.push_back(static_cast<data::Role>(found - std::begin(data::kRoleNames)));
    }
  }

  void append_arms(std::size_t first, std::vector<std::string>& labels, std::vector<std::uint8_t>& arms) {
    for (std::size_t row = 0; row < num_rows(); ++row) {
      const std::string label(texts("arm")[row]);
      if (label.empty()) throw error(first + row, "arm", "no arm", "an empty value", "the arm's label");
      const auto [place, is_new] = arm_codes_.try_emplace(label, labels.size());
      if (is_new) labels.push_back(label);
      if (labels.size() > data::kMostArms)
        throw error(first + row, "arm", "too many arms", fmt::format("{}", labels.size()),
                    fmt::format("at most {}", data::kMostArms));
      arms.push_back(static_cast<std::uint8_t>(place->second));
    }
  }

  void check_propensities(std::size_t first, std::vector<float>* kept) const {
    for (std::size_t row = 0; row < num_rows(); ++row) {
      const double number = numbers("propensity")[row];
      if (!(number > 0.0 && number <= 1.0)) {
        throw error(first + row, "propensity", "not a probability", fmt::format("{:g}", number), "above 0, at most 1");
      }
      if (kept != nullptr) kept->push_back(static_cast<float>(number));
    }
  }

  void append_weights(const std::string& name, std::size_t first, std::vector<double>& weights) const {
    append_finite(name, first, weights);
    for (std::size_t row = 0; row < num_rows(); ++row) {
      const double weight = weights[weights.size() - num_rows() + row];
      if (weight < 0.0)
        throw error(first + row, name, "a negative sample weight", fmt::format("{:g}", weight), "0 or more");
    }
  }

  void append_times(std::vector<std::string>& times) const {
    for (std::size_t row = 0; row < num_rows(); ++row) times.emplace_back(texts("time")[row]);
  }

 private:
  ColumnType type_of(const std::string& name) const {
    if (name == "arm" || name == "role" || name == "time") return ColumnType::text;
    if (name != "id") return ColumnType::float64;
    return id_type_in(path_, "id");
  }

  std::string path_;
  std::unordered_map<std::string, std::size_t> places_;
  std::unique_ptr<data::BatchSource> source_;
  data::Batch batch_;
  data::Ids ids_;
  std::unordered_map<std::string, std::size_t> arm_codes_;
};

}  // namespace

std::string PlanFile::option(const std::string& name) const {
  for (const auto& [key, value] : provenance.options) {
    if (key == name) return value;
  }
  return "";
}

PlanFile read_plan(const std::string& path, core::RunContext& context) {
  UnitTable table(path, {"id", "arm", "revenue", "cost"},
                  {"role", "propensity", "control_revenue", "control_cost", "time"}, context);
  PlanFile file;
  data::Plan& plan = file.plan;
  const bool has_control = table.has("control_revenue") && table.has("control_cost");
  table.read([&](std::size_t first) {
    table.append_arms(first, plan.arms, plan.arm);
    table.append_finite("revenue", first, plan.revenue);
    table.append_finite("cost", first, plan.cost);
    if (table.has("role")) table.append_roles(first, plan.role);
    if (table.has("propensity")) table.check_propensities(first, &plan.propensity);
    if (has_control) table.append_finite("control_revenue", first, plan.control_revenue);
    if (has_control) table.append_finite("control_cost", first, plan.control_cost);
    if (table.has("time")) table.append_times(file.time);
  });
  plan.ids = std::move(table.ids());
  file.provenance = read_provenance(path);
  return file;
}

OutcomeTable read_outcomes(const std::string& path, core::RunContext& context, const OutcomeColumns& columns) {
  std::vector<std::string> needed = {"id", "revenue"};
  if (!columns.weight.empty()) needed.push_back(columns.weight);
  needed.insert(needed.end(), columns.guardrails.begin(), columns.guardrails.end());
  UnitTable table(path, needed, {"role", "arm", "cost", "time", "propensity"}, context);
  OutcomeTable outcomes;
  outcomes.guardrails.resize(columns.guardrails.size());
  table.read([&](std::size_t first) {
    if (table.has("role")) table.append_roles(first, outcomes.role);
    if (table.has("arm")) table.append_arms(first, outcomes.arms, outcomes.arm);
    table.append_finite("revenue", first, outcomes.revenue);
    if (table.has("cost")) table.append_finite("cost", first, outcomes.cost);
    for (std::size_t i = 0; i < columns.guardrails.size(); ++i)
      table.append_finite(columns.guardrails[i], first, outcomes.guardrails[i]);
    if (!columns.weight.empty()) table.append_weights(columns.weight, first, outcomes.weight);
    if (table.has("propensity")) table.check_propensities(first, nullptr);
    if (table.has("time")) table.append_times(outcomes.time);
  });
  outcomes.ids = std::move(table.ids());
  return outcomes;
}

}  // namespace dfcl::io

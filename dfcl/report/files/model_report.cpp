// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/files/model_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dfcl/core/run_context.h"
#include "dfcl/model/explain.h"
#include "dfcl/model/model_file.h"
#include "dfcl/report/files/findings_report.h"
#include "dfcl/report/files/model_brief.h"
#include "dfcl/report/text/text_table.h"
#include "dfcl/train/methods.h"

namespace dfcl::report {
namespace {

using nlohmann::ordered_json;

std::string plural(std::size_t count, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", count_text(count), count == 1 ? one : many);
}

const char* link_text(loss::OutcomeKind kind) {
  switch (kind) {
    case loss::OutcomeKind::real: return "any number";
    case loss::OutcomeKind::non_negative: return "not negative, log link";
    case loss::OutcomeKind::binary: return "a probability, logistic link";
  }
  return "";
}

std::string outcome_text(const learn::OutcomeFacts& facts, const learn::OutcomeScale& outcome) {
  std::string text = link_text(facts.kind);
  if (facts.kind == loss::OutcomeKind::real && facts.non_negative) text = "not negative";
  if (facts.arm_shape == learn::ArmShape::monotone) text += ", rises with the arm";
  if (facts.arm_shape == learn::ArmShape::concave) text += ", rises with the arm by ever less";
  if (facts.control_is_free) text += ", control is exactly 0";
  if (outcome.center != 0.0) text += fmt::format("; centred at {}", number_text(outcome.center));
  return text + fmt::format("; in units of {}", number_text(outcome.scale));
}

std::string revenue_text(const model::Model& model, const learn::Description& description) {
  if (!model.is_index()) return outcome_text(description.facts.revenue, description.scales.revenue);
  return "an index: made of learned efficiencies (revenue per cost of each step between arms) and predicted costs; it "
         "ranks "
         "decisions, its levels mean nothing";
}

// Known costs are said arm by arm, to all their digits.
std::string cost_text(const model::Model& model, const learn::Description& description) {
  const data::CostFacts& facts = model.cost_facts;
  if (!facts.is_known()) return outcome_text(description.facts.cost, description.scales.cost);
  std::string text = facts.kind == data::CostKind::rate ? "known, as a share of revenue:" : "known, per unit:";
  for (std::size_t arm = 0; arm < facts.per_arm.size(); ++arm)
    text += fmt::format("{} {} {}", arm == 0 ? "" : ",", printable(model.arms.labels[arm]), facts.per_arm[arm]);
  return text + (facts.kind == data::CostKind::price_if ? "; paid with a probability that is learned" : "");
}

std::string importance_text(const model::Model& model) {
  constexpr std::size_t kShown = 12;
  core::RunContext context(1);
  const auto list = model::feature_importance(model, context);
  if (list.empty()) return "";
  TextTable table({{"feature", Align::left}, {"importance"}});
  for (std::size_t i = 0; i < std::min(kShown, list.size()) && list[i].second > 0.0; ++i)
    table.add_row({list[i].first, percent_text(list[i].second)});
  return "\n" +
         wrap(
             "Features that decide (share of what replacing them by typical values changes in the net scores of arms "
             "over control):",
             2) +
         "\n" + table.text();
}

std::string trained_text(const model::Model& model) {
  const data::Study::Split& split = model.trained.split;
  const double total = split.train + split.validation + split.test;
  std::string how = split.by == "hash" || split.by == "time" ? fmt::format("split by {}", split.by)
                                                             : fmt::format("split by column '{}'", printable(split.by));
  if ((split.by == "hash" || split.by == "time") && total > 0.0)
    how += fmt::format(", {} to train", percent_text(split.train / total));
  return fmt::format("{}; {}; trial {:016x}", plural(model.trained.num_units, "unit", "units"), how,
                     model.trained.trial_fingerprint);
}

// The record as JSON, or null where it is none.
ordered_json record_of(const model::Model& model) {
  ordered_json record = ordered_json::parse(model.record, nullptr, false);
  return record.is_discarded() ? ordered_json() : record;
}

// How often decision epochs were undone (train/stages.h).
std::string went_back_text(const ordered_json& record) {
  const auto undone = std::count_if(record.begin(), record.end(), [](const ordered_json& entry) {
    return entry.is_object() && entry.contains("went_back") && entry["went_back"] == true;
  });
  if (undone == 0) return "";
  return wrap(fmt::format("The decision loss lost to two stages on the validation units, so the two-stage network was "
                          "kept{}.",
                          undone == 1 ? "" : fmt::format(", in {} networks", undone)),
              0) +
         "\n";
}

// Which epoch of each fit by prediction was kept, where it was not the last (learn/epoch_record.h).
std::string kept_text(const ordered_json& record) {
  std::string text;
  for (std::size_t i = 0; i + 1 < record.size(); ++i) {
    const ordered_json& entry = record[i];
    const ordered_json& next = record[i + 1];
    const auto flag = [](const ordered_json& of, const char* name) {
      return of.is_object() && of.contains(name) && of[name] == true;
    };
    if (!flag(entry, "kept") || flag(entry, "decides") || flag(next, "decides") || !entry["epoch"].is_number())
      continue;
    text +=
        wrap(fmt::format("Epoch {} was kept: no later one had a lower validation loss.", entry["epoch"].dump()), 0) +
        "\n";
    break;
  }
  return text;
}

// The figures of the last network's first and last epoch side by side.
std::string record_text(const model::Model& model) {
  const ordered_json record = record_of(model);
  if (!record.is_array() || record.empty() || !record.back().is_object()) return "";
  const ordered_json& last = record.back();
  const auto of_last = [&](const ordered_json& entry) {
    return entry.is_object() && entry.value("member", ordered_json()) == last.value("member", ordered_json());
  };
  const ordered_json& first = *std::find_if(record.begin(), record.end(), of_last);
  const bool decides = last.value("decides", ordered_json()) == true;
  TextTable table({{"figure", Align::left}, {"first epoch"}, {"last"}});
  for (const auto& [name, value] : last.items()) {
    if (!value.is_number() || name == "member" || name == "epoch" || (name == "decision_loss" && !decides)) continue;
    const auto before = first.find(name);
    const bool shown = before != first.end() && before->is_number() && (name != "decision_loss" || &first == &last);
    table.add_row({name, shown ? number_text(before->get<double>()) : "", number_text(value.get<double>())});
  }
  return fmt::format("\nTraining record, {}:\n{}{}", plural(record.size(), "epoch", "epochs"), table.text(),
                     kept_text(record) + went_back_text(record));
}

std::string multipliers_text(const model::Model& model) {
  if (model.multipliers.empty()) return "";
  TextTable table({{"budget", Align::left}, {"per unit"}, {"multiplier"}});
  for (const model::BudgetMultiplier& price : model.multipliers) {
    table.add_row({price.budget, number_text(price.budget_per_unit), number_text(price.multiplier)});
  }
  const bool is_total = model.multipliers.front().basis == data::BudgetBasis::total;
  return fmt::format("\nPrice of money at each budget, {} (revenue per unit of cost):\n{}",
                     is_total ? "control's cost included" : "above what control costs", table.text());
}

ordered_json outcome_json(const learn::OutcomeFacts& head, const learn::OutcomeScale& outcome) {
  constexpr const char* kShapes[] = {"plain", "monotone", "concave"};
  constexpr const char* kKinds[] = {"real", "non_negative", "binary"};
  return {{"kind", kKinds[static_cast<std::size_t>(head.kind)]},
          {"arm_shape", kShapes[static_cast<std::size_t>(head.arm_shape)]},
          {"non_negative", head.non_negative || head.kind != loss::OutcomeKind::real},
          {"control_is_free", head.control_is_free},
          {"center", outcome.center},
          {"scale", outcome.scale}};
}

ordered_json features_json(const model::Model& model) {
  ordered_json features = ordered_json::array();
  for (const data::FeatureColumn& column : model.features) {
    ordered_json entry = {{"name", column.name}, {"kind", column.categorical ? "category" : "number"}};
    if (column.categorical) entry["levels"] = column.levels;
    features.push_back(std::move(entry));
  }
  return features;
}

}  // namespace

std::string model_arms_text(const model::Model& model) {
  std::string text;
  for (std::size_t arm = 0; arm < model.arms.size(); ++arm) {
    text += fmt::format("{}{}{}", arm == 0 ? "" : ", ", printable(model.arms.labels[arm]),
                        arm == model.arms.control ? " (control)" : "");
  }
  return text + (model.arms.ordered ? "; graded" : "");
}

std::string model_text(const model::Model& model, const std::string& path, Length length) {
  if (length == Length::brief) return model_brief(model, path);
  std::string text = fmt::format("{}: a model: revenue and cost of a unit under each of {} arms\n", printable(path),
                                 model.arms.size());
  text += fmt::format("Method: {}; seed {}, dfcl {}, fingerprint {}\n\n", printable(train::method_words(model.method)),
                      model.seed, printable(model.version), model::fingerprint_of(model));
  const auto line = [&](const char* name, const std::string& value) {
    text += wrap(fmt::format("{:<12}{}", name, value), 12) + "\n";
  };
  line("arms", model_arms_text(model));
  const learn::Description first = model.predictors.front().predictor->describe(model.schema());
  line("revenue", revenue_text(model, first));
  line("cost", cost_text(model, first));
  for (const learn::WeightedPredictor& part : model.predictors) {
    for (const auto& [name, value] : part.predictor->describe(model.schema()).lines) {
      const std::string share =
          model.predictors.size() == 1 ? "" : fmt::format("; weight {}", number_text(part.weight));
      line(name.c_str(), value + share);
    }
  }
  line("trained on", trained_text(model));
  if (!model.options.empty()) {
    std::string options;
    for (const auto& [name, value] : model.options) {
      options += fmt::format("{}{} {}", options.empty() ? "" : ", ", printable(name), printable(value));
    }
    line("options", options);
  }
  for (const auto& [name, value] : finding_lines(model)) line(name.c_str(), value);
  return text + findings_text(model) + importance_text(model) + multipliers_text(model) + record_text(model);
}

std::string model_json(const model::Model& model) {
  ordered_json multipliers = ordered_json::array();
  for (const model::BudgetMultiplier& price : model.multipliers) {
    multipliers.push_back({{"budget", price.budget},
                           {"budget_per_unit", price.budget_per_unit},
                           {"budget_basis", data::to_text(price.basis)},
                           {"multiplier", price.multiplier},
                           {"scaled_multiplier", price.scaled_multiplier}});
  }
  ordered_json options = ordered_json::object();
  for (const auto& [name, value] : model.options) options[name] = value;
  const data::Study::Split& split = model.trained.split;
  const learn::Description description = model.predictors.front().predictor->describe(model.schema());
  ordered_json json = {
      {"kind", "model"},
      {"version", model.version},
      {"method", model.method},
      {"seed", model.seed},
      {"fingerprint", model::fingerprint_of(model)},
      {"is_index", model.is_index()},
      {"arms", {{"labels", model.arms.labels}, {"control", model.arms.control}, {"ordered", model.arms.ordered}}},
      {"revenue", outcome_json(description.facts.revenue, description.scales.revenue)},
      {"cost", outcome_json(description.facts.cost, description.scales.cost)},
      {"known_costs", {{"kind", data::to_text(model.cost_facts.kind)}, {"per_arm", model.cost_facts.per_arm}}},
      {"id_column", model.id_column},
      {"features", features_json(model)}};
  // Of one predictor, its own figures stand beside those of the model; of several, in a list.
  const auto add_figures = [](ordered_json& target, const learn::Description& of) {
    const ordered_json figures = ordered_json::parse(of.json);
    for (const auto& [name, value] : figures.items()) target[name] = value;
  };
  if (model.predictors.size() == 1) {
    add_figures(json, description);
  } else {
    for (const learn::WeightedPredictor& part : model.predictors) {
      ordered_json entry = {{"kind", part.predictor->kind()}, {"weight", part.weight}};
      add_figures(entry, part.predictor->describe(model.schema()));
      json["predictors"].push_back(std::move(entry));
    }
  }
  add_findings(json, model);
  core::RunContext context(1);
  ordered_json importance = ordered_json::object();
  for (const auto& [feature, share] : model::feature_importance(model, context)) importance[feature] = share;
  json["feature_importance"] = importance;
  json["multipliers"] = multipliers;
  json["trained_on"] = {{"units", model.trained.num_units},
                        {"trial_fingerprint", fmt::format("{:016x}", model.trained.trial_fingerprint)},
                        {"split",
                         {{"by", split.by},
                          {"train", split.train},
                          {"validation", split.validation},
                          {"test", split.test},
                          {"seed", split.seed}}}};
  json["options"] = options;
  json["record"] = record_of(model);
  json["study"] = model.study;
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace dfcl::report

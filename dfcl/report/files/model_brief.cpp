// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/files/model_brief.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/run_context.h"
#include "dfcl/launch/promise.h"
#include "dfcl/model/explain.h"
#include "dfcl/model/remarks.h"
#include "dfcl/model/study_words.h"
#include "dfcl/report/text/screen.h"
#include "dfcl/report/text/text_table.h"
#include "dfcl/report/text/wording.h"
#include "dfcl/train/methods.h"

namespace dfcl::report {
namespace {

constexpr std::size_t kMostPlans = 5;
constexpr std::size_t kMostFeatures = 5;

struct ShownPlan {
  std::string budget;
  data::EvaluatedPlan plan;
  core::Interval revenue;
};

// Those at the study's budgets, else a few by spend.
std::vector<ShownPlan> shown_plans(const model::Model& model, const Wording& wording) {
  std::vector<ShownPlan> shown;
  const std::vector<data::EvaluatedPlan>& plans = model.evaluated->plans;
  const std::size_t most = std::min(plans.size(), kMostPlans);
  for (std::size_t i = 0; i < most; ++i) {
    // The last is the largest spend, and the first, which spends nothing, is not worth a line.
    const data::EvaluatedPlan& plan = plans[(i + 1) * (plans.size() - 1) / most];
    shown.push_back({wording.money(plan.spend), plan,
                     core::normal_interval(plan.revenue, plan.revenue_error, launch::kPromiseLevel)});
  }
  return shown;
}

Table plans_table(const model::Model& model, const Wording& wording) {
  using P = ShownPlan;
  Table table =
      table_of<P>(shown_plans(model, wording),
                  {{"spend", [](const P& shown) { return shown.budget; }},
                   {"predicted revenue", [&](const P& shown) { return wording.revenue(shown.plan.predicted); }},
                   {"estimated (95 %)", [&](const P& shown) { return wording.interval(shown.revenue); }},
                   {"estimated cost", [&](const P& shown) { return wording.money(shown.plan.cost); }}},
                  0);
  table.title = fmt::format("Value of its plans per {} over control, estimated on {} that it had not learned from",
                            wording.unit(), wording.count(model.evaluated->num_units));
  return table;
}

std::string importance_brief(const model::Model& model) {
  std::string text;
  core::RunContext context(1);
  const auto list = model::feature_importance(model, context);
  for (std::size_t i = 0; i < std::min(kMostFeatures, list.size()) && list[i].second > 0.0; ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", core::printable_start(list[i].first, 30),
                        percent_text(list[i].second));
  return text.empty() ? "" : "Features that decide most: " + text + ".";
}

std::string stack_text(const model::Stack& stack) {
  std::string text;
  for (const model::StackMember& member : stack.members) {
    if (member.weight > 0.0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", percent_text(member.weight),
                          train::method_words(member.method));
  }
  return "Stack: " + text + ".";
}

std::string price_text(const model::Model& model, const data::ReportWords& words) {
  const Wording wording(words);
  std::string text;
  for (const model::BudgetMultiplier& price : model.multipliers)
    text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", number_text(price.multiplier),
                        wording.money(price.budget_per_unit));
  return text.empty() ? ""
                      : fmt::format("Marginal revenue per unit of {}, by budget per {}: {}.",
                                    core::printable_start(words.cost_name.empty() ? "cost" : words.cost_name, 30),
                                    wording.unit(), text);
}

}  // namespace

std::string model_brief(const model::Model& model, const std::string& path) {
  const Wording wording(model::study_words(model));
  Document document = {
      Paragraph{fmt::format("{}: {}, trained on {} with {} features; seed {}.", path, train::method_words(model.method),
                            wording.count(model.trained.num_units), count_text(model.features.size()), model.seed)},
      Paragraph{"Arms: " + model_arms_text(model) + "."}};
  for (const std::string& remark : model::learning_remarks(model))
    document.push_back(Paragraph{"Note: " + remark + "."});
  if (model.stack) document.push_back(Paragraph{stack_text(*model.stack)});
  const auto add = [&](const std::string& text) {
    if (!text.empty()) document.push_back(Paragraph{text});
  };
  if (model.is_index()) add("Its revenue is an index: it ranks decisions, its levels mean nothing.");
  add(importance_brief(model));
  add(price_text(model, model::study_words(model)));
  if (model.evaluated) {
    document.push_back(plans_table(model, wording));
  } else {
    add("What its plans are worth is not known from training: evaluate it on test rows.");
  }
  return screen_text(document, "settings, training record, every evaluated plan");
}

}  // namespace dfcl::report

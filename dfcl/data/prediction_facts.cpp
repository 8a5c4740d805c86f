// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/prediction_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/suggest.h"

namespace dfcl::data {
namespace {

const std::string* find_option(const Provenance& provenance, const std::string& name) {
  for (const auto& [key, value] : provenance.options) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::optional<std::size_t> find_arm(const std::vector<std::string>& labels, const std::string& label) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found == labels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - labels.begin());
}

void read_control(const Provenance& provenance, const std::string& where, PredictionFacts& facts) {
  const std::vector<std::string>& labels = facts.arms.labels;
  const std::string* written = find_option(provenance, kControlOption);
  if (written != nullptr && !find_arm(labels, *written)) {
    throw core::data_error(where, "the control that the file names is none of its arms", fmt::format("'{}'", *written),
                           fmt::format("one of {}", fmt::join(labels, ", ")));
  }
  facts.control_is_guessed = written == nullptr;
  facts.arms.control = written != nullptr ? *find_arm(labels, *written) : find_control(labels).value_or(0);
}

void read_index(const Provenance& provenance, const std::string& where, PredictionFacts& facts) {
  const std::string* written = find_option(provenance, kIndexOption);
  if (written != nullptr && *written != "true" && *written != "false") {
    throw core::data_error(where, fmt::format("cannot read {}", kIndexOption), fmt::format("'{}'", *written),
                           "true or false");
  }
  facts.is_index = written != nullptr && *written == "true";
  facts.index_is_guessed = written == nullptr;
}

void read_prices(const Provenance& provenance, const std::string& where, PredictionFacts& facts) {
  for (const std::string& label : facts.arms.labels) {
    const std::string name = kPriceOption + label;
    const std::string* written = find_option(provenance, name);
    if (written == nullptr) continue;
    double price = 0.0;
    const char* const end = written->data() + written->size();
    const auto [rest, problem] = std::from_chars(written->data(), end, price);
    if (problem != std::errc() || rest != end || !std::isfinite(price))
      throw core::data_error(where, fmt::format("cannot read {}", name), fmt::format("'{}'", *written), "a number");
    facts.price.push_back(price);
  }
  if (!facts.price.empty() && facts.price.size() != facts.arms.size()) {
    throw core::data_error(where, "prices for some arms only", fmt::format("{}", facts.price.size()),
                           fmt::format("one for each of {} arms, or none", facts.arms.size()));
  }
}

void read_evaluated(const Provenance& provenance, const std::string& where, PredictionFacts& facts) {
  const std::string* written = find_option(provenance, kEvaluatedOption);
  if (written == nullptr) return;
  facts.evaluated = evaluated_plans_of(*written);
  if (!facts.evaluated)
    throw core::data_error(where, fmt::format("cannot read {}", kEvaluatedOption), "", "what dfcl predict wrote");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> fact_options(const PredictionFacts& facts) {
  std::vector<std::pair<std::string, std::string>> options;
  if (!facts.model.empty()) options.emplace_back(kModelOption, facts.model);
  if (!facts.method.empty()) options.emplace_back(kMethodOption, facts.method);
  if (!facts.trained_on.empty()) options.emplace_back(kTrainedOption, facts.trained_on);
  if (!facts.control_is_guessed) options.emplace_back(kControlOption, facts.arms.labels[facts.arms.control]);
  if (!facts.index_is_guessed) options.emplace_back(kIndexOption, facts.is_index ? "true" : "false");
  for (std::size_t arm = 0; arm < facts.price.size(); ++arm)
    options.emplace_back(kPriceOption + facts.arms.labels[arm], fmt::format("{}", facts.price[arm]));
  if (facts.evaluated) options.emplace_back(kEvaluatedOption, to_line(*facts.evaluated));
  if (!facts.currency.empty()) options.emplace_back(kCurrencyOption, facts.currency);
  if (!facts.unit.empty()) options.emplace_back(kUnitOption, facts.unit);
  if (facts.revenue_is_count) options.emplace_back(kCountOption, "true");
  for (std::size_t i = 0; i < facts.carry.size(); ++i)
    options.emplace_back(fmt::format("{}{}", kCarryOption, i + 1), facts.carry[i]);
  return options;
}

Provenance with_facts(Provenance provenance, const PredictionFacts& facts) {
  for (auto& option : fact_options(facts)) {
    if (find_option(provenance, option.first) == nullptr) provenance.options.push_back(std::move(option));
  }
  return provenance;
}

PredictionFacts read_facts(std::vector<std::string> labels, const Provenance& provenance, const std::string& where) {
  PredictionFacts facts;
  facts.arms.labels = std::move(labels);
  read_control(provenance, where, facts);
  read_index(provenance, where, facts);
  if (const std::string* model = find_option(provenance, kModelOption)) facts.model = *model;
  if (const std::string* method = find_option(provenance, kMethodOption)) facts.method = *method;
  if (provenance.kind == "truth") facts.trained_on = kTrainedOnNothing;
  if (const std::string* trained = find_option(provenance, kTrainedOption)) facts.trained_on = *trained;
  read_prices(provenance, where, facts);
  read_evaluated(provenance, where, facts);
  if (const std::string* currency = find_option(provenance, kCurrencyOption)) facts.currency = *currency;
  if (const std::string* unit = find_option(provenance, kUnitOption)) facts.unit = *unit;
  const std::string* count = find_option(provenance, kCountOption);
  facts.revenue_is_count = count != nullptr && *count == "true";
  while (const std::string* name = find_option(provenance, fmt::format("{}{}", kCarryOption, facts.carry.size() + 1)))
    facts.carry.push_back(*name);
  return facts;
}

ReportWords report_words(const PredictionFacts& facts) {
  ReportWords words;
  words.currency = facts.currency;
  if (!facts.unit.empty()) words.unit = facts.unit;
  words.revenue_is_money = !facts.revenue_is_count;
  return words;
}

void apply_said(const SaidOfPrediction& said, PredictionFacts& facts) {
  const std::vector<std::string>& labels = facts.arms.labels;
  if (!said.control.empty()) {
    const auto arm = find_arm(labels, said.control);
    if (!arm)
      throw core::field_error("control", fmt::format("no arm '{}'", said.control), "", "",
                              core::suggest(said.control, labels));
    if (!facts.control_is_guessed && *arm != facts.arms.control) {
      throw core::field_error("control", "the predictions say which arm is control", fmt::format("'{}'", said.control),
                              fmt::format("'{}'", labels[facts.arms.control]),
                              "leave it out: it is for predictions that do not say");
    }
    facts.arms.control = *arm;
    facts.control_is_guessed = false;
  }
  if (!said.is_index) return;
  if (!facts.index_is_guessed && *said.is_index != facts.is_index) {
    throw core::field_error("index", "the predictions say whether their revenue is an index",
                            *said.is_index ? "an index" : "no index", facts.is_index ? "an index" : "no index",
                            "leave it out: it is for predictions that do not say");
  }
  facts.is_index = *said.is_index;
  facts.index_is_guessed = false;
}

}  // namespace dfcl::data

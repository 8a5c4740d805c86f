// SPDX-License-Identifier: Apache-2.0
//
// The facts of a prediction as the options of its file, and back. Files are hostile: every word is checked.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/data/prediction.h"
#include "dfcl/data/provenance.h"
#include "dfcl/data/report_words.h"

namespace dfcl::data {

inline constexpr const char* kIndexOption = "revenue_is_index";
inline constexpr const char* kControlOption = "control";
inline constexpr const char* kModelOption = "model";
inline constexpr const char* kMethodOption = "method";
inline constexpr const char* kTrainedOption = "trained_on";
// Its value where no unit's prediction was made by what was fitted on the unit: a truth, predictions out of bag.
inline constexpr const char* kTrainedOnNothing = "nothing";
inline constexpr const char* kPriceOption = "price_";  // + the arm's label
inline constexpr const char* kEvaluatedOption = "evaluated_plans";
inline constexpr const char* kCurrencyOption = "currency";
inline constexpr const char* kUnitOption = "unit";
inline constexpr const char* kCountOption = "revenue_is_count";
inline constexpr const char* kCarryOption = "carry_";  // + a number from 1: a column that travels on

// What the caller says of predictions that do not say it themselves.
struct SaidOfPrediction {
  std::string control;           // label; "": nothing
  std::optional<bool> is_index;  // unset: nothing
};

// model, method, trained_on, control, revenue_is_index, price_<arm>, evaluated_plans, currency, unit, revenue_is_count:
// those that are known.
std::vector<std::pair<std::string, std::string>> fact_options(const PredictionFacts& facts);

// The provenance with the facts among its options; those that it holds already stay.
Provenance with_facts(Provenance provenance, const PredictionFacts& facts);

// The facts of predictions with arms of these labels, from what their file says: no options where it says nothing.
// Throws Error of kind data, with `where`, for a control that is no arm, a flag that is no flag, prices that are no
// prices or not there for every arm, evaluated plans that make no sense.
PredictionFacts read_facts(std::vector<std::string> labels, const Provenance& provenance, const std::string& where);

// The words that the facts give for their figures.
ReportWords report_words(const PredictionFacts& facts);

// Adds what the caller says. Throws Error of kind usage for a control that is no arm, and where the predictions know
// better.
void apply_said(const SaidOfPrediction& said, PredictionFacts& facts);

}  // namespace dfcl::data

// SPDX-License-Identifier: Apache-2.0
//
// What a model's own study says for those who speak of its figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/data/report_words.h"
#include "dfcl/model/model.h"

namespace dfcl::model {

// The usual words where the model's study cannot be read: nothing depends on them.
data::ReportWords study_words(const Model& model);

// [value] of the model's study: what one unit of revenue is worth, and how it was said. None: it is not known.
struct RevenueValue {
  double worth = 1.0;
  bool is_margin = false;  // a share of revenue; else an amount per unit of revenue
};
std::optional<RevenueValue> study_value(const Model& model);

// Columns that travel from units into predictions and plans: [columns] carry and [report] segments, each once.
std::vector<std::string> carried_columns(const Model& model);

}  // namespace dfcl::model

// SPDX-License-Identifier: Apache-2.0
//
// What a model's own study says for those who speak of its figures.
#pragma once

#include <string>
#include <vector>

#include "dfcl/data/report_words.h"
#include "dfcl/model/model.h"

namespace dfcl::model {

// The usual words where the model's study cannot be read: nothing depends on them.
data::ReportWords study_words(const Model& model);

// Columns that travel from units into predictions and plans: [columns] carry and [report] segments, each once.
std::vector<std::string> carried_columns(const Model& model);

}  // namespace dfcl::model

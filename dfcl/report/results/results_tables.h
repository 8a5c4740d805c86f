// SPDX-License-Identifier: Apache-2.0
//
// The tables of results_document. Each takes the results and adds nothing where they hold nothing of the kind. To show
// a new figure, add a column here. Internal to report.
#pragma once

#include <string>
#include <vector>

#include "dfcl/report/results/json_table.h"
#include "dfcl/report/text/document.h"

namespace dfcl::report {

// What every table needs to know.
struct ResultsWords {
  explicit ResultsWords(const Json& results, Room room = Room::report);

  std::string per_unit() const;  // "EUR per customer"

  NumberFormat format;
  std::string revenue;
  std::string cost;
  std::string unit, units;  // "customer", "customers"
  std::vector<std::string> arms;
  Room room;
};

// Without its empty columns; nothing where nothing is left.
void add_table(Document& document, Table table);

std::string model_name(const Json& model);

// The plans of all models, with the model's name; on a screen budget by budget, so that models stand side by side.
std::vector<Json> plans_of(const Json& results, const ResultsWords& words, const char* which);

void add_differences(Document& document, const Json& results, const ResultsWords& words);
// `which` is deployed or matched.
void add_values(Document& document, const Json& results, const ResultsWords& words, const char* which);
// What models add over plans that need no model, and those plans themselves.
void add_baselines(Document& document, const Json& results, const ResultsWords& words);
void add_curves(Document& document, const Json& results, const ResultsWords& words);
void add_fit(Document& document, const Json& results, const ResultsWords& words);
void add_calibration(Document& document, const Json& results, const ResultsWords& words);
// Segments in reports only.
void add_allocation(Document& document, const Json& results, const ResultsWords& words);
void add_ranking(Document& document, const Json& results, const ResultsWords& words);
// Effects of the arms by segment; uplift by decile (on a screen one sentence a ranking); plans as short rules.
void add_effects(Document& document, const Json& results, const ResultsWords& words);
void add_uplift(Document& document, const Json& results, const ResultsWords& words);
void add_policy_trees(Document& document, const Json& results, const ResultsWords& words);
void add_trial(Document& document, const Json& results, const ResultsWords& words);
void add_free_parts(Document& document, const Json& results, const ResultsWords& words);

}  // namespace dfcl::report

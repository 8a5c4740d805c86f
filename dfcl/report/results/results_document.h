// SPDX-License-Identifier: Apache-2.0
//
// Results as a document: the content of the page without its charts, in the same order. Internal to report.
#pragma once

#include "dfcl/report/results/results_file.h"
#include "dfcl/report/text/document.h"

namespace dfcl::report {

Document results_document(const Json& results);

// The answer, the differences and the figures at the budgets: what a reader without scripts sees of the page.
Document answer_document(const Json& results);

// "Pays back: yes. Targeting beats random: not shown." Empty where the verdict has no such answers.
std::string two_answers(const Json& verdict);

// What a terminal shows in full: the answer in a sentence and the tables with fewer columns.
Document screen_document(const Json& results);

}  // namespace dfcl::report

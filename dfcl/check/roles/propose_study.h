// SPDX-License-Identifier: Apache-2.0
//
// A first study for a table nobody has described yet. The data are asked first: what was drawn at random, what differs
// between the arms, what is zero in control; names decide only what they leave open. Everything comes with its reason,
// and what is uncertain is marked. Time: a few passes over the sample; memory: a copy of 20,000 rows, and the sample.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/data/study.h"
#include "dfcl/data/table_sample.h"
#include "dfcl/data/table_summary.h"

namespace dfcl::check {

// What the user knows already; each must be there (columns of the table, an arm of the arm column).
struct StudyHints {
  std::optional<std::string> arm;
  std::optional<std::string> control;
  std::optional<std::string> revenue;
  std::optional<std::string> cost;
};

struct StudyProposal {
  data::Study study;
  std::map<std::string, std::string> remarks;  // "section.key" -> why; several lines where there are several reasons
  std::map<std::string, std::string> unsure;   // "section.key" -> what to check; part of the remarks too
};

// study.data.trial stays for the caller to fill in. Roles that cannot be found stay empty, with a remark. The sample is
// taken: missing codes are blanked in it. Throws Error of kind usage where a hint names what is not there.
StudyProposal propose_study(const data::TableSummary& summary, data::TableSample sample, const StudyHints& hints = {});

}  // namespace dfcl::check

// SPDX-License-Identifier: Apache-2.0
//
// A first study for a table nobody has described yet: roles guessed from names, types and values. A guess is for
// the user to correct, so each comes with a remark on why.
#pragma once

#include <map>
#include <string>

#include "dfcl/data/study.h"
#include "dfcl/data/table_summary.h"

namespace dfcl::data {

struct StudyGuess {
  Study study;
  std::map<std::string, std::string> remarks;  // "section.key" -> why, or what to check
};

// study.data.trial stays for the caller to fill in. Roles that cannot be guessed stay empty, with a remark.
StudyGuess guess_study(const TableSummary& table);

}  // namespace dfcl::data

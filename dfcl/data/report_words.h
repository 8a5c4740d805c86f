// SPDX-License-Identifier: Apache-2.0
//
// How reports speak of a study's figures: the words of its [report], and the usual ones where it has none.
#pragma once

#include <string>

#include "dfcl/data/study.h"

namespace dfcl::data {

struct ReportWords {
  std::string title;
  std::string currency;  // "": plain numbers
  std::string revenue_name;
  std::string cost_name;
  std::string decimal = ".";
  std::string thousands = ",";
};

// Without a title: the name of the trial. Without names for revenue and cost: those of their columns, else "cost".
ReportWords report_words(const Study& study);

}  // namespace dfcl::data

// SPDX-License-Identifier: Apache-2.0
//
// The words and numbers of sentences, as the study's [report] section wants them.
#pragma once

#include <string>

#include "dfcl/data/report_words.h"

namespace dfcl::evaluate {

struct Words {
  std::string revenue = "revenue";
  std::string cost = "cost";
  std::string currency = {};
  std::string decimal = ".";
  std::string thousands = ",";
  std::string unit = "unit";  // what a unit is called, and several of them
  std::string units = "units";
};

Words words_of(const data::ReportWords& report);

// 1,234 or 0.1234: whole numbers from a thousand, else so many significant digits.
std::string number_words(double value, const Words& words, int digits = 4);
// The same with the currency before it, where there is one.
std::string money_words(double value, const Words& words);

}  // namespace dfcl::evaluate

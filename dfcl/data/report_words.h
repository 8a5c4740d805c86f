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
  std::string unit = "unit";     // what a unit is called
  bool revenue_is_money = true;  // in the currency; false: revenue counts something, and [value] says what it is worth
  std::string decimal = ".";
  std::string thousands = ",";
};

// "customers" of "customer", "boxes" of "box", "companies" of "company".
std::string plural_word(const std::string& word);

// The currency before the number: "EUR 12.50", "$12.50", "-$12.50"; the number alone where there is no currency.
std::string with_currency(const std::string& number, const std::string& currency);

// Without a title: the name of the trial. Without names for revenue and cost: those of their columns, else "cost".
ReportWords report_words(const Study& study);

}  // namespace dfcl::data

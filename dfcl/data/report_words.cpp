// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/report_words.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>

namespace dfcl::data {

std::string plural_word(const std::string& word) {
  const auto ends_in = [&](std::initializer_list<const char*> endings) {
    return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return word.ends_with(ending); });
  };
  if (word.empty()) return word;
  if (ends_in({"s", "x", "z", "ch", "sh"})) return word + "es";
  if (word.ends_with("y") && !ends_in({"ay", "ey", "oy", "uy"})) return word.substr(0, word.size() - 1) + "ies";
  return word + "s";
}

std::string with_currency(const std::string& number, const std::string& currency) {
  if (currency.empty() || number.empty()) return number;
  const bool is_code = std::any_of(currency.begin(), currency.end(),
                                   [](unsigned char letter) { return letter < 0x80 && std::isalnum(letter) != 0; });
  const std::string sign = number.front() == '-' || number.front() == '+' ? number.substr(0, 1) : "";
  return sign + currency + (is_code ? " " : "") + number.substr(sign.size());
}

ReportWords report_words(const Study& study) {
  const Study::Report& report = study.report;
  return {report.title.value_or(std::filesystem::path(study.data.trial.value_or("")).stem().string()),
          report.currency.value_or(""),
          report.revenue_name.value_or(study.columns.revenue),
          report.cost_name.value_or(study.columns.cost.value_or("cost")),
          report.unit,
          !study.value.per_revenue,
          report.decimal,
          report.thousands};
}

}  // namespace dfcl::data

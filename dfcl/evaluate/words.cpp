// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/words.h"

#include <fmt/format.h>

#include <cmath>

namespace dfcl::evaluate {

Words words_of(const data::ReportWords& report) {
  return {
      report.revenue_name,           report.cost_name, report.currency, report.decimal, report.thousands, report.unit,
      data::plural_word(report.unit)};
}

std::string number_words(double value, const Words& words, int digits) {
  if (!(std::abs(value) >= 999.5)) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    const std::size_t mark = text.find('.');
    return mark == std::string::npos ? text : text.replace(mark, 1, words.decimal);
  }
  std::string text = fmt::format("{:.0f}", value);
  const std::size_t sign = value < 0.0 ? 1 : 0;
  if (std::isfinite(value)) {
    for (std::size_t place = text.size(); place > sign + 3;) text.insert(place -= 3, words.thousands);
  }
  return text;
}

std::string money_words(double value, const Words& words) {
  return data::with_currency(number_words(value, words), words.currency);
}

}  // namespace dfcl::evaluate

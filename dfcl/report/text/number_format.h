// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them: on the terminal in one way for all verbs, in reports as the study's [report] section
// wants them. web/src/format.ts does the latter for the page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dfcl/core/interval.h"
#include "dfcl/data/report_words.h"

namespace dfcl::report {

// For the terminal.
std::string count_text(std::size_t count);      // 1,234,567
std::string number_text(double value);          // four significant digits, 12,345 from a thousand; "n/a" for NaN
std::string amount_text(double amount);         // money: 12,345.67; four digits below 10; "none" if not finite
std::string percent_text(double share);         // 12.3 %
std::string signed_percent_text(double share);  // +12.3 %
// +1.23 % [+0.20, +2.26]; "" where there is no value, without brackets where there are no ends.
std::string percent_change_text(const core::Interval& share);
std::string p_value_text(double p);                  // 0.032, <0.0001
std::string interval_text(double low, double high);  // [0.1, 0.3]

// For reports.
class NumberFormat {
 public:
  NumberFormat(std::string currency, std::string decimal, std::string thousands);
  explicit NumberFormat(const data::ReportWords& words);

  const std::string& currency() const { return currency_; }
  std::string fixed(double value, int decimals) const;  // "" where there is no number
  std::string plain(double value) const;                // four significant digits
  std::string budget(double value) const;               // the same without zeros at the end of the fraction
  std::string count(double value) const { return fixed(value, 0); }
  std::string money(double value) const;        // per unit: four significant digits, the currency before it
  std::string total(double value) const;        // of many units: 12,345.67
  std::string money_total(double value) const;  // the same with the currency
  std::string roi(double share) const;          // profit per cost: 123.4 %
  std::string percent(double share, int decimals = 1) const;
  std::string p_value(double p) const;
  std::string range(double low, double high, int decimals) const;            // "0.1 to 0.3"
  std::string interval(const core::Interval& interval, int decimals) const;  // "0.2 (0.1 to 0.3)"

 private:
  std::string currency_;
  std::string decimal_;
  std::string thousands_;
};

// Decimals that show `digits` significant digits of the largest of the values.
int decimals_of(const std::vector<double>& values, int digits);

// One number of decimals for a column of intervals: two digits of the typical half width, and up to three significant
// digits of the values.
int decimals_of_intervals(const std::vector<core::Interval>& intervals);

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
//
// Numbers as the study's [report] section wants them written. Internal to report; web/src/format.ts does the same for
// the page.
#pragma once

#include <string>
#include <vector>

#include "dfcl/report/evaluation/results_file.h"

namespace dfcl::report {

class NumberFormat {
 public:
  // The "report" part of a results file; null is fine.
  explicit NumberFormat(const Json& report);

  const std::string& currency() const { return currency_; }
  std::string fixed(double value, int decimals) const;  // "" where there is no number
  std::string plain(double value) const;                // four significant digits
  std::string budget(double value) const;               // the same without zeros at the end of the fraction
  std::string count(double value) const { return fixed(value, 0); }
  std::string money(double value) const;
  std::string percent(double share, int decimals = 1) const;
  std::string p_value(double p) const;
  std::string range(double low, double high, int decimals) const;                      // "0.1 to 0.3"
  std::string interval(const Json& interval, int decimals, double scale = 1.0) const;  // "0.2 (0.1 to 0.3)"

 private:
  std::string currency_;
  std::string decimal_ = ".";
  std::string thousands_ = ",";
};

// Decimals that show `digits` significant digits of the largest of the values.
int decimals_of(const std::vector<double>& values, int digits);

// One number of decimals for a column of intervals: two digits of the typical half width, and up to three significant
// digits of the values.
int decimals_of_intervals(const std::vector<const Json*>& intervals);

}  // namespace dfcl::report

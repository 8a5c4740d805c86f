// SPDX-License-Identifier: Apache-2.0
//
// Figures in the words of a study: units called what they are, money with its currency. Everything that verbs print in
// brief is worded here.
#pragma once

#include <cstddef>
#include <string>

#include "dfcl/core/interval.h"
#include "dfcl/data/report_words.h"
#include "dfcl/report/text/number_format.h"

namespace dfcl::report {

class Wording {
 public:
  explicit Wording(const data::ReportWords& words);

  const std::string& unit() const { return unit_; }    // "customer"
  const std::string& units() const { return units_; }  // "customers"
  std::string count(std::size_t units) const;          // "64,000 customers"

  // Per unit; revenue in the currency where it is money.
  std::string money(double value) const { return format_.money(value); }
  std::string revenue(double value) const { return is_money_ ? format_.money(value) : format_.plain(value); }
  // Of many units.
  std::string money_total(double value) const { return format_.money_total(value); }
  std::string revenue_total(double value) const {
    return is_money_ ? format_.money_total(value) : format_.total(value);
  }

  // "0.77 (0.49 to 1.06)": two digits of the half width; without ends, the value alone. "" where there is no value.
  std::string interval(const core::Interval& interval) const;
  // Of many units: "12,345 (-200 to 24,890)".
  std::string interval_total(const core::Interval& interval) const;

  // ", EUR" where there is a currency: for titles of columns.
  std::string in_money() const { return format_.currency().empty() ? "" : ", " + format_.currency(); }
  std::string in_revenue() const { return is_money_ ? in_money() : ""; }

  const NumberFormat& format() const { return format_; }

 private:
  NumberFormat format_;
  std::string unit_;
  std::string units_;
  bool is_money_;
};

}  // namespace dfcl::report

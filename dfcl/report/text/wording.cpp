// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/text/wording.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/printable.h"

namespace dfcl::report {

Wording::Wording(const data::ReportWords& words)
    : format_(words),
      unit_(core::printable(words.unit.empty() ? "unit" : words.unit)),
      units_(core::printable(data::plural_word(words.unit.empty() ? "unit" : words.unit))),
      is_money_(words.revenue_is_money) {}

std::string Wording::count(std::size_t units) const {
  return format_.count(static_cast<double>(units)) + " " + (units == 1 ? unit_ : units_);
}

std::string Wording::interval(const core::Interval& interval) const {
  if (!interval.has_ends()) return format_.plain(interval.value);
  return format_.interval(interval, decimals_of_intervals({interval}));
}

std::string Wording::interval_total(const core::Interval& interval) const {
  const std::string value = format_.total(interval.value);
  if (!interval.has_ends() || value.empty()) return value;
  const double size = std::max(std::abs(interval.low), std::abs(interval.high));
  const int decimals = size >= 1000.0 ? 0 : decimals_of({size}, 4);
  return format_.interval(interval, decimals);
}

}  // namespace dfcl::report

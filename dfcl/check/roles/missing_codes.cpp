// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/roles/missing_codes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfcl::check {
namespace {

constexpr double kCodes[] = {-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0};

enum class Found { nowhere, alone, among_others };

// How a code stands in a column: alone at its end where the rest is at least half the code away and no wider than it.
Found look_for(double code, const std::vector<float>& numbers) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  bool found = false;
  for (const float number : numbers) {
    const auto value = static_cast<double>(number);
    if (std::isnan(value)) continue;
    if (value == code) {
      found = true;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!found) return Found::nowhere;
  if (low > high) return Found::among_others;  // nothing else
  const double gap = code < 0.0 ? low - code : code - high;
  const bool is_alone = gap >= 0.5 * std::fabs(code) && (code < 0.0 || high - low <= gap);
  return is_alone ? Found::alone : Found::among_others;
}

}  // namespace

std::vector<double> find_missing_codes(const data::TableSample& sample, const std::vector<bool>& except) {
  std::vector<double> codes;
  for (const double code : kCodes) {
    bool any = false;
    bool all = true;
    for (std::size_t i = 0; i < sample.columns.size() && all; ++i) {
      if (except[i] || !sample.columns[i].is_number()) continue;
      const Found found = look_for(code, sample.columns[i].numbers);
      any = any || found == Found::alone;
      all = found != Found::among_others;
    }
    if (any && all) codes.push_back(code);
  }
  return codes;
}

void blank_codes(const std::vector<double>& codes, const std::vector<bool>& except, data::TableSample& sample) {
  if (codes.empty()) return;
  for (std::size_t i = 0; i < sample.columns.size(); ++i) {
    if (except[i]) continue;
    for (float& number : sample.columns[i].numbers) {
      if (std::find(codes.begin(), codes.end(), static_cast<double>(number)) != codes.end()) number = std::nanf("");
    }
  }
}

}  // namespace dfcl::check

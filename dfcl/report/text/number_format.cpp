// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/text/number_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfcl::report {
namespace {

constexpr int kMostDecimals = 8;

int decimals_below(double size, int digits) {
  return std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(size))), 0, kMostDecimals);
}

}  // namespace

std::string count_text(std::size_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "n/a";
  const double size = std::abs(value);
  if (size >= 1000.0 && size < 1e15) {
    std::string digits = fmt::format("{:.0f}", value);
    for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > (value < 0.0 ? 1 : 0); place -= 3) {
      digits.insert(static_cast<std::size_t>(place), ",");
    }
    return digits;
  }
  return fmt::format("{:.4g}", value == 0.0 ? 0.0 : value);
}

std::string amount_text(double amount) {
  if (!std::isfinite(amount)) return "none";
  if (amount != 0.0 && std::abs(amount) < 10.0) return number_text(amount);
  const std::string digits = fmt::format("{:.2f}", std::abs(amount));
  const std::size_t point = digits.find('.');
  std::string text = amount < 0.0 ? "-" : "";
  for (std::size_t i = 0; i < point; ++i) {
    if (i > 0 && (point - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text + digits.substr(point);
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return "n/a";
  return share > 0.0 && share < 0.001 ? fmt::format("{:.2g} %", 100.0 * share) : fmt::format("{:.1f} %", 100.0 * share);
}

std::string signed_percent_text(double share) {
  const std::string text = fmt::format("{:+.1f} %", 100.0 * share);
  return text == "-0.0 %" || text == "+0.0 %" ? "0.0 %" : text;
}

std::string percent_change_text(const core::Interval& share) {
  if (!std::isfinite(share.value)) return "";
  std::string text = fmt::format("{:+.2f} %", 100.0 * share.value);
  if (share.has_ends()) text += fmt::format(" ({:+.2f} to {:+.2f})", 100.0 * share.low, 100.0 * share.high);
  return text;
}

std::string p_value_text(double p) {
  if (!std::isfinite(p)) return "n/a";
  return p < 0.0001 ? "<0.0001" : fmt::format("{:.{}f}", p, p < 0.01 ? 4 : 3);
}

std::string interval_text(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "n/a";
  return fmt::format("({} to {})", number_text(low), number_text(high));
}

NumberFormat::NumberFormat(std::string currency, std::string decimal, std::string thousands)
    : currency_(std::move(currency)), decimal_(std::move(decimal)), thousands_(std::move(thousands)) {}

std::string NumberFormat::fixed(double value, int decimals) const {
  if (!std::isfinite(value)) return "";
  const std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::string text = value < 0.0 && digits.find_first_not_of("0.") != std::string::npos ? "-" : "";
  for (std::size_t i = 0; i < point; ++i) {
    if (i > 0 && (point - i) % 3 == 0) text += thousands_;
    text += digits[i];
  }
  if (point < digits.size()) text += decimal_ + digits.substr(point + 1);
  return text;
}

std::string NumberFormat::plain(double value) const { return fixed(value, decimals_of({value}, 4)); }

std::string NumberFormat::budget(double value) const {
  if (!std::isfinite(value)) return "";
  const std::string digits = fmt::format("{:.{}f}", value, decimals_of({value}, 4));
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t last = digits.find_last_not_of('0');
  return fixed(value, point < digits.size() ? static_cast<int>(last - point) : 0);
}

NumberFormat::NumberFormat(const data::ReportWords& words)
    : NumberFormat(words.currency, words.decimal, words.thousands) {}

std::string NumberFormat::money(double value) const { return data::with_currency(plain(value), currency_); }

// Cents from ten on, whole numbers from a hundred thousand.
std::string NumberFormat::total(double value) const {
  const double size = std::abs(value);
  return fixed(value, size >= 1e5 || value == 0.0 ? 0 : size >= 10.0 ? 2 : decimals_of({value}, 4));
}

std::string NumberFormat::money_total(double value) const { return data::with_currency(total(value), currency_); }

std::string NumberFormat::roi(double share) const {
  return std::isfinite(share) ? fixed(100.0 * share, std::abs(share) >= 10.0 ? 0 : 1) + " %" : "";
}

std::string NumberFormat::percent(double share, int decimals) const {
  return std::isfinite(share) ? fixed(100.0 * share, decimals) + " %" : "";
}

std::string NumberFormat::p_value(double p) const {
  if (!std::isfinite(p)) return "";
  return p < 0.0001 ? "<" + fixed(0.0001, 4) : fixed(p, p < 0.01 ? 4 : 3);
}

std::string NumberFormat::range(double low, double high, int decimals) const {
  if (!std::isfinite(low) || !std::isfinite(high)) return "";
  return fixed(low, decimals) + " to " + fixed(high, decimals);
}

std::string NumberFormat::interval(const core::Interval& interval, int decimals) const {
  const std::string value = fixed(interval.value, decimals);
  const std::string bounds = range(interval.low, interval.high, decimals);
  return value.empty() || bounds.empty() ? value : value + " (" + bounds + ")";
}

int decimals_of(const std::vector<double>& values, int digits) {
  double largest = 0.0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest > 0.0 ? decimals_below(largest, digits) : 0;
}

int decimals_of_intervals(const std::vector<core::Interval>& intervals) {
  std::vector<double> values;
  std::vector<double> halves;
  for (const core::Interval& interval : intervals) {
    values.push_back(interval.value);
    const double half = (interval.high - interval.low) / 2.0;
    if (half > 0.0 && std::isfinite(half)) halves.push_back(half);
  }
  if (halves.empty()) return decimals_of(values, 4);
  std::sort(halves.begin(), halves.end());
  return std::max(decimals_below(halves[halves.size() / 2], 2), std::min(decimals_of(values, 3), 3));
}

}  // namespace dfcl::report

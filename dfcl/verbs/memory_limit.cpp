// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/memory_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "dfcl/core/error_makers.h"

namespace dfcl::verbs {
namespace {

constexpr const char* kField = "memory";
constexpr double kMost = 1e18;

constexpr std::array<std::pair<std::string_view, double>, 10> kUnits = {{{"", 1.0},
                                                                         {"B", 1.0},
                                                                         {"KB", 1e3},
                                                                         {"MB", 1e6},
                                                                         {"GB", 1e9},
                                                                         {"TB", 1e12},
                                                                         {"KIB", 0x1p10},
                                                                         {"MIB", 0x1p20},
                                                                         {"GIB", 0x1p30},
                                                                         {"TIB", 0x1p40}}};

// Rounded up, to be given as a limit: "850 MB", "1.7 GB".
std::string bytes_text(double bytes) {
  if (bytes < 1e9) return fmt::format("{:.0f} MB", std::ceil(bytes / 1e7) * 10.0);
  return fmt::format("{:.1f} GB", std::ceil(bytes / 1e8) / 10.0);
}

// The most threads with which a way fits; 0: not even one.
int threads_within(double limit, const MemoryNeed& need, int threads) {
  while (threads > 0 && need(threads) > limit) --threads;
  return threads;
}

}  // namespace

double parse_memory(std::string_view text) {
  const auto refuse = [&](const char* what) {
    return core::field_error(kField, what, fmt::format("'{}'", text), "a size such as 500MB, 2GB or 1.5GiB");
  };
  double number = 0.0;
  const auto [rest, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (problem == std::errc::invalid_argument) throw refuse("cannot read the size");
  std::string unit(text.substr(static_cast<std::size_t>(rest - text.data())));
  unit.erase(0, unit.find_first_not_of(' '));
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](char letter) { return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter; });
  const auto* known = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& one) { return one.first == unit; });
  if (known == kUnits.end()) throw refuse("cannot read the size");
  const double bytes = number * known->second;
  if (problem != std::errc() || !(bytes >= 1.0 && bytes <= kMost)) throw refuse("out of range");
  return bytes;
}

bool keep_within(const std::string& limit, const MemoryWays& ways, core::RunContext& context) {
  const double most = parse_memory(limit);
  const int all = context.pool.threads();
  if (ways.plain(all) <= most) return false;
  const int saving = ways.saving ? threads_within(most, ways.saving, all) : 0;
  const int threads = saving > 0 ? saving : threads_within(most, ways.plain, all);
  if (threads == 0) {
    const double least = ways.saving ? std::min(ways.plain(1), ways.saving(1)) : ways.plain(1);
    throw core::field_error(
        kField,
        fmt::format("too little: this run takes about {} at least; give it that, or {}", bytes_text(least), ways.help),
        fmt::format("'{}'", limit));
  }
  context.pool.keep(threads);
  std::string words = saving > 0 ? ways.saving_words : "";
  if (threads < all) words += fmt::format("{}uses {} of {} threads", words.empty() ? "" : ", ", threads, all);
  context.warn(fmt::format("{}: {}", core::field_name(kField, limit), words));
  return saving > 0;
}

}  // namespace dfcl::verbs

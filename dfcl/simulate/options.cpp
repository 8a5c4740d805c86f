// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/options.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "dfcl/core/error_makers.h"
#include "dfcl/simulate/offer_response.h"

namespace dfcl::simulate {
namespace {

constexpr std::uint64_t kMaxRows = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxDays = 100'000;
constexpr double kMaxNoise = 1000.0;
constexpr double kMaxCostScale = 100.0;
constexpr double kMaxShift = 5.0;
constexpr double kShareSumTolerance = 1e-6;

[[noreturn]] void refuse(std::string what, const char* field, std::string found, std::string expected,
                         std::string hint = {}) {
  throw core::field_error(field, std::move(what), std::move(found), std::move(expected), std::move(hint));
}

void validate_days(const SimulatorOptions& options) {
  if (options.num_days == 0 && options.first_day == 0) return;
  if (options.preset != Preset::marketing) {
    refuse("only the preset marketing has days", "days", fmt::format("{}", options.num_days),
           fmt::format("no {} with preset {}", core::field_name("days"), core::to_word(options.preset)));
  }
  if (options.num_days == 0 || options.num_days > kMaxDays || options.first_day > kMaxDays) {
    refuse("the number of days is out of range", "days",
           fmt::format("{} after {}", options.num_days, options.first_day), fmt::format("1 to {}", kMaxDays));
  }
  if (options.num_rows % options.num_days != 0) {
    refuse("the rows cannot be shared out over the days", "rows", fmt::format("{}", options.num_rows),
           "a multiple of " + core::field_name("days", fmt::format("{}", options.num_days)),
           "use " + core::field_name("rows",
                                     fmt::format("{}", (options.num_rows / options.num_days + 1) * options.num_days)));
  }
}

void validate_response(const SimulatorOptions& options) {
  using enum Response;
  const bool of_varied = options.response == rules || options.response == few || options.response == smooth;
  const bool of_others = options.response == smooth || options.response == tree || options.response == sparse;
  const bool is_varied = options.preset == Preset::varied;
  if (is_varied ? of_varied : of_others) return;
  refuse(fmt::format("preset {} has no such response", core::to_word(options.preset)), "response",
         fmt::format("{}", core::to_word(options.response)),
         is_varied ? "one of rules, few, smooth" : "one of smooth, tree, sparse");
}

void validate_shares(const SimulatorOptions& options) {
  if (options.shares.empty()) return;
  const std::size_t num_arms = arm_labels(options).size();
  if (options.shares.size() != num_arms) {
    refuse("wrong number of shares", "shares", fmt::format("{} shares", options.shares.size()),
           fmt::format("{}, one for each arm of {}", num_arms, core::to_word(options.preset)));
  }
  for (const double share : options.shares) {
    if (!(share > 0.0) || !(share < 1.0)) {
      refuse("a share is out of range", "shares", fmt::format("{}", share), "above 0 and below 1");
    }
  }
  const double sum = std::accumulate(options.shares.begin(), options.shares.end(), 0.0);
  if (std::fabs(sum - 1.0) > kShareSumTolerance) {
    refuse("the shares do not sum to 1", "shares", fmt::format("a sum of {:.6g}", sum), "1");
  }
}

}  // namespace

void validate(const SimulatorOptions& options) {
  if (options.num_rows == 0 || options.num_rows > kMaxRows) {
    refuse("the number of rows is out of range", "rows", fmt::format("{}", options.num_rows),
           fmt::format("1 to {}", kMaxRows));
  }
  validate_response(options);
  validate_days(options);
  validate_shares(options);
  if (!(options.noise >= 0.0) || options.noise > kMaxNoise) {
    refuse("the noise is out of range", "noise", fmt::format("{}", options.noise), fmt::format("0 to {}", kMaxNoise));
  }
  if (!(options.cost_scale > 0.0) || options.cost_scale > kMaxCostScale) {
    refuse("the scale of costs is out of range", "cost_scale", fmt::format("{}", options.cost_scale),
           fmt::format("above 0, at most {}", kMaxCostScale));
  }
  if (!(std::fabs(options.population_shift) <= kMaxShift)) {
    refuse("the shift of the population is out of range", "population_shift",
           fmt::format("{}", options.population_shift), fmt::format("-{0} to {0}", kMaxShift));
  }
  if (options.preset != Preset::marketing && (options.cost_scale != 1.0 || options.population_shift != 0.0)) {
    refuse("only the preset marketing can change", options.cost_scale != 1.0 ? "cost_scale" : "population_shift",
           fmt::format("{}, {}", options.cost_scale, options.population_shift),
           fmt::format("1 and 0 with preset {}", core::to_word(options.preset)));
  }
  if (options.preset == Preset::criteo && options.noise != 1.0) {
    refuse("the noise of 0/1 outcomes cannot be scaled: their mean sets it", "noise", fmt::format("{}", options.noise),
           "1 with preset criteo", "use preset marketing, or fewer rows");
  }
  if (options.preset == Preset::varied && options.noise != 1.0) {
    refuse("the noise of this preset is fixed", "noise", fmt::format("{}", options.noise), "1 with preset varied",
           "use preset marketing, or fewer rows");
  }
}

std::vector<std::string> arm_labels(const SimulatorOptions& options) {
  switch (options.preset) {
    case Preset::marketing: return {"0", "5", "10", "15", "20"};
    case Preset::criteo: return {"0", "1"};
    case Preset::varied: return offer_arms(options.response).labels;
  }
  return {};
}

std::vector<double> arm_shares(const SimulatorOptions& options) {
  if (!options.shares.empty()) return options.shares;
  switch (options.preset) {
    case Preset::marketing: return {0.2, 0.2, 0.2, 0.2, 0.2};
    case Preset::criteo: return {0.15, 0.85};
    case Preset::varied: return offer_arms(options.response).shares;
  }
  return {};
}

}  // namespace dfcl::simulate

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "dfcl/check/draws.h"
#include "dfcl/core/distributions.h"
#include "dfcl/core/parallel.h"

namespace dfcl::check {
namespace {

constexpr double kMinDraws = 20.0;  // fewer draws in an arm can be constant by being few

struct Question {
  const data::Trial& trial;
  const ColumnTable& table;
  double num_units;       // that the table counts; the trial may be a sample of them
  double draws_per_unit;  // rows of one draw share their arm, so they count as that many less
  double level;           // p-values below it are beyond chance, over all features
  const CheckOptions& options;
  core::RunContext& context;
};

// Chi-square of missing x arm.
double missing_p(const Question& ask, std::size_t feature, double missing_share) {
  if (missing_share <= 0.0 || missing_share >= 1.0) return 1.0;
  double sum = 0.0;
  for (std::size_t arm = 0; arm < ask.trial.arms.size(); ++arm) {
    const auto units = static_cast<double>(ask.table.units_per_arm[arm]);
    const double missing = units - static_cast<double>(ask.table.cell(arm, feature).observed);
    const double surplus = missing - units * missing_share;
    if (units > 0.0) sum += surplus * surplus / (units * missing_share * (1.0 - missing_share));
  }
  return core::chi_square_upper(sum * ask.draws_per_unit, static_cast<double>(ask.trial.arms.size()) - 1.0);
}

std::string missing_reason(const Question& ask, std::size_t feature) {
  std::size_t lowest = 0;
  std::size_t highest = 0;
  std::size_t arms_with_missing = 0;
  std::vector<double> shares;
  double observed = 0.0;
  for (std::size_t arm = 0; arm < ask.trial.arms.size(); ++arm) {
    const ColumnInArm& cell = ask.table.cell(arm, feature);
    const auto units = static_cast<double>(std::max<std::size_t>(1, ask.table.units_per_arm[arm]));
    shares.push_back(1.0 - static_cast<double>(cell.observed) / units);
    observed += static_cast<double>(cell.observed);
    arms_with_missing += cell.observed < ask.table.units_per_arm[arm] ? 1 : 0;
    if (shares[arm] < shares[lowest]) lowest = arm;
    if (shares[arm] > shares[highest]) highest = arm;
  }
  const bool in_one_arm = arms_with_missing == 1;
  if (!in_one_arm && shares[highest] - shares[lowest] < ask.options.suspect_missing) return "";
  if (missing_p(ask, feature, 1.0 - observed / ask.num_units) >= ask.level) return "";
  const std::vector<std::string>& labels = ask.trial.arms.labels;
  if (in_one_arm) {
    return fmt::format("missing in arm '{}' only ({:.1f} % of its units)", labels[highest], 100.0 * shares[highest]);
  }
  return fmt::format("missing in {:.1f} % of arm '{}' but {:.1f} % of arm '{}'", 100.0 * shares[highest],
                     labels[highest], 100.0 * shares[lowest], labels[lowest]);
}

// The share of `value` in the observed units outside `arm`, of the units at hand.
double share_elsewhere(const Question& ask, std::size_t feature, std::size_t arm, float value) {
  using Pair = std::array<double, 2>;  // observed, and with the value
  const Pair counts = core::sum_chunks(
      ask.context, ask.trial.num_units(), chunk_size_of(ask.trial.num_units()), Pair{},
      [&](std::size_t begin, std::size_t end) {
        Pair part{};
        for (std::size_t row = begin; row < end; ++row) {
          const float own = ask.trial.features.values(row, feature);
          if (ask.trial.arm[row] == arm || !std::isfinite(own)) continue;
          part[0] += 1.0;
          part[1] += own == value ? 1.0 : 0.0;
        }
        return part;
      },
      [](Pair& total, const Pair& part) {
        total[0] += part[0];
        total[1] += part[1];
      });
  return counts[0] > 0.0 ? counts[1] / counts[0] : 1.0;
}

// Constant in one arm by chance has the probability f^n, with f the share of that value in the other arms.
std::string constant_reason(const Question& ask, std::size_t feature) {
  double observed = 0.0;
  for (std::size_t arm = 0; arm < ask.trial.arms.size(); ++arm) {
    observed += static_cast<double>(ask.table.cell(arm, feature).observed);
  }
  for (std::size_t arm = 0; arm < ask.trial.arms.size(); ++arm) {
    const ColumnInArm& cell = ask.table.cell(arm, feature);
    const double others = observed - static_cast<double>(cell.observed);
    const double draws = static_cast<double>(cell.observed) * ask.draws_per_unit;
    if (!cell.constant() || others == 0.0 || draws < kMinDraws) continue;
    const double share = share_elsewhere(ask, feature, arm, cell.low);
    if (share == 1.0 || draws * std::log(share) >= std::log(ask.level)) continue;
    const data::FeatureColumn& column = ask.trial.features.columns[feature];
    const auto code = static_cast<std::size_t>(std::max(0.0f, cell.low));
    const std::string value = column.categorical && code < column.levels.size() ? "'" + column.levels[code] + "'"
                                                                                : fmt::format("{:.6g}", cell.low);
    return fmt::format("always {} in arm '{}', but another value in {:.3g} % of the other arms' units", value,
                       ask.trial.arms.labels[arm], 100.0 * (1.0 - share));
  }
  return "";
}

std::string separation_reason(const Question& ask, const FeatureBalance& balance) {
  if (!balance.tested || std::fabs(balance.difference) < ask.options.suspect_difference || balance.p >= ask.level) {
    return "";
  }
  return fmt::format("separates the arms: {}{} in arm '{}' differs from control by {:.2f} standard deviations",
                     balance.what == "value" ? "" : balance.what + ", ",
                     balance.what == "value" ? "its mean" : "its share", balance.arm, balance.difference);
}

}  // namespace

std::vector<Suspect> find_suspects(const data::Trial& trial, const ColumnTable& table,
                                   const std::vector<FeatureBalance>& features, std::size_t num_draws,
                                   const CheckOptions& options, std::vector<bool>& left_out,
                                   core::RunContext& context) {
  std::vector<Suspect> suspects;
  const auto num_units =
      static_cast<double>(std::accumulate(table.units_per_arm.begin(), table.units_per_arm.end(), std::size_t{0}));
  const Question ask{.trial = trial,
                     .table = table,
                     .num_units = num_units,
                     .draws_per_unit = static_cast<double>(num_draws) / num_units,
                     .level = options.unfit_p / static_cast<double>(std::max<std::size_t>(1, features.size())),
                     .options = options,
                     .context = context};
  for (std::size_t feature = 0; feature < features.size(); ++feature) {
    std::string why = missing_reason(ask, feature);
    if (why.empty()) why = constant_reason(ask, feature);
    if (why.empty()) why = separation_reason(ask, features[feature]);
    if (why.empty()) continue;
    left_out[feature] = true;
    const std::string& name = features[feature].name;
    suspects.push_back(
        {name, why, fmt::format("if '{}' is measured after the arm was given, add it to [columns] exclude", name)});
  }
  return suspects;
}

}  // namespace dfcl::check

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/files/simulation_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace dfcl::report {
namespace {

using nlohmann::ordered_json;

// An arm that nobody got has no means.
ordered_json mean(double sum, std::uint64_t units) {
  return units == 0 ? ordered_json() : ordered_json(sum / static_cast<double>(units));
}

std::string mean_text(double sum, std::uint64_t units) {
  return units == 0 ? "-" : fmt::format("{:.5f}", sum / static_cast<double>(units));
}

}  // namespace

std::string simulation_text(const SimulationFigures& figures) {
  const simulate::SimulatorOptions& options = figures.options;
  const auto rows = static_cast<double>(options.num_rows);
  std::string text =
      fmt::format("{} rows, {} columns, preset {}, response {}, seed {}\n\n", options.num_rows, figures.num_columns,
                  core::to_word(options.preset), core::to_word(options.response), options.seed);
  text += fmt::format("{:>5}{:>12}{:>9}{:>14}{:>14}{:>16}{:>13}\n", "arm", "units", "share", "mean revenue",
                      "mean cost", "true revenue", "true cost");
  for (std::size_t i = 0; i < figures.totals.size(); ++i) {
    const simulate::ArmTotals& arm = figures.totals[i];
    text += fmt::format("{:>5}{:>12}{:>9.4f}{:>14}{:>14}{:>16.5f}{:>13.5f}\n", figures.arms[i], arm.units,
                        static_cast<double>(arm.units) / rows, mean_text(arm.revenue, arm.units),
                        mean_text(arm.cost, arm.units), arm.expected_revenue / rows, arm.expected_cost / rows);
  }
  return text;
}

std::string simulation_json(const SimulationFigures& figures) {
  const simulate::SimulatorOptions& options = figures.options;
  const auto rows = static_cast<double>(options.num_rows);
  ordered_json arms = ordered_json::array();
  for (std::size_t i = 0; i < figures.totals.size(); ++i) {
    const simulate::ArmTotals& arm = figures.totals[i];
    arms.push_back({{"arm", figures.arms[i]},
                    {"units", arm.units},
                    {"share", static_cast<double>(arm.units) / rows},
                    {"mean_revenue", mean(arm.revenue, arm.units)},
                    {"mean_cost", mean(arm.cost, arm.units)},
                    {"true_revenue", arm.expected_revenue / rows},
                    {"true_cost", arm.expected_cost / rows}});
  }
  const ordered_json result = {{"rows", options.num_rows},
                               {"columns", figures.num_columns},
                               {"preset", core::to_word(options.preset)},
                               {"response", core::to_word(options.response)},
                               {"seed", options.seed},
                               {"arms", arms}};
  return result.dump(2) + "\n";
}

}  // namespace dfcl::report

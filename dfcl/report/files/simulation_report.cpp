// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/files/simulation_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "dfcl/report/text/number_format.h"

namespace dfcl::report {
namespace {

using nlohmann::ordered_json;

// An arm that nobody got has no means.
ordered_json mean(double sum, std::uint64_t units) {
  return units == 0 ? ordered_json() : ordered_json(sum / static_cast<double>(units));
}

std::string mean_text(double sum, std::uint64_t units) {
  return units == 0 ? "-" : number_text(sum / static_cast<double>(units));
}

}  // namespace

std::string simulation_text(const SimulationFigures& figures, Length length) {
  const simulate::SimulatorOptions& options = figures.options;
  const auto rows = static_cast<double>(options.num_rows);
  Table table{.columns = {"arm", "units", "share", "mean revenue", "mean cost", "true revenue", "true cost"}};
  for (std::size_t i = 0; i < figures.totals.size(); ++i) {
    const simulate::ArmTotals& arm = figures.totals[i];
    table.rows.push_back({figures.arms[i], count_text(arm.units), percent_text(static_cast<double>(arm.units) / rows),
                          mean_text(arm.revenue, arm.units), mean_text(arm.cost, arm.units),
                          number_text(arm.expected_revenue / rows), number_text(arm.expected_cost / rows)});
  }
  const Document document = {
      Paragraph{fmt::format("{} rows, {} columns, preset {}, response {}, seed {}", count_text(options.num_rows),
                            figures.num_columns, core::to_word(options.preset), core::to_word(options.response),
                            options.seed)},
      table};
  return length == Length::brief ? screen_text(document) : document_text(document);
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

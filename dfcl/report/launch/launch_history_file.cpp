// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/launch_history_file.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/core/error_makers.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/report/results/results_file.h"
#include "dfcl/report/results/results_report.h"

namespace dfcl::report {
namespace {

// A figure that is missing would make every total wrong.
double finite_at(const Json& line, const char* key, const std::string& path) {
  const double number = number_at(line, key);
  if (!std::isfinite(number)) throw core::data_error(path, fmt::format("a launch without '{}'", key));
  return number;
}

core::Interval figure_at(const Json& line, const char* key, const std::string& path) {
  const core::Interval figure = interval_at(line, key);
  if (!std::isfinite(figure.value)) throw core::data_error(path, fmt::format("a launch without '{}'", key));
  return figure;
}

}  // namespace

std::vector<launch::LaunchLine> read_launches(const std::string& path, const std::string& currency,
                                              bool revenue_is_money) {
  const Json results = read_results(io::read_text_file(path, kMostResultsBytes), path);
  if (text_at(results, "kind") != "readout")
    throw core::data_error(path, "not the results of a readout", text_at(results, "kind"), "readout");
  const Json& lines = at(at(results, "readout"), "launches");
  if (!lines.is_array() || lines.empty())
    throw core::data_error(path, "a readout that lists no launches", "", "", "make it again with this version");
  const std::string counted_in = text_at(at(results, "report"), "currency");
  if (counted_in != currency)
    throw core::data_error(path, "launches counted in another currency", fmt::format("'{}'", counted_in),
                           fmt::format("'{}'", currency));
  if (flag_at(at(results, "report"), "revenue_is_money") != revenue_is_money)
    throw core::data_error(path, "launches whose revenue is counted in other units",
                           revenue_is_money ? "counts" : "money", revenue_is_money ? "money" : "counts");
  std::vector<launch::LaunchLine> launches;
  for (const Json& line : lines) {
    launch::LaunchLine launch{text_at(line, "name"),          0,
                              finite_at(line, "spend", path), figure_at(line, "revenue", path),
                              figure_at(line, "cost", path),  {}};
    const double units = finite_at(line, "units", path);
    if (!(units >= 0.0 && units <= 1e15)) throw core::data_error(path, "a launch of so many units is none");
    launch.units = static_cast<std::size_t>(units);
    if (at(line, "profit").is_object()) launch.profit = figure_at(line, "profit", path);
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/evaluation/results_frame.h"

#include <cmath>

#include "dfcl/report/text/text_table.h"

namespace dfcl::report {

using nlohmann::ordered_json;

ordered_json results_frame(const data::Provenance& provenance, const Headings& headings, const Verdict& verdict) {
  ordered_json options = ordered_json::array();
  for (const auto& [name, value] : provenance.options) options.push_back({name, value});
  return {{"format", "dfcl-results"},
          {"format_version", 1},
          {"kind", provenance.kind},
          {"made_by", {{"version", provenance.version}, {"verb", provenance.verb}, {"options", options}}},
          {"report",
           {{"title", headings.title},
            {"currency", headings.currency},
            {"revenue_name", headings.revenue_name},
            {"cost_name", headings.cost_name},
            {"decimal", "."},
            {"thousands", ","}}},
          {"verdict", {{"status", verdict.status}, {"sentence", verdict.sentence}, {"details", verdict.details}}}};
}

ordered_json number_json(double number) { return std::isfinite(number) ? ordered_json(number) : ordered_json(nullptr); }

ordered_json interval_json(const core::Interval& interval) {
  return {
      {"value", number_json(interval.value)}, {"low", number_json(interval.low)}, {"high", number_json(interval.high)}};
}

ordered_json figure_json(const Figure& figure) {
  ordered_json series = ordered_json::array();
  for (const FigureSeries& one : figure.series) {
    ordered_json points = ordered_json::array();
    for (const FigurePoint& point : one.points) {
      points.push_back({{"x", point.x},
                        {"y", number_json(point.y.value)},
                        {"low", number_json(point.y.low)},
                        {"high", number_json(point.y.high)}});
    }
    series.push_back({{"name", one.name}, {"points", points}});
  }
  ordered_json json = {{"id", figure.id},           {"title", figure.title},     {"note", figure.note},
                       {"x_label", figure.x_label}, {"y_label", figure.y_label}, {"x_scale", figure.x_scale},
                       {"kind", figure.kind},       {"series", series}};
  if (figure.panels) json["panels"] = true;
  return json;
}

ordered_json table_json(const PlainTable& table) {
  return {
      {"id", table.id}, {"title", table.title}, {"note", table.note}, {"columns", table.columns}, {"rows", table.rows}};
}

std::string table_text(const PlainTable& table) {
  std::vector<TableColumn> columns;
  for (const std::string& title : table.columns)
    columns.push_back({title, columns.empty() ? Align::left : Align::right});
  TextTable text(columns);
  for (const std::vector<std::string>& row : table.rows) text.add_row(row);
  return table.title + "\n\n" + text.text();
}

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/json_table.h"

#include <algorithm>

namespace dfcl::report {
namespace {

int column_decimals(const std::vector<Json>& rows, const JsonColumn& column) {
  if (column.show != Show::interval && column.show != Show::ends) return 1;
  std::vector<core::Interval> intervals;
  for (const Json& row : rows) intervals.push_back(interval_at(row, column.key));
  return decimals_of_intervals(intervals);
}

std::string cell_text(const Json& row, const JsonColumn& column, int decimals, const NumberFormat& format) {
  switch (column.show) {
    case Show::text: return text_at(row, column.key);
    case Show::interval: return format.interval(interval_at(row, column.key), decimals);
    case Show::relative_interval: return format.interval(interval_at(row, column.key).scaled(100.0), decimals);
    case Show::ends:
      return format.range(number_at(at(row, column.key), "low"), number_at(at(row, column.key), "high"), decimals);
    case Show::number: return format.plain(number_at(row, column.key));
    case Show::budget: return format.budget(number_at(row, column.key));
    case Show::count: return format.count(number_at(row, column.key));
    case Show::percent: return format.percent(number_at(row, column.key));
    case Show::p_value: return format.p_value(number_at(row, column.key));
  }
  return "";
}

}  // namespace

Table json_table(const std::vector<Json>& rows, const std::vector<JsonColumn>& columns, const NumberFormat& format,
                 Room room) {
  Table table;
  table.num_text_columns = 0;
  for (const Json& row : rows) {
    if (!row.is_null()) table.rows.emplace_back();
  }
  for (const JsonColumn& column : columns) {
    if (room == Room::screen && !column.on_screen) continue;
    if (column.show == Show::text && table.num_text_columns == table.columns.size()) ++table.num_text_columns;
    table.columns.push_back(column.title);
    const int decimals = column_decimals(rows, column);
    std::size_t place = 0;
    for (const Json& row : rows) {
      if (!row.is_null()) table.rows[place++].push_back(cell_text(row, column, decimals, format));
    }
  }
  return table;
}

}  // namespace dfcl::report

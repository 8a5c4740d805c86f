// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/text/table.h"

#include <algorithm>

#include "dfcl/report/text/text_table.h"

namespace dfcl::report {

std::string rows_text(const Table& table, std::size_t indent) {
  std::vector<TableColumn> columns;
  for (const std::string& title : table.columns)
    columns.push_back(
        {core::printable_start(title, 40), columns.size() < table.num_text_columns ? Align::left : Align::right});
  TextTable text(std::move(columns));
  for (const std::vector<std::string>& row : table.rows) text.add_row(row);
  return text.text(indent);
}

std::string table_text(const Table& table) {
  return table.title + "\n\n" + rows_text(table) + (table.note.empty() ? "" : wrap(table.note, 0) + "\n");
}

Table without_empty_columns(Table table) {
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    const bool used = std::any_of(table.rows.begin(), table.rows.end(),
                                  [&](const auto& row) { return column < row.size() && !row[column].empty(); });
    if (used) continue;
    const auto place = static_cast<std::ptrdiff_t>(column);
    table.columns.erase(table.columns.begin() + place);
    for (auto& row : table.rows) {
      if (column < row.size()) row.erase(row.begin() + place);
    }
    if (column < table.num_text_columns) --table.num_text_columns;
  }
  return table;
}

Table turned(const Table& table) {
  Table result{table.id, table.title, table.note, {""}, {}};
  for (const auto& row : table.rows) result.columns.push_back(row.front());
  for (std::size_t column = 1; column < table.columns.size(); ++column) {
    std::vector<std::string> cells = {table.columns[column]};
    for (const auto& row : table.rows) cells.push_back(row[column]);
    result.rows.push_back(std::move(cells));
  }
  return result;
}

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
//
// A table of texts: the one form in which tables reach the terminal, Markdown and results files. table_of makes one
// from a list of things and a description of its columns.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dfcl::report {

struct Table {
  std::string id = {};  // in a results file
  std::string title = {};
  std::string note = {};  // under the title
  std::vector<std::string> columns = {};
  std::vector<std::vector<std::string>> rows = {};
  std::size_t num_text_columns = 1;  // the first ones, flush left; the others hold numbers
};

// What stands under a title, for one row.
template <class Row>
struct Column {
  std::string title;
  std::function<std::string(const Row&)> cell;
};

template <class Row, class Rows>
Table table_of(const Rows& rows, const std::vector<Column<Row>>& columns, std::size_t num_text_columns = 1) {
  Table table;
  table.num_text_columns = num_text_columns;
  for (const Column<Row>& column : columns) table.columns.push_back(column.title);
  for (const Row& row : rows) {
    std::vector<std::string> cells;
    for (const Column<Row>& column : columns) cells.push_back(column.cell(row));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// Titles, a rule and the rows, without title and note; each line indented and ended by a newline. Cells beyond 40
// letters are cut, control characters replaced.
std::string rows_text(const Table& table, std::size_t indent = 2);
// Title, rows and note.
std::string table_text(const Table& table);

Table without_empty_columns(Table table);

// Rows as columns, of a table with one text column, whose title is left out.
Table turned(const Table& table);

}  // namespace dfcl::report

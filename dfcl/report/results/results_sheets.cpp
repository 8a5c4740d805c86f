// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_sheets.h"

#include <algorithm>
#include <utility>

namespace dfcl::report {
namespace {

using Named = std::vector<std::pair<std::string, io::Cell>>;

io::Cell cell_of(const Json& value) {
  if (value.is_boolean()) return std::string(value.get<bool>() ? "yes" : "no");
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return {};
}

bool is_list_of_objects(const Json& value) {
  return value.is_array() && std::any_of(value.begin(), value.end(), [](const Json& one) { return one.is_object(); });
}

// Collects sheets; rows of one list may come from several parents, and need not have the same figures.
class Collector {
 public:
  // row: what the parents are called, for the rows of lists inside.
  void add_object(const Json& object, const std::string& list, const Named& parents) {
    Named row = parents;
    Named name = parents;
    flatten(object, "", list, name, row);
    if (row.size() > parents.size()) add_row(list, row);
  }

  void add_table(const Json& table) {
    io::Sheet& sheet = sheet_of(text_at(table, "id").empty() ? text_at(table, "title") : text_at(table, "id"));
    for (const Json& column : at(table, "columns"))
      sheet.columns.push_back(column.is_string() ? column.get<std::string>() : "");
    for (const Json& cells : at(table, "rows")) {
      std::vector<io::Cell> row;
      for (std::size_t i = 0; i < sheet.columns.size(); ++i) row.push_back(cell_of(at(cells, i)));
      sheet.rows.push_back(std::move(row));
    }
  }

  std::vector<io::Sheet> take() {
    for (io::Sheet& sheet : sheets_) {
      for (auto& row : sheet.rows) row.resize(sheet.columns.size());
    }
    return std::move(sheets_);
  }

  io::Sheet& sheet_of(const std::string& name) {
    const auto found =
        std::find_if(sheets_.begin(), sheets_.end(), [&](const io::Sheet& sheet) { return sheet.name == name; });
    if (found != sheets_.end()) return *found;
    sheets_.push_back({name, {}, {}});
    return sheets_.back();
  }

 private:
  void flatten(const Json& object, const std::string& prefix, const std::string& list, Named& name, Named& row) {
    for (const auto& [key, value] : object.items()) {
      const std::string column = prefix + key;
      if (value.is_object()) {
        flatten(value, column + ".", list, name, row);
      } else if (!value.is_array()) {
        row.emplace_back(column, cell_of(value));
        if (!list.empty() &&
            (column == "name" || column == "kind" || column == "label" || column == "arm" || column == "column"))
          name.emplace_back(list + " " + column, cell_of(value));
      }
    }
    for (const auto& [key, value] : object.items()) {
      if (is_list_of_objects(value)) {
        for (const Json& one : value) add_object(one, list.empty() ? prefix + key : list + " " + prefix + key, name);
      } else if (value.is_array()) {
        std::size_t place = 0;
        for (const Json& one : value) {
          ++place;
          if (!one.is_structured()) row.emplace_back(prefix + key + "." + std::to_string(place), cell_of(one));
        }
      }
    }
  }

  void add_row(const std::string& list, const Named& row) {
    io::Sheet& sheet = sheet_of(list);
    std::vector<io::Cell> cells(sheet.columns.size());
    for (const auto& [column, cell] : row) {
      const auto found = std::find(sheet.columns.begin(), sheet.columns.end(), column);
      const auto place = static_cast<std::size_t>(found - sheet.columns.begin());
      if (found == sheet.columns.end()) {
        sheet.columns.push_back(column);
        cells.emplace_back();
      }
      cells[place] = cell;
    }
    sheet.rows.push_back(std::move(cells));
  }

  std::vector<io::Sheet> sheets_;
};

}  // namespace

std::vector<io::Sheet> results_sheets(const Json& results) {
  Collector collector;
  collector.sheet_of("results").columns = {"figure", "value"};
  Collector root;
  Json rest = results;
  rest.erase("figures");
  rest.erase("tables");
  root.add_object(rest, "", {});
  std::vector<io::Sheet> sheets;
  for (io::Sheet& sheet : root.take()) {
    if (!sheet.name.empty()) {
      sheets.push_back(std::move(sheet));
      continue;
    }
    io::Sheet& head = collector.sheet_of("results");  // one row of many figures reads better as a list
    for (std::size_t i = 0; i < sheet.columns.size(); ++i)
      head.rows.push_back({io::Cell(sheet.columns[i]), sheet.rows.front()[i]});
  }
  for (const Json& table : at(results, "tables")) collector.add_table(table);
  std::vector<io::Sheet> all = collector.take();
  all.insert(all.begin() + 1, std::make_move_iterator(sheets.begin()), std::make_move_iterator(sheets.end()));
  return all;
}

}  // namespace dfcl::report

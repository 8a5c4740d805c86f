// SPDX-License-Identifier: Apache-2.0
//
// Sheets of numbers and texts as a workbook (.xlsx) that spreadsheet programs open, and as one CSV file of all cells.
// The workbook is a ZIP archive of XML parts, stored without compression (docs/decisions/0085 says why no library).
// Equal sheets are equal bytes: no time and no author in them. Memory: the file once.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace dfcl::io {

// Nothing, a number or a text.
using Cell = std::variant<std::monostate, double, std::string>;

struct Sheet {
  std::string name;
  std::vector<std::string> columns;     // the first row
  std::vector<std::vector<Cell>> rows;  // at most as many cells as columns
};

// The bytes of the file. Names of sheets are cut and changed where the format asks for it; numbers that are not finite
// are left out, and so are control characters.
std::string workbook_bytes(const std::vector<Sheet>& sheets);

// Columns sheet, row (from 1), column, value: a row for each cell that holds something.
std::string cells_csv(const std::vector<Sheet>& sheets);

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
//
// Plain tables for the terminal. Every verb prints with these, so that all screens look alike. Text from files is shown
// with its control characters replaced, so that no input can drive the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/core/printable.h"
#include "dfcl/report/text/number_format.h"

namespace dfcl::report {

enum class Align { left, right };

struct TableColumn {
  std::string title;
  Align align = Align::right;
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns);

  // One cell a column; missing cells are blank.
  void add_row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Titles, a rule and the rows, each line indented and ended by a newline. Cells beyond 40 letters are cut.
  std::string text(std::size_t indent = 2) const;

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Letters of UTF-8 text.
std::size_t text_width(std::string_view text);
// With "..." at its end where it has more than `most` letters.
std::string cut_text(std::string text, std::size_t most);

// Paragraph of at most `width` letters a line; lines after the first are indented by `indent`.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width = 100);

using core::printable;

}  // namespace dfcl::report

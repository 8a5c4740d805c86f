// SPDX-License-Identifier: Apache-2.0
//
// Where the rows of CSV text begin and end, by the rules of Arrow's parser: a quote opens a quoted value only at the
// start of a field, two quotes inside one mean a quote, and a quoted value may hold line ends. Internal to io.
// Time: one pass at the speed of memchr, more where there are many quotes. No memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dfcl::io {

struct RowCut {
  std::size_t rows_end = 0;  // just after the last line end that ends a row; 0: none
  bool newlines_in_values = false;
  std::optional<std::size_t> open_quote;  // the quote that is not closed before the text ends
};

// The text starts at the start of a row, here and below.
RowCut cut_rows(std::string_view text, char separator);

// Just after the line end of the first row; npos where the text ends before it.
std::size_t first_row_end(std::string_view text);

// The separator the first row uses most, outside quotes: comma, semicolon, tab or bar.
char separator_of(std::string_view text);

// Rows are counted without blank lines, lines with them; both from 0.
std::int64_t line_of_row(std::string_view text, char separator, std::int64_t row);
std::int64_t row_at(std::string_view text, char separator, std::size_t position);

}  // namespace dfcl::io

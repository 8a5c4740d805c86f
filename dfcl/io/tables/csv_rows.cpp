// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/csv_rows.h"

#include <algorithm>
#include <array>

namespace dfcl::io {
namespace {

constexpr std::string_view kSeparators = ",;\t|";
constexpr std::size_t kNone = std::string_view::npos;

// The next quote that opens a quoted value, at `begin` or later.
std::size_t find_open_quote(std::string_view text, std::size_t begin, std::string_view separators) {
  for (std::size_t quote = text.find('"', begin); quote != kNone; quote = text.find('"', quote + 1)) {
    const char before = quote == 0 ? '\n' : text[quote - 1];
    if (before == '\n' || before == '\r' || separators.find(before) != kNone) return quote;
  }
  return kNone;
}

// Just after the quote that closes the one at `open`; npos where there is none.
std::size_t quoted_end(std::string_view text, std::size_t open) {
  std::size_t quote = text.find('"', open + 1);
  while (quote != kNone && quote + 1 < text.size() && text[quote + 1] == '"') quote = text.find('"', quote + 2);
  return quote == kNone ? kNone : quote + 1;
}

// Calls visit(begin, end, quoted) for the pieces of the text that are quoted or not, until it returns false.
template <class Visit>
void for_each_piece(std::string_view text, std::string_view separators, Visit&& visit) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t open = std::min(find_open_quote(text, begin, separators), text.size());
    if (open > begin && !visit(begin, open, false)) return;
    if (open == text.size()) return;
    const std::size_t end = std::min(quoted_end(text, open), text.size());
    if (!visit(open, end, true)) return;
    begin = end;
  }
}

// Calls visit(row, line, begin, end) for every row that is not blank, until it returns false.
template <class Visit>
void for_each_row(std::string_view text, char separator, Visit&& visit) {
  std::int64_t row = 0;
  std::int64_t line = 0;
  std::int64_t row_line = 0;
  std::size_t row_begin = 0;
  bool going = true;
  const auto end_row = [&](std::size_t end) {
    const std::string_view content = text.substr(row_begin, end - row_begin);
    if (content.find_first_not_of("\r\n") != kNone) going = visit(row++, row_line, row_begin, end);
    row_begin = end;
    row_line = line;
  };
  for_each_piece(text, {&separator, 1}, [&](std::size_t begin, std::size_t end, bool quoted) {
    const std::string_view upto = text.substr(0, end);
    for (std::size_t i = upto.find('\n', begin); i != kNone && going; i = upto.find('\n', i + 1)) {
      ++line;
      if (!quoted) end_row(i + 1);
    }
    return going;
  });
  if (going && row_begin < text.size()) end_row(text.size());
}

}  // namespace

RowCut cut_rows(std::string_view text, char separator) {
  RowCut cut;
  for_each_piece(text, {&separator, 1}, [&](std::size_t begin, std::size_t end, bool quoted) {
    const std::size_t line_end = text.substr(begin, end - begin).rfind('\n');
    if (quoted && line_end != kNone) cut.newlines_in_values = true;
    if (!quoted && line_end != kNone) cut.rows_end = begin + line_end + 1;
    if (quoted && end == text.size() && quoted_end(text, begin) == kNone) cut.open_quote = begin;
    return true;
  });
  return cut;
}

std::size_t first_row_end(std::string_view text) {
  std::size_t row_end = kNone;
  for_each_piece(text, kSeparators, [&](std::size_t begin, std::size_t end, bool quoted) {
    const std::size_t line_end = quoted ? kNone : text.substr(0, end).find('\n', begin);
    if (line_end != kNone) row_end = line_end + 1;
    return row_end == kNone;
  });
  return row_end;
}

char separator_of(std::string_view text) {
  std::array<std::ptrdiff_t, kSeparators.size()> counts{};
  for_each_piece(text.substr(0, first_row_end(text)), kSeparators,
                 [&](std::size_t begin, std::size_t end, bool quoted) {
                   for (std::size_t i = 0; i < counts.size() && !quoted; ++i) {
                     counts[i] += std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                             text.begin() + static_cast<std::ptrdiff_t>(end), kSeparators[i]);
                   }
                   return true;
                 });
  return kSeparators[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
}

std::int64_t line_of_row(std::string_view text, char separator, std::int64_t row) {
  std::int64_t found = 0;
  for_each_row(text, separator, [&](std::int64_t number, std::int64_t line, std::size_t, std::size_t) {
    found = line;
    return number < row;
  });
  return found;
}

std::int64_t row_at(std::string_view text, char separator, std::size_t position) {
  std::int64_t found = 0;
  for_each_row(text, separator, [&](std::int64_t number, std::int64_t, std::size_t, std::size_t end) {
    found = number;
    return end <= position;
  });
  return found;
}

}  // namespace dfcl::io

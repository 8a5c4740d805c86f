// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/text/text_table.h"

#include <algorithm>
#include <utility>

namespace dfcl::report {
namespace {

constexpr std::size_t kMaxCell = 40;

bool starts_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u; }

void append_cell(std::string& line, const std::string& cell, std::size_t width, Align align) {
  const std::string blanks(width - text_width(cell), ' ');
  line += align == Align::right ? blanks + cell : cell + blanks;
}

}  // namespace

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_letter));
}

std::string cut_text(std::string text, std::size_t most) {
  if (text_width(text) <= most) return text;
  std::size_t letters = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (starts_letter(text[end]) && ++letters > most - 3) break;
  }
  return text.substr(0, end) + "...";
}

TextTable::TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = cut_text(printable(cell), kMaxCell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = text_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, text_width(row[i]));
    widths.push_back(width);
  }
  std::string text;
  const auto append_line = [&](const auto& cell_of) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) line += "  ";
      append_cell(line, cell_of(i), widths[i], columns_[i].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append_line([&](std::size_t i) { return columns_[i].title; });
  append_line([&](std::size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : rows_) append_line([&](std::size_t i) { return row[i]; });
  return text;
}

namespace {

// "80 %" and "EUR 12" are one word each.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  if (end + 1 >= text.size()) return end;
  const std::string_view word = text.substr(begin, end - begin);
  const bool is_currency =
      word.size() == 3 && std::all_of(word.begin(), word.end(), [](char one) { return one >= 'A' && one <= 'Z'; });
  const bool holds_next = text[end + 1] == '%' || (is_currency && text[end + 1] >= '0' && text[end + 1] <= '9');
  return holds_next ? std::min(text.find(' ', end + 1), text.size()) : end;
}

}  // namespace

std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = end_of_word(text, begin);
    const std::string word = printable(text.substr(begin, end - begin));
    if (column > 0 && column + 1 + text_width(word) > width) {
      out.append(1, '\n').append(indent, ' ');
      column = indent;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += text_width(word);
    begin = end + 1;
  }
  return out;
}

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/text/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "dfcl/core/lines.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

constexpr std::size_t kShortestCell = 12;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;  // between columns

std::size_t column_width(const Table& table, std::size_t column) {
  std::size_t width = text_width(table.columns[column]);
  for (const auto& row : table.rows) width = std::max(width, column < row.size() ? text_width(row[column]) : 0);
  return width;
}

std::size_t table_width(const Table& table) {
  std::size_t width = kIndent;
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    width += column_width(table, column) + (column == 0 ? 0 : kGap);
  return width;
}

void cut_text_cells(Table& table, std::size_t most) {
  for (std::size_t column = 0; column < table.num_text_columns; ++column) {
    table.columns[column] = cut_text(table.columns[column], most);
    for (auto& row : table.rows) {
      if (column < row.size()) row[column] = cut_text(row[column], most);
    }
  }
}

// A block as lines, of which a table may show fewer rows than it has.
std::vector<std::string> block_lines(const Block& block, std::size_t most_lines) {
  if (const auto* heading = std::get_if<Heading>(&block))
    return {"", cut_text(printable(heading->text), kScreenColumns)};
  if (const auto* paragraph = std::get_if<Paragraph>(&block)) return core::lines_of(wrap(paragraph->text, 0));
  if (const auto* bullets = std::get_if<Bullets>(&block)) {
    std::vector<std::string> lines;
    for (const std::string& item : bullets->items) {
      for (std::string& line : core::lines_of("- " + wrap(item, 2, kScreenColumns - 2)))
        lines.push_back(std::move(line));
    }
    return lines;
  }
  if (const auto* facts = std::get_if<Facts>(&block)) return core::lines_of(facts_text(*facts));
  Table table = fit_columns(std::get<Table>(block), kScreenColumns);
  if (const std::size_t left = std::get<Table>(block).columns.size() - table.columns.size();
      left > 0 && !table.title.empty())
    table.title += fmt::format(" ({} more column{}: --full)", left, left == 1 ? "" : "s");
  const std::size_t head = (table.title.empty() ? 1 : core::lines_of(wrap(table.title, 0)).size() + 1) + 2;
  const std::size_t rows = table.rows.size();
  std::size_t shown = rows;
  if (head + rows > most_lines) shown = most_lines > head + 1 ? most_lines - head - 1 : 0;
  table.rows.resize(shown);
  std::vector<std::string> lines = {""};
  for (std::string& line : core::lines_of(wrap(table.title, 0))) lines.push_back(std::move(line));
  for (std::string& line : core::lines_of(rows_text(table))) lines.push_back(line);
  if (shown < rows) lines.push_back(fmt::format("  ... and {} more", count_text(rows - shown)));
  return lines;
}

// Rows that a table must at least show to be of use.
std::size_t least_lines(const Block& block, std::size_t needed) {
  if (!std::holds_alternative<Table>(block)) return needed;
  return std::min<std::size_t>(needed, 6);
}

}  // namespace

Table fit_columns(Table table, std::size_t width) {
  for (std::string& title : table.columns) title = printable(title);
  for (auto& row : table.rows) {
    for (std::string& cell : row) cell = printable(cell);
  }
  for (std::size_t most = 40; most >= kShortestCell && table_width(table) > width; most -= 4)
    cut_text_cells(table, most);
  while (table.columns.size() > 1 && table_width(table) > width) {
    table.columns.pop_back();
    for (auto& row : table.rows) row.resize(std::min(row.size(), table.columns.size()));
    table.num_text_columns = std::min(table.num_text_columns, table.columns.size());
  }
  return table;
}

std::string screen_text(const Document& document, const std::string& more, std::size_t kept_lines) {
  std::vector<std::string> lines;
  const std::size_t room = kScreenLines - 1 - kept_lines;  // the last line says what is left out
  bool left_out = false;
  for (std::size_t i = 0; i < document.size(); ++i) {
    std::vector<std::string> heading;
    if (std::holds_alternative<Heading>(document[i])) {
      heading = block_lines(document[i], room);
      if (++i == document.size()) break;
    }
    const std::size_t used = lines.size() + heading.size();
    const std::size_t rest = used < room ? room - used : 0;
    const std::size_t needed = block_lines(document[i], kScreenLines * 1000).size();
    if (rest < least_lines(document[i], needed)) {
      left_out = true;
      continue;
    }
    lines.insert(lines.end(), heading.begin(), heading.end());
    std::vector<std::string> block = block_lines(document[i], rest);
    if (!heading.empty() && !block.empty() && block.front().empty()) block.erase(block.begin());
    left_out = left_out || needed > rest;
    lines.insert(lines.end(), block.begin(), block.end());
  }
  while (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
  if (!more.empty()) {
    lines.push_back(cut_text(fmt::format("--full adds: {}", more), kScreenColumns));
  } else if (left_out) {
    lines.emplace_back("--full shows the rest");
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return cut_to_screen(text);
}

std::string cut_to_screen(const std::string& text) {
  std::vector<std::string> lines = core::lines_of(text);
  const bool is_long = lines.size() > kScreenLines;
  const std::size_t hidden = is_long ? lines.size() - (kScreenLines - 1) : 0;
  if (is_long) lines.resize(kScreenLines - 1);
  std::string cut;
  for (const std::string& line : lines) cut += cut_text(line, kScreenColumns) + "\n";
  if (is_long) cut += fmt::format("... and {} more lines: --full shows them\n", count_text(hidden));
  return cut;
}

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/text/document.h"

#include <algorithm>

#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

// Letters of Markdown and HTML that would mean something.
std::string markdown_safe(const std::string& text) {
  std::string safe;
  for (const char letter : printable(text)) {
    switch (letter) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      default:
        if (std::string_view("\\`*_[]|#~").find(letter) != std::string_view::npos) safe += '\\';
        safe += letter;
    }
  }
  return safe;
}

struct PlainWriter {
  std::string text;

  void operator()(const Heading& heading) {
    const std::string shown = printable(heading.text);
    text += (text.empty() ? "" : "\n") + shown + "\n" +
            std::string(std::min<std::size_t>(shown.size(), 100), heading.level == 1 ? '=' : '-') + "\n";
  }
  void operator()(const Paragraph& paragraph) { text += wrap(paragraph.text, 0) + "\n"; }
  void operator()(const Bullets& bullets) {
    for (const std::string& item : bullets.items) text += "- " + wrap(item, 2, 98) + "\n";
  }
  void operator()(const Facts& facts) { text += facts_text(facts); }
  void operator()(const Table& table) {
    text += "\n" + (table.title.empty() ? "" : wrap(table.title, 0) + "\n") + rows_text(table);
  }
};

struct MarkdownWriter {
  std::string text;

  void operator()(const Heading& heading) {
    start();
    text += std::string(static_cast<std::size_t>(heading.level), '#') + " " + markdown_safe(heading.text) + "\n";
  }
  void operator()(const Paragraph& paragraph) {
    start();
    text += markdown_safe(paragraph.text) + "\n";
  }
  void operator()(const Bullets& bullets) {
    start();
    for (const std::string& item : bullets.items) text += "- " + markdown_safe(item) + "\n";
  }
  void operator()(const Facts& facts) {
    Table table{.columns = {"what", "value", ""}, .num_text_columns = 1};
    for (const auto& row : facts.rows) table.rows.push_back({row[0], row[1], row[2]});
    (*this)(table);
  }
  void operator()(const Table& table) {
    start();
    if (!table.title.empty()) text += "**" + markdown_safe(table.title) + "**\n\n";
    add_row(table.columns, table.columns.size());
    for (std::size_t i = 0; i < table.columns.size(); ++i) text += i < table.num_text_columns ? "|---" : "|---:";
    text += "|\n";
    for (const auto& row : table.rows) add_row(row, table.columns.size());
  }

 private:
  void start() {
    if (!text.empty()) text += "\n";
  }
  void add_row(const std::vector<std::string>& cells, std::size_t num_columns) {
    for (std::size_t i = 0; i < num_columns; ++i)
      text += "| " + (i < cells.size() ? markdown_safe(cells[i]) : "") + " ";
    text += "|\n";
  }
};

template <typename Writer>
std::string write(const Document& document) {
  Writer writer;
  for (const Block& block : document) std::visit(writer, block);
  return writer.text;
}

}  // namespace

std::string facts_text(const Facts& facts) {
  std::size_t label_width = 0;
  std::size_t value_width = 0;
  for (const auto& row : facts.rows) {
    label_width = std::max(label_width, text_width(printable(row[0])));
    value_width = std::max(value_width, text_width(printable(row[1])));
  }
  const std::size_t indent = label_width + value_width + 6;
  std::string text;
  for (const auto& row : facts.rows) {
    const std::string name = printable(row[0]);
    const std::string value = printable(row[1]);
    text +=
        "  " + name + std::string(label_width - text_width(name) + 2 + value_width - text_width(value), ' ') + value;
    if (!row[2].empty()) {
      std::string remark = wrap(row[2], 0, indent < 60 ? 100 - indent : 40);
      for (std::size_t end = remark.find('\n'); end != std::string::npos; end = remark.find('\n', end + 1))
        remark.insert(end + 1, indent, ' ');
      text += "  " + remark;
    }
    text += "\n";
  }
  return text;
}

std::string document_text(const Document& document) { return write<PlainWriter>(document); }

std::string document_markdown(const Document& document) { return write<MarkdownWriter>(document); }

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
//
// A text with headings, paragraphs, lists and tables, and its two ways of being written: plain, and as Markdown. Text
// of unknown origin may go in: what would be markup comes out as letters. Internal to report.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dfcl::report {

struct Heading {
  std::string text;
  int level = 2;  // 1: the title
};

struct Paragraph {
  std::string text;
};

struct Bullets {
  std::vector<std::string> items;
};

struct DocumentTable {
  std::string title;
  std::vector<std::string> columns;
  std::size_t num_text_columns = 1;  // the first ones; the others are numbers
  std::vector<std::vector<std::string>> rows;
};

using Block = std::variant<Heading, Paragraph, Bullets, DocumentTable>;
using Document = std::vector<Block>;

std::string document_text(const Document& document);
std::string document_markdown(const Document& document);

// The table without the columns that are empty in every row.
DocumentTable without_empty_columns(DocumentTable table);

}  // namespace dfcl::report

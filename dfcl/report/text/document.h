// SPDX-License-Identifier: Apache-2.0
//
// A text with headings, paragraphs, lists and tables, and its two ways of being written: plain, and as Markdown. Text
// of unknown origin may go in: what would be markup comes out as letters. Internal to report.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dfcl/report/text/table.h"

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

// A name, a value and what there is to say of it, in each row.
struct Facts {
  std::vector<std::array<std::string, 3>> rows;
};

using Block = std::variant<Heading, Paragraph, Bullets, Facts, Table>;
using Document = std::vector<Block>;

std::string document_text(const Document& document);
// The rows of facts: names flush left, values flush right, remarks wrapped.
std::string facts_text(const Facts& facts);
std::string document_markdown(const Document& document);

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
//
// What a verb prints: at most 25 lines of 100 columns that answer the question, or, where the full text is asked for,
// all there is. A brief text is a document whose blocks stand in the order of their weight: what does not fit is left
// out from the end, and the last line says so.
#pragma once

#include <cstddef>
#include <string>

#include "dfcl/report/text/document.h"

namespace dfcl::report {

enum class Length { brief, full };

inline constexpr std::size_t kScreenLines = 25;
inline constexpr std::size_t kScreenColumns = 100;

// more: what the full text has beside this, for the last line: "balance by feature". "": nothing, unless something is
// left out here. kept_lines: of the screen, for what the caller adds below.
std::string screen_text(const Document& document, const std::string& more = "", std::size_t kept_lines = 0);

// The last guard of what is printed in brief: lines are cut at 100 columns and from the 25th on.
std::string cut_to_screen(const std::string& text);

// As many of the columns, from the first, as fit into the width with their texts cut to no less than 12 letters.
Table fit_columns(Table table, std::size_t width);

}  // namespace dfcl::report

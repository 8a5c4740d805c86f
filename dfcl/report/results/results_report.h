// SPDX-License-Identifier: Apache-2.0
//
// A results file (docs/report.md) as a page, as Markdown, as plain text, as a workbook or as one CSV of all figures.
// The file may come from anywhere: it is checked before anything is made of it. No statistics here: every figure is one
// of the file's.
//
// Time and memory grow with the file, which holds aggregates: tens of kilobytes for a few models.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "dfcl/report/text/screen.h"

namespace dfcl::report {

enum class ResultsFormat { html, markdown, text, workbook, csv };

// Larger files are none of ours.
inline constexpr std::size_t kMostResultsBytes = std::size_t{64} << 20;

// `where` names the file in messages. Throws Error of kind data where the text is not a results file of this version.
// length: of text; the other formats are always whole.
std::string render_results(std::string_view results, const std::string& where, ResultsFormat format,
                           Length length = Length::full);

}  // namespace dfcl::report

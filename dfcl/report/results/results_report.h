// SPDX-License-Identifier: Apache-2.0
//
// A results file (docs/report.md) as a page, as Markdown or as plain text. The file may come from anywhere: it is
// checked before anything is made of it. No statistics here: every figure is one of the file's.
//
// Time and memory grow with the file, which holds aggregates: tens of kilobytes for a few models.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dfcl::report {

enum class ResultsFormat { html, markdown, text };

// Larger files are none of ours.
inline constexpr std::size_t kMostResultsBytes = std::size_t{64} << 20;

// `where` names the file in messages. Throws Error of kind data where the text is not a results file of this version.
std::string render_results(std::string_view results, const std::string& where, ResultsFormat format);

}  // namespace dfcl::report

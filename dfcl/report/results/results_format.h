// SPDX-License-Identifier: Apache-2.0
//
// The two files of the repository that are made from the description of results: the reference page and the types of
// the page. A test compares them.
#pragma once

#include <string>

namespace dfcl::report {

std::string results_format_page();   // docs/results-format.md
std::string results_format_types();  // web/src/results_format.ts

}  // namespace dfcl::report

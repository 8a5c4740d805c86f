// SPDX-License-Identifier: Apache-2.0
//
// Which format a file has (by its first bytes when it is read, by its ending when it is written) and which files a path
// means.
#pragma once

#include <string>
#include <vector>

namespace dfcl::io {

struct TableFormat;  // table_format.h

// The key under which our files carry their data::Provenance, as JSON.
inline constexpr const char* kProvenanceKey = "dfcl";
// The key of figures that were known only when the file was whole.
inline constexpr const char* kFiguresKey = "dfcl_figures";

// Throws Error of kind usage for an ending that no format that can be written has.
const TableFormat& format_of_name(const std::string& path);

// Looks at the first bytes. Throws Error of kind file when it cannot be read, of kind data when it is empty.
const TableFormat& format_of_contents(const std::string& path);

// The files a path means: itself, those a glob matches, or those of a folder with a known ending; sorted by name.
// Throws Error of kind file when there is none.
std::vector<std::string> input_files(const std::string& path);

}  // namespace dfcl::io

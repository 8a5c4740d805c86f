// SPDX-License-Identifier: Apache-2.0
//
// Which format a file has: by its first bytes when it is read, by its ending when it is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dfcl::io {

enum class FileFormat : std::uint8_t { csv, csv_gzip, parquet, arrow_file, arrow_stream };

// The key under which our files carry their data::Provenance, as JSON.
inline constexpr const char* kProvenanceKey = "dfcl";
// The key of figures that were known only when the file was whole.
inline constexpr const char* kFiguresKey = "dfcl_figures";

// Throws Error of kind usage for an ending that is none of .csv .csv.gz .parquet .arrow .feather .ipc.
FileFormat format_of_name(const std::string& path);

// Looks at the first bytes. Throws Error of kind file when it cannot be read, of kind data when it is empty.
FileFormat format_of_contents(const std::string& path);

const char* to_text(FileFormat format);

// The files a path means: itself, those a glob matches, or those of a folder with a known ending; sorted by name.
// Throws Error of kind file when there is none.
std::vector<std::string> input_files(const std::string& path);

}  // namespace dfcl::io

// SPDX-License-Identifier: Apache-2.0
//
// Outputs are checked before a run, not after hours of it. Internal to verbs.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "dfcl/core/run_context.h"

namespace dfcl::verbs {

// Throws Error of kind usage where a value was given and is empty.
void require_text(const char* field, const std::optional<std::string>& value);
void require_text(const char* field, const std::string& value);

// The same of a text that files keep: it must be UTF-8 too.
void require_kept_text(const char* field, const std::optional<std::string>& value);

// field: whose value `output` is. inputs: files, globs or folders, "" for none. Throws Error of kind usage where the
// output is empty or would replace an input, of kind file where an input is absent, the output's folder is absent or
// cannot be written to, or the output is there and the context does not say that it may be replaced.
void require_output(const char* field, const std::string& output, std::initializer_list<std::string> inputs,
                    const core::RunContext& context);

// The same of a file that may be there: one that is added to, or what a resumed run wrote (written_files.h).
void require_place(const char* field, const std::string& output, std::initializer_list<std::string> inputs);

// Throws Error of kind file where no such folder can be made, of kind usage where the name is empty. Makes nothing.
void require_folder(const char* field, const std::optional<std::string>& folder);

// The folder for files without a name that a run needs while it lasts: that of its output, or the current one.
std::string scratch_beside(const std::optional<std::string>& output);

// Throws Error of kind usage where the name does not end so: ".json".
void require_ending(const char* field, const std::string& output, const char* ending);

// Throws Error of kind usage where it ends like no table that can be written.
void require_table_ending(const char* field, const std::string& output);

// Throws Error of kind usage where two outputs of a run are one file.
void require_other_file(const char* field, const std::string& output, const std::string& other);

// The path of a trial as a study file says it: relative to the file's folder where that is possible.
std::string path_from(const std::string& study, const std::string& trial);

}  // namespace dfcl::verbs

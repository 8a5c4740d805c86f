// SPDX-License-Identifier: Apache-2.0
//
// Outputs are checked before a run, not after hours of it.
#pragma once

#include <initializer_list>
#include <string>

namespace dfcl::cli {

// inputs: files, globs or folders that are there. Throws Error of kind usage where the output would replace one
// of them, of kind file where an input is absent or the output's folder is absent or cannot be written to.
void require_output(const std::string& output, std::initializer_list<std::string> inputs);

// Throws Error of kind usage where two outputs of a run are one file. flag: whose value `output` is.
void require_other_file(const std::string& flag, const std::string& output, const std::string& other);

}  // namespace dfcl::cli

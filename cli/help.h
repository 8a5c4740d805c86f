// SPDX-License-Identifier: Apache-2.0
//
// The help texts: short (-h, one line an option) and long (--help, with details, defaults and an example). Of every
// description the first line is for both, the further lines are for the long one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dfcl::cli {

enum class HelpLength { brief, full };

// The group of the flags that stand on every verb; help lists them last.
inline constexpr const char* kSharedGroup = "On every verb";

// The whole program: what it is for and its verbs.
std::string program_help(const CLI::App& program, HelpLength length);

// One verb.
std::string verb_help(const CLI::App& verb, const std::string& example, HelpLength length);

}  // namespace dfcl::cli

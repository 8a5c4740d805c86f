// SPDX-License-Identifier: Apache-2.0
//
// Flags that set keys of the study, made from the table of keys: names, values, help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/flag_style.h"

namespace dfcl::cli {

// --set, and a flag for every key to which the table gives one on this verb. They append "method.epochs=20" to
// `settings`, which must live as long as the verb; --set comes first, so that a key's own flag wins. `key_flags` learns
// which flag sets which key.
void add_key_flags(CLI::App& verb, std::vector<std::string>& settings, KeyFlags& key_flags);

}  // namespace dfcl::cli

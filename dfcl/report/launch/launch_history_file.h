// SPDX-License-Identifier: Apache-2.0
//
// The launches that an earlier readout's results file lists, to go on counting from. Memory: the file, at most 64 MiB.
#pragma once

#include <string>
#include <vector>

#include "dfcl/launch/launch_history.h"

namespace dfcl::report {

// currency, revenue_is_money: of this launch. Throws Error of kind data where the file is no readout, lists no
// launches, or counts in another currency, or orders where this one counts money.
std::vector<launch::LaunchLine> read_launches(const std::string& path, const std::string& currency,
                                              bool revenue_is_money);

}  // namespace dfcl::report

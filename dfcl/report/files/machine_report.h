// SPDX-License-Identifier: Apache-2.0
//
// What a machine is and how fast, as a screen for people and as JSON for machines.
#pragma once

#include <string>

#include "dfcl/report/text/screen.h"
#include "dfcl/train/machine.h"

namespace dfcl::report {

std::string machine_text(const train::Machine& machine, Length length = Length::full);
std::string machine_json(const train::Machine& machine);

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
//
// The readout of a launch as a screen for people and as a results file.
#pragma once

#include <string>

#include "dfcl/data/provenance.h"
#include "dfcl/launch/readout.h"
#include "dfcl/report/text/screen.h"

namespace dfcl::report {

std::string readout_text(const launch::Readout& readout, Length length = Length::full);
// The results file (docs/results-format.md).
std::string readout_json(const launch::Readout& readout, const data::Provenance& provenance);

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
//
// The keys of a power calculation. Internal to report.
#pragma once

#include "dfcl/report/launch/power_report.h"
#include "dfcl/report/schema/described.h"

namespace dfcl::report {

struct PowerReport {
  const PowerFigures& figures;
  const data::Provenance& provenance;
};

const Described<PowerReport>& description(Of<PowerReport>);

}  // namespace dfcl::report

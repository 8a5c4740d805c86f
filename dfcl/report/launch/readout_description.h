// SPDX-License-Identifier: Apache-2.0
//
// The keys of a readout. Internal to report.
#pragma once

#include "dfcl/data/provenance.h"
#include "dfcl/launch/readout.h"
#include "dfcl/report/schema/described.h"

namespace dfcl::report {

struct ReadoutReport {
  const launch::Readout& readout;
  const data::Provenance& provenance;
};

const Described<ReadoutReport>& description(Of<ReadoutReport>);

}  // namespace dfcl::report

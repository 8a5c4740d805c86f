// SPDX-License-Identifier: Apache-2.0
//
// The keys of a simulated online test. Internal to report.
#pragma once

#include "dfcl/data/provenance.h"
#include "dfcl/data/study.h"
#include "dfcl/launch/deploy.h"
#include "dfcl/report/schema/described.h"

namespace dfcl::report {

struct DeployReport {
  const launch::DeployResult& result;
  bool with_controller = true;  // which campaign comes first
  const data::Study& study;
  const data::Provenance& provenance;
};

const Described<DeployReport>& description(Of<DeployReport>);

}  // namespace dfcl::report

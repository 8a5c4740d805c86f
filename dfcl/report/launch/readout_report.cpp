// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/readout_report.h"

#include "dfcl/report/launch/readout_description.h"
#include "dfcl/report/launch/readout_parts.h"
#include "dfcl/report/results/results_screen.h"

namespace dfcl::report {

std::string readout_text(const launch::Readout& readout, Length length) {
  return results_screen(readout_verdict(readout), readout_tables(readout), {holdout_sentence(readout)}, length);
}

std::string readout_json(const launch::Readout& readout, const data::Provenance& provenance) {
  return dump_json(description(Of<ReadoutReport>{}).write({readout, provenance}));
}

}  // namespace dfcl::report

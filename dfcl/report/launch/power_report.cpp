// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/power_report.h"

#include "dfcl/report/launch/power_description.h"
#include "dfcl/report/launch/power_parts.h"
#include "dfcl/report/results/results_screen.h"

namespace dfcl::report {

std::string power_text(const PowerFigures& figures, Length length) {
  return results_screen(power_verdict(figures), power_tables(figures), {}, length);
}

std::string power_json(const PowerFigures& figures, const data::Provenance& provenance) {
  return dump_json(description(Of<PowerReport>{}).write({figures, provenance}));
}

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
//
// Figures and tables that a results file brings ready-made and `dfcl report` draws as they stand: those of comparisons,
// deployments, readouts and power calculations, and of programs of the user's own. Internal to report.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "dfcl/core/interval.h"
#include "dfcl/report/schema/described.h"
#include "dfcl/report/text/table.h"

namespace dfcl::report {

using FigureX = std::variant<double, std::string>;

struct FigurePoint {
  FigureX x;
  core::Interval y;
};
struct FigureSeries {
  std::string name;
  std::vector<FigurePoint> points;
};
struct Figure {
  std::string id, title, note, x_label, y_label;
  std::string x_scale = "category";  // linear, log, category
  std::string kind = "line";         // line, bar, points
  std::vector<FigureSeries> series;
  bool panels = false;  // the first series beside each of the others, in panels of their own
};

const Described<Figure>& description(Of<Figure>);
const Described<Table>& description(Of<Table>);

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
//
// The common frame of results files, which `dfcl report` draws: what it is, how it was made, the answer in words, then
// figures and tables that are drawn as they stand. Deployments, readouts and power calculations fill it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dfcl/data/provenance.h"
#include "dfcl/core/interval.h"

namespace dfcl::report {

struct Verdict {
  std::string status;  // launch, not_shown or unfit
  std::string sentence;
  std::vector<std::string> details;
};

struct Headings {
  std::string title;
  std::string currency;
  std::string revenue_name = "revenue";
  std::string cost_name = "cost";
};

// provenance.kind is the kind of the results: readout, power or deployment.
nlohmann::ordered_json results_frame(const data::Provenance& provenance, const Headings& headings,
                                     const Verdict& verdict);

// {"value", "low", "high"}, null where there is none.
nlohmann::ordered_json interval_json(const core::Interval& interval);
nlohmann::ordered_json number_json(double number);  // null where it is not finite

struct FigurePoint {
  nlohmann::ordered_json x;
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
nlohmann::ordered_json figure_json(const Figure& figure);

// A table of texts, for the page and for the terminal alike.
struct PlainTable {
  std::string id, title, note;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
nlohmann::ordered_json table_json(const PlainTable& table);
std::string table_text(const PlainTable& table);

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
//
// A table of objects of a results file, by a list of its columns: title, key, how to write it. All tables of figures on
// the terminal and in reports are made here. Internal to report.
#pragma once

#include <string>
#include <vector>

#include "dfcl/report/results/results_file.h"
#include "dfcl/report/text/number_format.h"
#include "dfcl/report/text/table.h"

namespace dfcl::report {

enum class Show {
  text,
  interval,           // "0.2 (0.1 to 0.3)", with one number of decimals down the column
  relative_interval,  // the same in per cent
  ends,               // "0.1 to 0.3"
  number,
  budget,
  count,
  percent,
  p_value
};

struct JsonColumn {
  std::string title;
  const char* key;
  Show show = Show::interval;
  bool on_screen = true;  // false: for reports only, which have more room
};

// A terminal shows fewer columns than a report.
enum class Room { screen, report };

// One row for each object; null ones are left out.
Table json_table(const std::vector<Json>& rows, const std::vector<JsonColumn>& columns, const NumberFormat& format,
                 Room room = Room::report);

}  // namespace dfcl::report

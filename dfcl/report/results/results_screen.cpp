// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_screen.h"

#include "dfcl/report/text/text_table.h"

namespace dfcl::report {

std::string results_screen(const Verdict& verdict, const std::vector<Table>& tables) {
  std::string text = wrap(verdict.sentence, 0) + "\n";
  for (const std::string& detail : verdict.details) text += "  " + wrap(detail, 2) + "\n";
  for (const Table& table : tables) text += "\n" + table_text(table);
  return text;
}

}  // namespace dfcl::report

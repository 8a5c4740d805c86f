// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_screen.h"

#include "dfcl/report/text/text_table.h"

namespace dfcl::report {

std::string results_screen(const Verdict& verdict, const std::vector<Table>& tables,
                           const std::vector<std::string>& notes, Length length) {
  if (length == Length::brief) {
    Document document = {Paragraph{verdict.sentence}};
    if (!verdict.details.empty()) document.push_back(Bullets{verdict.details});
    for (const std::string& note : notes) document.push_back(Paragraph{note});
    document.insert(document.end(), tables.begin(), tables.end());
    return screen_text(document);
  }
  std::string text = wrap(verdict.sentence, 0) + "\n";
  for (const std::string& detail : verdict.details) text += "  " + wrap(detail, 2) + "\n";
  for (const Table& table : tables) text += "\n" + table_text(table);
  for (const std::string& note : notes) text += "\n" + note + "\n";
  return text;
}

}  // namespace dfcl::report

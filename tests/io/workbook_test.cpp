// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/workbook/workbook.h"

#include <gtest/gtest.h>

#include <limits>

namespace dfcl::io {
namespace {

std::vector<Sheet> two_sheets() {
  const double none = std::numeric_limits<double>::quiet_NaN();
  return {{"plans: a/b", {"model", "revenue"}, {{Cell("a <b> & \"c\""), Cell(1.5)}, {Cell("x"), Cell(none)}}},
          {"Plans: A/B", {"n"}, {{Cell(-2e-7)}, {Cell()}}}};
}

TEST(Workbook, HoldsEveryCellOnce) {
  const std::string bytes = workbook_bytes(two_sheets());
  EXPECT_EQ(bytes.substr(0, 4), std::string("PK\x03\x04"));
  for (const char* part : {"xl/worksheets/sheet2.xml", "a &lt;b&gt; &amp; &quot;c&quot;", "<v>1.5</v>", "<v>-2e-07</v>",
                           "name=\"plans  a b\"", "name=\"Plans  A B 2\""})
    EXPECT_NE(bytes.find(part), std::string::npos) << part;
  EXPECT_EQ(bytes.find("nan"), std::string::npos);
  EXPECT_EQ(bytes, workbook_bytes(two_sheets()));
}

TEST(Workbook, ControlCharactersAndLongNamesDoNoHarm) {
  const std::string bytes =
      workbook_bytes({{std::string(80, 'n'), {"\x01\x1b[2J"}, {{Cell(std::string("\xff\x00", 2))}}}});
  EXPECT_EQ(bytes.find('\x1b'), std::string::npos);
  EXPECT_NE(bytes.find("name=\"" + std::string(31, 'n') + "\""), std::string::npos);
}

TEST(Workbook, CellsAsCsv) {
  EXPECT_EQ(cells_csv(two_sheets()),
            "sheet,row,column,value\n"
            "plans: a/b,1,model,\"a <b> & \"\"c\"\"\"\n"
            "plans: a/b,1,revenue,1.5\n"
            "plans: a/b,2,model,x\n"
            "Plans: A/B,1,n,-2e-07\n");
}

}  // namespace
}  // namespace dfcl::io

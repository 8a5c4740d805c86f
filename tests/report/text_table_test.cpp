// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/text/text_table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dfcl::report {
namespace {

TEST(TextTable, AlignsColumnsByLetters) {
  TextTable table({{"arm", Align::left}, {"units"}, {"of", Align::left}});
  table.add_row({"none", "12", "all"});
  table.add_row({"\xC3\xA9t\xC3\xA9", "1,234"});
  EXPECT_EQ(table.text(),
            "  arm   units  of\n"
            "  ----  -----  ---\n"
            "  none     12  all\n"
            "  \xC3\xA9t\xC3\xA9   1,234\n");
}

TEST(TextTable, CutsLongCellsAndReplacesControlCharacters) {
  TextTable table({{"name", Align::left}});
  table.add_row({std::string(60, 'x')});
  table.add_row({"a\x1b[31mb\n"});
  const std::string text = table.text(0);
  EXPECT_NE(text.find(std::string(37, 'x') + "...\n"), std::string::npos);
  EXPECT_NE(text.find("a?[31mb?\n"), std::string::npos);
}

TEST(Wrap, BreaksAtBlanksAndIndents) {
  EXPECT_EQ(wrap("one two three four", 2, 9), "one two\n  three\n  four");
  EXPECT_EQ(wrap("", 2, 9), "");
  EXPECT_EQ(wrap("it gains 80 %, or EUR 12.50 each", 0, 11), "it gains\n80 %, or\nEUR 12.50\neach");
}

TEST(Numbers, ReadAsPeopleWriteThem) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(number_text(0.123456), "0.1235");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(std::nan("")), "n/a");
  EXPECT_EQ(percent_text(0.2), "20.0 %");
  EXPECT_EQ(percent_text(0.00012), "0.012 %");
  EXPECT_EQ(p_value_text(0.00001), "<0.0001");
  EXPECT_EQ(p_value_text(0.0032), "0.0032");
  EXPECT_EQ(p_value_text(0.5), "0.500");
  EXPECT_EQ(interval_text(1.0, 2.5), "(1 to 2.5)");
  EXPECT_EQ(interval_text(std::nan(""), 2.5), "n/a");
  EXPECT_EQ(signed_percent_text(0.1234), "+12.3 %");
  EXPECT_EQ(percent_change_text({0.0123, 0.002, 0.0226}), "+1.23 % (+0.20 to +2.26)");
  EXPECT_EQ(percent_change_text({-0.01}), "-1.00 %");
  EXPECT_EQ(percent_change_text({}), "");
}

}  // namespace
}  // namespace dfcl::report

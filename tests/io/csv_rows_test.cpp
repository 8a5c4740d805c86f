// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/csv_rows.h"

#include <gtest/gtest.h>

#include <string>

namespace dfcl::io {
namespace {

TEST(CsvRows, EndAtTheLastLineEndOutsideQuotes) {
  EXPECT_EQ(cut_rows("a,b\nc,d", ',').rows_end, 4u);
  EXPECT_EQ(cut_rows("a,\"b\nc\",d", ',').rows_end, 0u);
  EXPECT_TRUE(cut_rows("a,\"b\nc\"\n", ',').newlines_in_values);
  EXPECT_FALSE(cut_rows("a,\"b\"\nc,\"d\"\n", ',').newlines_in_values);
  EXPECT_EQ(cut_rows("", ',').rows_end, 0u);
}

TEST(CsvRows, TwoQuotesInAQuotedValueAreAQuote) {
  const std::string text = "\"a\"\"\nb\",1\n";
  EXPECT_EQ(cut_rows(text, ',').rows_end, text.size());
  EXPECT_EQ(first_row_end(text), text.size());
  EXPECT_FALSE(cut_rows("\"\",\"\"\n", ',').open_quote);
}

TEST(CsvRows, AQuoteInsideAPlainValueIsAnInch) {
  const std::string text = "5\" pipe,1\n6\" pipe,2\n7\",3";
  EXPECT_EQ(cut_rows(text, ',').rows_end, text.size() - 4);
  EXPECT_FALSE(cut_rows(text, ',').open_quote);
  EXPECT_FALSE(cut_rows(text, ',').newlines_in_values);
  EXPECT_EQ(cut_rows("\"a\"b\"\nc\n", ',').rows_end, 8u);
}

TEST(CsvRows, FindTheQuoteThatIsNeverClosed) {
  const std::string text = "\n1,a\n2,\"b\n3,c\n4,d\n";
  const RowCut cut = cut_rows(text, ',');
  ASSERT_TRUE(cut.open_quote);
  EXPECT_EQ(*cut.open_quote, 7u);
  EXPECT_EQ(cut.rows_end, 5u);
  EXPECT_EQ(row_at(text, ',', *cut.open_quote), 1);
  EXPECT_EQ(line_of_row(text, ',', 1), 2);
}

TEST(CsvRows, LinesCountBlankOnesAndThoseInsideValues) {
  const std::string text = "\r\na,1\r\n\n\"b\nb\",2\nc,3";
  EXPECT_EQ(line_of_row(text, ',', 0), 1);
  EXPECT_EQ(line_of_row(text, ',', 1), 3);
  EXPECT_EQ(line_of_row(text, ',', 2), 5);
}

TEST(CsvRows, TheSeparatorIsTheMostFrequentOneOutsideQuotes) {
  EXPECT_EQ(separator_of("a,b;c;d\n,,,,,,\n"), ';');
  EXPECT_EQ(separator_of("\"a;;;;\",\"b;;;;\",c\n"), ',');
  EXPECT_EQ(separator_of("a\tb\tc"), '\t');
  EXPECT_EQ(separator_of("alone\n"), ',');
}

}  // namespace
}  // namespace dfcl::io

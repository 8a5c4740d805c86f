// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/error.h"

#include <gtest/gtest.h>

#include <vector>

#include "dfcl/core/suggest.h"
#include "dfcl/core/words.h"

namespace dfcl::core {

enum class Colour { red, green };
template <>
inline constexpr std::array<std::string_view, 2> kWords<Colour> = {"red", "green"};

namespace {

TEST(Error, SaysWhereWhatFoundExpectedAndHint) {
  const Error error({.kind = ErrorKind::data,
                     .what = "unknown arm",
                     .where = "trial.csv:1042, column 'arm'",
                     .found = "'25'",
                     .expected = "one of 0, 5, 10",
                     .hint = "add it to [arms] order"});
  EXPECT_STREQ(error.what(),
               "trial.csv:1042, column 'arm': unknown arm: found '25', expected one of 0, 5, 10\n"
               "hint: add it to [arms] order");
  EXPECT_EQ(static_cast<int>(error.kind()), 3);
}

TEST(Error, ShowsBytesOfAnInputWithoutHarm) {
  const Error error({.kind = ErrorKind::data, .what = "bad text", .found = "'\x1b[2J\xff\xc3\xa9\xc3'"});
  EXPECT_STREQ(error.what(), "bad text: found '?[2J?\xc3\xa9?'");
}

TEST(Error, ShowsNoCharactersThatAreNone) {
  // A longer form of '/', half of a UTF-16 pair, and a character beyond the last.
  EXPECT_STREQ(Error({.what = "\xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xf0\x9f\x8d\x8e"}).what(),
               "??? ??? ???? \xf0\x9f\x8d\x8e");
}

TEST(Error, CutsWhatAnInputMakesTooLong) {
  const Error error({.what = "bad", .found = "a" + std::string(1'000'000, '\xc3')});
  EXPECT_LT(std::string(error.what()).size(), 1000u);
  std::string text = "a";  // the cut would fall into a character
  for (int i = 0; i < 1000; ++i) text += "\xc3\xa9";
  EXPECT_EQ(std::string(Error({.what = text}).what()).substr(597), "\xc3\xa9...");
}

TEST(Error, NamesTheFieldAsTheCallerWritesIt) {
  const ErrorDetails details{.kind = ErrorKind::usage,
                             .field = "min_roi",
                             .what = "out of range",
                             .found = "-1",
                             .hint = "leave out " + field_name("min_roi") + ", or give " + field_name("budget", "100")};
  EXPECT_STREQ(Error(details).what(), "min_roi: out of range: found -1\nhint: leave out min_roi, or give budget 100");
  const FieldStyle flags = [](std::string_view field, std::string_view value) {
    return "--" + std::string(field) + (value.empty() ? "" : "=") + std::string(value);
  };
  EXPECT_EQ(to_message(details, flags),
            "--min_roi: out of range: found -1\nhint: leave out --min_roi, or give --budget=100");
  EXPECT_EQ(rendered(details, flags).hint, "leave out --min_roi, or give --budget=100");
  EXPECT_EQ(rendered(details, flags).field, "min_roi");
}

TEST(Error, SaysWhereBeforeTheField) {
  EXPECT_STREQ(Error({.field = "method.alpha", .what = "not a number", .where = "study.toml:3"}).what(),
               "study.toml:3, [method] alpha: not a number");
  const FieldStyle flags = [](std::string_view, std::string_view) { return std::string("--alpha"); };
  const ErrorDetails in_file{.field = "method.alpha", .what = "not a number", .where = "study.toml:3"};
  EXPECT_EQ(to_message(in_file, flags), "study.toml:3, [method] alpha: not a number");
  EXPECT_EQ(to_message({.field = "method.alpha", .what = "not a number"}, flags), "--alpha: not a number");
}

TEST(Field, LeavesAloneWhatIsNoToken) {
  const FieldStyle shout = [](std::string_view, std::string_view) { return std::string("FIELD"); };
  EXPECT_EQ(render_fields("\x02", shout), "\x02");
  EXPECT_EQ(render_fields("a\x02 b\x03", shout), "a\x02 b\x03");
  EXPECT_EQ(render_fields("\x02\x02x\x03", shout),
            "\x02"
            "FIELD");
  EXPECT_EQ(render_fields("\x02" + std::string(300, 'a') + "\x03", shout).size(), 302u);
  EXPECT_EQ(render_fields("", shout), "");
}

TEST(Words, AreReadAndWritten) {
  EXPECT_EQ(parse_word<Colour>("green", "colour"), Colour::green);
  EXPECT_EQ(to_word(Colour::red), "red");
}

TEST(Words, ThatAreUnknownAreRefusedWithTheFieldAndTheChoices) {
  try {
    (void)parse_word<Colour>("Green", "colour");
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.details().field, "colour");
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(),
                 "colour: unknown word: found 'Green', expected one of red, green\nhint: did you mean 'green'?");
  }
}

TEST(Suggest, IsQuickForVeryLongNames) {
  const std::vector<std::string> names = {std::string(1'000'000, 'a'), "cost"};
  EXPECT_EQ(suggest("cots", names), "did you mean 'cost'?");
  EXPECT_EQ(nearest_name(std::string(1'000'000, 'b'), names), "");
}

TEST(Suggest, NamesTheNearestCandidateOrListsThem) {
  const std::vector<std::string> names = {"revenue", "cost", "arm"};
  EXPECT_EQ(suggest("revenu", names), "did you mean 'revenue'?");
  EXPECT_EQ(suggest("Cots", names), "did you mean 'cost'?");
  EXPECT_EQ(suggest("cosst", names), "did you mean 'cost'?");
  EXPECT_EQ(suggest("zzzzzz", names), "one of: revenue, cost, arm");
}

}  // namespace
}  // namespace dfcl::core

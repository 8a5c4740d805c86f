// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dfcl/core/error.h"

namespace dfcl::report {
namespace {

using nlohmann::json;

json interval(double value, double half) { return {{"value", value}, {"low", value - half}, {"high", value + half}}; }

json sample() {
  json plan = {{"budget_per_unit", 0.25},
               {"feasible", true},
               {"revenue", interval(1234.5678, 0.5)},
               {"cost", interval(0.25, 0.01)},
               {"share_per_arm", {0.25, 0.75}}};
  json model = {{"name", "a"}, {"reference", true}, {"deployed", {plan}}, {"curve", {plan, plan}}};
  return {{"format", "dfcl-results"},
          {"format_version", 1},
          {"kind", "evaluation"},
          {"report", {{"title", "Trial"}, {"currency", "EUR"}, {"revenue_name", "orders"}, {"cost_name", "subsidy"}}},
          {"verdict", {{"status", "launch"}, {"sentence", "Launch a."}, {"details", {"It pays."}}}},
          {"trial", {{"units", 1000}, {"arms", {{{"label", "0"}, {"control", true}}, {{"label", "5"}}}}}},
          {"budgets", {{{"per_unit", 0.25}, {"total", 250}}}},
          {"models", {model}}};
}

std::string render(const json& results, ResultsFormat format) {
  return render_results(results.dump(), "r.json", format);
}

core::ErrorDetails refusal(const std::string& text) {
  try {
    render_results(text, "r.json", ResultsFormat::html);
  } catch (const core::Error& error) {
    return error.details();
  }
  ADD_FAILURE() << "accepted: " << text.substr(0, 80);
  return {};
}

// The JSON that stands in a page.
json embedded(const std::string& page) {
  const std::string open = "id=\"results\">";
  const std::size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(ResultsReport, PutsTheAnswerFirst) {
  const std::string text = render(sample(), ResultsFormat::text);
  EXPECT_EQ(text.find("Trial\n=====\nLaunch\nLaunch a.\n- It pays.\n"), 0u) << text;
}

TEST(ResultsReport, WritesFiguresWithTheirIntervalsInTheFormatOfTheStudy) {
  json results = sample();
  results["report"]["decimal"] = ",";
  results["report"]["thousands"] = ".";
  const std::string text = render(results, ResultsFormat::text);
  EXPECT_NE(text.find("1.234,57 (1.234,07 to 1.235,07)"), std::string::npos) << text;
  EXPECT_NE(text.find("0,250 (0,240 to 0,260)"), std::string::npos) << text;
}

TEST(ResultsReport, ShowsAShareForEveryArm) {
  const std::string text = render(sample(), ResultsFormat::text);
  EXPECT_NE(text.find("25.0 %  75.0 %"), std::string::npos) << text;
}

TEST(ResultsReport, KeepsMarkupInLabelsFromBecomingMarkdown) {
  json results = sample();
  results["models"][0]["name"] = "a|b <img src=x> [x](y)";
  const std::string text = render(results, ResultsFormat::markdown);
  EXPECT_NE(text.find(R"(a\|b &lt;img src=x&gt; \[x\](y))"), std::string::npos) << text;
  EXPECT_EQ(text.find("<img"), std::string::npos);
}

TEST(ResultsReport, KeepsControlCharactersOffTheTerminal) {
  json results = sample();
  results["verdict"]["sentence"] = "red \x1b[31m text";
  EXPECT_EQ(render(results, ResultsFormat::text).find('\x1b'), std::string::npos);
}

TEST(ResultsReport, EmbedsTheResultsSoThatNoLabelCanEndTheScript) {
  json results = sample();
  const std::string evil = "</script><script>alert(1)</script><!-- %TEXT% %RESULTS%";
  results["report"]["title"] = evil;
  results["models"][0]["name"] = evil;
  const std::string page = render(results, ResultsFormat::html);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_EQ(embedded(page)["models"][0]["name"], evil);
}

TEST(ResultsReport, EmbedsKnownKeysOnly) {
  json results = sample();
  results["secret"] = "rows of a trial";
  results["models"][0]["rows"] = {1, 2, 3};
  const std::string page = render(results, ResultsFormat::html);
  EXPECT_EQ(page.find("rows of a trial"), std::string::npos);
  EXPECT_FALSE(embedded(page)["models"][0].contains("rows"));
  EXPECT_TRUE(embedded(page)["models"][0].contains("curve"));
}

TEST(ResultsReport, KeepsTheLargestValuesOfASegmentAndSaysHowManyWent) {
  json results = sample();
  json values = json::array();
  for (int i = 0; i < 1000; ++i) values.push_back({{"value", "v" + std::to_string(i)}, {"units", i}});
  results["models"][0]["segments"] = {{{"column", "city"}, {"values", values}}};
  const json segment = embedded(render(results, ResultsFormat::html))["models"][0]["segments"][0];
  ASSERT_EQ(segment["values"].size(), 40u);
  EXPECT_EQ(segment["values"][0]["value"], "v960");
  EXPECT_EQ(segment["values_left_out"], 960);
}

TEST(ResultsReport, StaysUnderAMegabyteWithManyModels) {
  json results = sample();
  json curve = json::array();
  const json plan = results["models"][0]["deployed"][0];
  for (int i = 0; i < 41; ++i) curve.push_back(plan);
  json model = results["models"][0];
  model["curve"] = curve;
  for (int i = 0; i < 12; ++i) {
    model["name"] = "model " + std::to_string(i);
    results["models"].push_back(model);
  }
  EXPECT_LT(render(results, ResultsFormat::html).size(), 1'000'000u);
}

TEST(ResultsReport, LivesWithAnyOptionalKeyAbsentOrNull) {
  const json whole = sample();
  for (const auto format : {ResultsFormat::html, ResultsFormat::markdown, ResultsFormat::text}) {
    EXPECT_NO_THROW(render({{"format", "dfcl-results"}, {"format_version", 1}}, format));
    for (const auto& [key, value] : whole.items()) {
      if (key == "format" || key == "format_version") continue;
      json results = whole;
      results[key] = nullptr;
      EXPECT_NO_THROW(render(results, format)) << key;
      results.erase(key);
      EXPECT_NO_THROW(render(results, format)) << key;
    }
  }
}

TEST(ResultsReport, RefusesWhatIsNoResultsFile) {
  EXPECT_EQ(refusal("").kind, core::ErrorKind::data);
  EXPECT_EQ(refusal("id,arm\n1,2\n").kind, core::ErrorKind::data);
  EXPECT_EQ(refusal("[1]").what, "not a results file");
  EXPECT_EQ(refusal(R"({"format": "other"})").found, "format 'other'");
  EXPECT_EQ(refusal(R"({"format": "dfcl-results", "format": "dfcl-results"})").what, "a JSON key that stands twice");
}

TEST(ResultsReport, RefusesAnotherVersion) {
  const core::ErrorDetails details = refusal(R"({"format": "dfcl-results", "format_version": 2})");
  EXPECT_EQ(details.what, "a results file of another version");
  EXPECT_EQ(details.found, "2");
  EXPECT_EQ(details.expected, "1");
}

TEST(ResultsReport, NamesTheKeyThatHasTheWrongType) {
  json results = sample();
  results["models"][0]["curve"][1]["revenue"]["low"] = "much";
  const core::ErrorDetails details = refusal(results.dump());
  EXPECT_EQ(details.kind, core::ErrorKind::data);
  EXPECT_EQ(details.found, "string in 'models[0].curve[1].revenue.low'");
  EXPECT_EQ(details.expected, "a number");
}

TEST(ResultsReport, NamesTheKeyThatHasAnUnknownWord) {
  json results = sample();
  results["figures"] = {{{"kind", std::string(1000, 'x')}}};
  const core::ErrorDetails details = refusal(results.dump());
  EXPECT_EQ(details.what, "an unknown word");
  EXPECT_EQ(details.found, "'" + std::string(60, 'x') + "...' in 'figures[0].kind'");
  EXPECT_EQ(details.expected, "one of line, bar, points");
}

TEST(ResultsReport, NamesALongKeyThatHasTheWrongKind) {
  json results = sample();
  results["readout"] = {{"units_per_role", {{"plan", 3}}}, {"level", 0.95}};
  results["readout"]["units_per_role"][std::string(1000, 'k')] = "many";
  EXPECT_EQ(refusal(results.dump()).found, "string in 'readout.units_per_role." + std::string(60, 'k') + "...'");
}

TEST(ResultsReport, CutsALongKeyThatStandsTwice) {
  const std::string key(1'000'000, 'k');
  EXPECT_LT(refusal("{\"" + key + "\": 1, \"" + key + "\": 2}").found.size(), 100u);
}

TEST(ResultsReport, RefusesDeepNesting) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(refusal(deep).what, "JSON nested too deeply");
}

}  // namespace
}  // namespace dfcl::report

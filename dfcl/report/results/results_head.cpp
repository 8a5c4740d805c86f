// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_head.h"

#include <cmath>

namespace dfcl::report {
namespace {

// A text that may be empty, and is then absent.
auto said(std::string Verdict::*text) {
  return
      [text](const Verdict& verdict) { return (verdict.*text).empty() ? std::nullopt : std::optional(verdict.*text); };
}

}  // namespace

static const Described<data::Provenance>& description(Of<data::Provenance>) {
  static const auto made_by =
      Described<data::Provenance>("MadeBy", "How the results were made: all that changes them.")
          .field("version", &data::Provenance::version, "version of dfcl")
          .field("verb", &data::Provenance::verb, "the verb that wrote it")
          .field("options", &data::Provenance::options, "pairs of a name and a value, in the order to be shown");
  return made_by;
}

static const Described<ReportWords>& description(Of<ReportWords>) {
  static const auto words =
      Described<ReportWords>("ReportWords", "Words and marks for whoever shows the results; `[report]` of the study.")
          .field("title", &ReportWords::title, "title of the report")
          .field("currency", &ReportWords::currency, "a code such as EUR, or a symbol; empty where there is none")
          .field("revenue_name", &ReportWords::revenue_name, "what revenue is called")
          .field("cost_name", &ReportWords::cost_name, "what cost is called")
          .field("unit", &ReportWords::unit, "what a unit is called, in the singular")
          .field("revenue_is_money", &ReportWords::revenue_is_money,
                 "in the currency; false: revenue counts something, such as orders")
          .field("decimal", &ReportWords::decimal, "decimal mark")
          .field("thousands", &ReportWords::thousands, "mark between thousands");
  return words;
}

static const Described<Verdict>& description(Of<Verdict>) {
  static const auto verdict =
      Described<Verdict>("Verdict", "The answer in words.")
          .field(
              "status", &Verdict::status,
              "`launch`: pays back, and targeting beats random (of launches: a gain is shown); `roll_out`: pays "
              "back, targeting is not shown, the same money at random pays back too; `pays_back`: that is not shown; "
              "`keep_rule`: today's rule beats every plan that gains; `harms`: every plan that gains harms a "
              "guardrail; `gain_shown`: more revenue, of unknown worth; "
              "`not_shown`; `loses`; `unfit`: the trial is")
          .field("sentence", &Verdict::sentence, "the answer, with its interval")
          .field("details", &Verdict::details, "further sentences")
          .maybe("pays_back", said(&Verdict::pays_back), "`yes`, `no`, `not_shown`, `depends`; of evaluations")
          .maybe("beats_random", said(&Verdict::beats_random), "`yes`, `no`, `not_shown`; of evaluations")
          .maybe("model", said(&Verdict::model), "the model of the plan that the sentence is about; of evaluations")
          .maybe("budget_per_unit",
                 [](const Verdict& one) {
                   return std::isnan(one.budget_per_unit) ? std::nullopt : std::optional(one.budget_per_unit);
                 },
                 {"its budget; of evaluations", kPerUnit})
          .maybe("not_pre_declared", said(&Verdict::not_pre_declared),
                 "what was done otherwise than the study declares; absent where nothing was");
  return verdict;
}

const Described<ResultsHead>& description(Of<ResultsHead>) {
  static const auto head =
      Described<ResultsHead>("Head", "What every results file begins with.")
          .field(
              "format", [](const ResultsHead&) { return kResultsFormat; }, "always `dfcl-results`")
          .required()
          .field(
              "format_version", [](const ResultsHead&) { return kResultsVersion; }, "1")
          .required()
          .field("kind", &ResultsHead::kind,
                 "`evaluation`, `comparison`, `deployment`, `readout` or `power`: which of the keys below there are")
          .field("made_by", &ResultsHead::made_by, "how the results were made")
          .field("report", &ResultsHead::words, "words and marks for whoever shows them")
          .field("verdict", &ResultsHead::verdict, "the answer");
  return head;
}

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/deploy_description.h"

#include "dfcl/report/launch/deploy_parts.h"

namespace dfcl::report {

using launch::Campaign;
using launch::GroupResult;
using launch::WeekResult;

namespace {

ReportWords deploy_words(const data::Study& study) {
  ReportWords words = data::report_words(study);
  words.title = study.report.title.value_or("Simulated online test");
  return words;
}

const Campaign& first_campaign(const DeployReport& report) {
  return campaign_of(report.result, report.with_controller);
}

const Campaign& other_campaign(const DeployReport& report) {
  return campaign_of(report.result, !report.with_controller);
}

std::vector<Table> deploy_tables(const DeployReport& report) {
  return {weeks_table(report.result, report.with_controller), gains_table(report.result, report.with_controller),
          spend_table(report.result)};
}

}  // namespace

static const Described<GroupResult>& description(Of<GroupResult>) {
  using G = GroupResult;
  static const auto group =
      Described<G>("Group", "The units that one method's plans were made for.")
          .field("method", &G::method, "the method")
          .field("unit_days", &G::unit_days, "units, counted on each day")
          .field("revenue", &G::revenue, {"what they earned", kTotal})
          .field("spend", &G::spend, {"what they cost", kTotal})
          .field("budget", &G::budget, {"what they were to cost", kTotal})
          .field("revenue_per_unit", &G::revenue_per_unit, {"and day", kPerUnit})
          .field("gain", &G::gain, {"revenue per unit over that of the reference's group", kShare});
  return group;
}

static const Described<WeekResult>& description(Of<WeekResult>) {
  using W = WeekResult;
  static const auto week =
      Described<W>("Week", "A week of the test.")
          .field("week", &W::week, "from 1")
          .field("days", &W::days, "how many")
          .field("cost_scale", &W::cost_scale, "of the last day, against the trial before the test")
          .field("population_shift", &W::population_shift, "of the last day")
          .field("training_rows", &W::training_rows, "random rows that this week's models were trained on")
          .field("groups", &W::groups, "one a method");
  return week;
}

const Described<DeployReport>& description(Of<DeployReport>) {
  using R = DeployReport;
  const SchemaPtr on_or_off = choice_schema({"on", "off"});
  const auto other =
      Described<R>("OtherCampaign", "The same days, played the other way.")
          .field_as(
              "controller", on_or_off, [](const R& one) { return one.with_controller ? "off" : "on"; }, "of spend")
          .field(
              "weeks", [](const R& one) { return other_campaign(one).weeks; }, "week by week")
          .field(
              "total", [](const R& one) { return other_campaign(one).total; }, "over all weeks");
  static const auto report =
      Described<R>("DeploymentResults", "A simulated online test.")
          .include(description(Of<ResultsHead>{}),
                   [](const R& one) {
                     return ResultsHead{one.provenance.kind, one.provenance, deploy_words(one.study),
                                        deploy_verdict(one.result, one.with_controller)};
                   })
          .field("level", [](const R&) { return 0.95; }, {"of the intervals", kShare})
          .field_as(
              "controller", on_or_off, [](const R& one) { return one.with_controller ? "on" : "off"; },
              "of spend, in `weeks` and `total`")
          .for_programs()
          .field(
              "reference", [](const R& one) { return one.result.methods[one.result.reference]; },
              "the method that the others are compared with")
          .for_programs()
          .field_as(
              "budget_basis", budget_basis_schema(), [](const R&) { return "total"; },
              "budgets and spends hold what control costs")
          .field("budget_per_unit", [](const R& one) { return one.result.budget_per_unit; }, {"and day", kPerUnit})
          .for_programs()
          .field(
              "weeks", [](const R& one) { return first_campaign(one).weeks; }, "week by week")
          .for_programs()
          .field(
              "total", [](const R& one) { return first_campaign(one).total; }, "over all weeks")
          .for_programs()
          .group("other", other, "the same days with the controller the other way")
          .for_programs()
          .field(
              "figures", [](const R& one) { return deploy_figures(one.result, one.with_controller); },
              "charts that are drawn as they stand")
          .field("tables", deploy_tables, "tables that are shown as they stand")
          .field(
              "how", [](const R& one) { return deploy_sentences(one.result, one.study); },
              "how it was made and what it does not say, in sentences");
  return report;
}

}  // namespace dfcl::report

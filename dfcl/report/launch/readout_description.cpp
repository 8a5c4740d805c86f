// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/readout_description.h"

#include "dfcl/report/launch/readout_parts.h"

namespace dfcl::report {

using launch::ArmReadout;
using launch::Crossing;
using launch::ExploredArm;
using launch::Readout;

namespace {

Keyed<std::size_t> units_per_role(const Readout& readout) {
  Keyed<std::size_t> units;
  for (std::size_t role = 0; role < data::kNumRoles; ++role)
    units.items.emplace_back(data::kRoleNames[role], readout.units_per_role[role]);
  return units;
}

}  // namespace

static const Described<ArmReadout>& description(Of<ArmReadout>) {
  using A = ArmReadout;
  static const auto arm = Described<A>("ReadoutArm", "The units for which the plan chose one arm; role plan only.")
                              .field("arm", &A::arm, "label, as planned")
                              .field("units", &A::units, {"how many", kUnits})
                              .field("received", &A::received, {"that got it", kUnits})
                              .field("planned_cost", &A::planned_cost, {"predicted cost", kTotal})
                              .field("realised_cost", &A::realised_cost, {"what they cost", kTotal})
                              .field("overspend", &A::overspend, {"realised minus planned cost", kTotal})
                              .field("planned_revenue", &A::planned_revenue, {"predicted revenue", kTotal})
                              .field("realised_revenue", &A::realised_revenue, {"what they earned", kTotal});
  return arm;
}

static const Described<Crossing>& description(Of<Crossing>) {
  static const auto crossing = Described<Crossing>("Crossing", "Units that got another arm than planned.")
                                   .field("planned", &Crossing::planned, "label")
                                   .field("received", &Crossing::received, "label")
                                   .field("units", &Crossing::units, {"how many", kUnits});
  return crossing;
}

static const Described<launch::LaunchLine>& description(Of<launch::LaunchLine>) {
  using L = launch::LaunchLine;
  static const auto line =
      Described<L>("LaunchLine", "One launch of several, or all of them.")
          .field("name", &L::name, "when it started, else its place in the list")
          .field("units", &L::units, {"of role plan", kUnits})
          .field("spend", &L::spend, {"of all roles", kTotal})
          .field("revenue", &L::revenue, {"over the hold-out", kTotal})
          .field("cost", &L::cost, {"over the hold-out", kTotal})
          .maybe("profit", &L::profit, {"over the hold-out; where it is said what revenue is worth", kTotal});
  return line;
}

static const Described<launch::GuardrailReadout>& description(Of<launch::GuardrailReadout>) {
  using G = launch::GuardrailReadout;
  static const auto guardrail =
      Described<G>("LaunchedGuardrail", "What the plan did to a further outcome, of which more is worse.")
          .field("name", &G::name, "the column of the outcome")
          .field("holdout", &G::holdout, {"its mean in the hold-out", kPerUnit})
          .field("increment", &G::increment, {"over that; its ends hold for all guardrails at once", kPerUnit})
          .field("harmed", &G::harmed, "`yes`: it rose; `no`: it did not; `not_shown`");
  return guardrail;
}

static const Described<ExploredArm>& description(Of<ExploredArm>) {
  using A = ExploredArm;
  static const auto arm = Described<A>("ExploredArm", "An arm among the explored units, over the hold-out.")
                              .field("arm", &A::arm, "label")
                              .field("units", &A::units, {"how many", kUnits})
                              .field("revenue", &A::revenue, {"revenue over the hold-out", kPerUnit})
                              .field("cost", &A::cost, {"cost over the hold-out", kPerUnit});
  return arm;
}

static const Described<Readout>& description(Of<Readout>) {
  using R = Readout;
  const auto holdout = Described<R>("Holdout", "The units that were held out.")
                           .field("units", [](const R& one) { return one.units_per_role[1]; }, {"how many", kUnits})
                           .field("share", &R::holdout_found, {"of the units in the outcomes", kShare})
                           .field("designed_share", &R::holdout_share, {"as designed", kShare})
                           .field("p_value", &R::holdout_p_value, "of the designed share")
                           .field("treated", &R::holdout_treated, {"that got another arm than control", kUnits});
  const auto planned =
      Described<R>("Planned", "What the plan predicted for units of role plan.")
          .field("revenue", &R::planned_revenue, {"predicted revenue", kTotal})
          .field("spend", &R::planned_spend, {"predicted cost", kTotal})
          .field("incremental_revenue", &R::planned_incremental, {"over control; null where it is not known", kTotal})
          .maybe("evaluated_revenue", &R::evaluated_incremental,
                 {"over control, by units of the trial that the model had not seen; where the plan says it", kTotal})
          .field("incremental_cost", &R::planned_incremental_cost, {"over control; null where it is not known", kTotal})
          .field("return_per_cost", &R::planned_return, "incremental revenue per incremental cost");
  const auto realised = Described<R>("Realised", "What came of the units of role plan.")
                            .field("revenue", &R::realised_revenue, {"what they earned", kTotal})
                            .field("spend", &R::realised_spend, {"what they cost", kTotal})
                            .field("incremental_revenue", &R::incremental_revenue, {"over the hold-out", kTotal})
                            .field("incremental_cost", &R::incremental_cost, {"over the hold-out", kTotal})
                            .field(
                                "return_per_cost", [](const R& one) { return one.per_unit.return_per_cost; },
                                "incremental revenue per incremental cost, with Fieller's interval; null where no more "
                                "was spent than on the hold-out")
                            .maybe("incremental_profit", &R::incremental_profit,
                                   {"over the hold-out; where it is said what revenue is worth", kTotal})
                            .maybe("roi", &R::roi, "incremental profit per incremental cost; likewise");
  const auto per_unit =
      Described<R>("PerUnit", "The plan over the hold-out.")
          .field("incremental_revenue", [](const R& one) { return one.per_unit.revenue; }, {"gain", kPerUnit})
          .field("incremental_cost", [](const R& one) { return one.per_unit.cost; }, {"extra cost", kPerUnit})
          .field("variance_removed", [](const R& one) { return one.per_unit.variance_removed; },
                 {"of the gain's variance, by adjusting for predictions", kShare});
  static const auto readout =
      Described<R>("Readout", "A launched plan against its hold-out.")
          .field("units", &R::units, {"in the plan and the outcomes", kUnits})
          .field("level", &R::level, {"of the intervals", kShare})
          .group("holdout", holdout, "the units that were held out")
          .group("planned", planned, "what the plan predicted")
          .group("realised", realised, "what came of it")
          .group("per_unit", per_unit, "the plan over the hold-out")
          .field("budget", &R::budget, {"for the units that are counted; null where it is not known", kTotal})
          .field(
              "budget_of_all", &R::budget_of_all,
              {"the plan's, of which `budget` is the part planned for these units; null where it is not known", kTotal})
          .field("spend", &R::total_spend, {"of all roles", kTotal})
          .field("not_as_planned", &R::not_as_planned, {"of role plan that got another arm", kUnits})
          .field("multiplier", &R::multiplier, "of the plan; null where it is not known")
          .field("next_multiplier", &R::next_multiplier, "to use next; null where it cannot be said")
          .field("warnings", &R::warnings, "sentences")
          .maybe(
              "guardrails",
              [](const R& one) { return one.guardrails.empty() ? std::nullopt : std::optional(one.guardrails); },
              "further outcomes that the plan must not raise, where any were named")
          .maybe(
              "sample_weights",
              [](const R& one) { return one.has_sample_weights ? std::optional(true) : std::nullopt; },
              "gains count units by their sample weights")
          .field("launches", &R::launches, "launches added up, this one last")
          .field(
              "all_launches", [](const R& one) { return launch::total_of(one.launches, one.launches.size()); },
              "their sums; ends are sums of ends, which hold whatever the launches have in common")
          .field("units_per_role", units_per_role, {"`plan`, `holdout`, `explore`", kUnits})
          .field("arms", &R::arms, "by planned arm")
          .field("crossings", &R::crossings, "units that got another arm than planned")
          .field("explored", &R::explored, "by arm");
  return readout;
}

const Described<ReadoutReport>& description(Of<ReadoutReport>) {
  using R = ReadoutReport;
  static const auto report =
      Described<R>("ReadoutResults", "What came of a launch.")
          .include(description(Of<ResultsHead>{}),
                   [](const R& one) {
                     data::ReportWords words = one.readout.words;
                     words.title = "Readout of a launch";
                     words.revenue_name = "revenue";
                     words.cost_name = "cost";
                     return ResultsHead{one.provenance.kind, one.provenance, words, readout_verdict(one.readout)};
                   })
          .field("level", [](const R& one) { return one.readout.level; }, {"of the intervals", kShare})
          .field_as(
              "budget_basis", budget_basis_schema(), [](const R&) { return "total"; },
              "budget and spend hold what control costs, whatever the plan's budget was")
          .field(
              "readout", [](const R& one) { return one.readout; }, "the figures")
          .field(
              "figures", [](const R& one) { return readout_figures(one.readout); },
              "charts that are drawn as they stand")
          .field(
              "tables", [](const R& one) { return readout_tables(one.readout); }, "tables that are shown as they stand")
          .field(
              "how", [](const R& one) { return readout_sentences(one.readout); },
              "how it was made and what it does not say, in sentences");
  return report;
}

}  // namespace dfcl::report

// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/power_description.h"

#include "dfcl/report/launch/power_parts.h"

namespace dfcl::report {

using launch::GainNeed;

namespace {

struct ReportedNeed : GainNeed {
  double relative_gain = 0.0;
  std::optional<double> launch_units_known = {};
};

double relative_to_plan(const PowerFigures& figures, double gain) {
  return figures.pair.revenue_a > 0.0 ? gain / figures.pair.revenue_a : core::Interval::kNone;
}

std::vector<ReportedNeed> reported_needs(const PowerFigures& figures) {
  std::vector<ReportedNeed> needs;
  for (const GainNeed& need : power_needs(figures)) {
    needs.push_back({need, relative_to_plan(figures, need.gain),
                     figures.has_trial ? std::optional(need.launch_units) : std::nullopt});
  }
  return needs;
}

// What is there only with a trial.
std::optional<PowerFigures> with_trial(const PowerFigures& figures) {
  return figures.has_trial ? std::optional(figures) : std::nullopt;
}

// A figure of the pair of plans.
template <class V>
auto of_pair(V launch::PlanPair::*member) {
  return [member](const PowerFigures& figures) -> const V& { return figures.pair.*member; };
}

ReportWords power_words(const PowerFigures& figures) {
  return {figures.title.empty() ? "How large must a trial be?" : figures.title,
          figures.currency,
          figures.revenue_name,
          figures.cost_name,
          figures.unit,
          figures.revenue_is_money};
}

}  // namespace

static const Described<ReportedNeed>& description(Of<ReportedNeed>) {
  using N = ReportedNeed;
  static const auto need =
      Described<N>("GainNeed", "What it takes to find a gain.")
          .field("gain", &N::gain, {"revenue", kPerUnit})
          .field("relative_gain", &N::relative_gain, {"of the first plan's revenue", kShare})
          .field("rows", &N::rows, "that are looked at")
          .field("trial_units", &N::trial_units, "of the whole trial, with the rows that train")
          .maybe("launch_units", &N::launch_units_known, "of a launch, half of them with each plan; with a trial only");
  return need;
}

static const Described<launch::ArmPower>& description(Of<launch::ArmPower>) {
  using A = launch::ArmPower;
  static const auto arm =
      Described<A>("ArmPower", "An arm against control.")
          .field("arm", &A::arm, "label")
          .field("rows", &A::units, "of the arm that are looked at")
          .field("difference", &A::difference, {"mean revenue of the arm minus control's", kPerUnit})
          .field("sd", &A::sd, {"of the difference, per row looked at", kPerUnit})
          .field("least_effect", &A::least_effect, {"that is found with the stated probability", kPerUnit})
          .field("extra_cost", &A::extra_cost, {"mean cost of the arm minus control's", kPerUnit});
  return arm;
}

static const Described<launch::HoldoutNeed>& description(Of<launch::HoldoutNeed>) {
  using H = launch::HoldoutNeed;
  static const auto need = Described<H>("HoldoutNeed", "How large a hold-out must be to find a gain over control.")
                               .field("gain", &H::gain, {"revenue", kPerUnit})
                               .field("share", &H::share, {"of the launch; null where none is large enough", kShare})
                               .field("units", &H::units, {"held out; null likewise", kUnits})
                               .field("least_launch", &H::least_launch, {"below which no hold-out suffices", kUnits});
  return need;
}

// Of a calculation that has a trial.
static const Described<PowerFigures>& description(Of<PowerFigures>) {
  using F = PowerFigures;
  static const auto trial =
      Described<F>("ThisTrial", "What this trial can show.")
          .field("rows", of_pair(&launch::PlanPair::units), "that were looked at")
          .field("split", &F::split, "which rows")
          .field("plans_are_known", of_pair(&launch::PlanPair::plans_are_known),
                 "false: the share of units on which plans differ is assumed")
          .field("differing", of_pair(&launch::PlanPair::differing),
                 {"of units to which plans give other arms", kShare})
          .field("revenue_per_unit", of_pair(&launch::PlanPair::revenue_a), {"of the first plan", kPerUnit})
          .field("difference", of_pair(&launch::PlanPair::difference),
                 {"second plan minus first, in revenue", kPerUnit})
          .field("smallest_gain", smallest_gain_of, {"that it finds with the stated probability", kPerUnit})
          .field("smallest_relative_gain", [](const F& one) { return relative_to_plan(one, smallest_gain_of(one)); },
                 {"the same", kShare})
          .field("value_per_revenue", &F::value_per_revenue,
                 "what one unit of revenue is worth, by [value]; null where it is not known")
          .field("arms", &F::arms, "each arm against control")
          .field("launch_units", &F::launch_units, {"of the launch that hold-outs are a share of", kUnits})
          .field("holdouts", &F::holdouts, "for each gain asked for");
  return trial;
}

const Described<PowerReport>& description(Of<PowerReport>) {
  using R = PowerReport;
  const auto power =
      Described<R>("Power", "How large a trial must be.")
          .field(
              "power", [](const R& one) { return one.figures.levels.power; }, "probability to find a gain")
          .field("level", [](const R& one) { return one.figures.levels.level; }, {"of the two-sided interval", kShare})
          .field("sd", [](const R& one) { return one.figures.pair.sd; }, {"of the paired difference", kPerUnit})
          .field(
              "next_trial", [](const R& one) { return reported_needs(one.figures); }, "for each gain asked for")
          .maybe(
              "this_trial", [](const R& one) { return with_trial(one.figures); }, "where there is one");
  static const auto report =
      Described<R>("PowerResults", "How large must the next trial be?")
          .include(description(Of<ResultsHead>{}),
                   [](const R& one) {
                     return ResultsHead{one.provenance.kind, one.provenance, power_words(one.figures),
                                        power_verdict(one.figures)};
                   })
          .field("level", [](const R& one) { return one.figures.levels.level; }, {"of the intervals", kShare})
          .group("power", power, "the figures")
          .for_programs()
          .field(
              "figures", [](const R& one) { return power_figures(one.figures); }, "charts that are drawn as they stand")
          .field(
              "tables", [](const R& one) { return power_tables(one.figures); }, "tables that are shown as they stand")
          .field(
              "how", [](const R&) { return power_sentences(); },
              "how it was made and what it does not say, in sentences");
  return report;
}

}  // namespace dfcl::report

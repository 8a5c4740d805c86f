// SPDX-License-Identifier: Apache-2.0
//
// What an evaluation says of plans that need no model.
#include "dfcl/report/evaluation/evaluation_description.h"

namespace dfcl::report {

using evaluate::BaselineDifferenceFigures;
using evaluate::BaselineFigures;

const Described<BaselineFigures>& description(Of<BaselineFigures>) {
  using B = BaselineFigures;
  static const auto baseline =
      Described<B>("Baseline", "Plans that need no model, made from rows that are not evaluated.")
          .field("kind", &B::kind,
                 "`random`: the arms' mean effects for units drawn at random, on average over all draws; `single_arm`: "
                 "the best one for everyone; `control`: for everyone; `rule`: today's, by [columns] rule")
          .field("names", &B::names, "in words, by budget")
          .field("plans", &B::plans, "by budget")
          .field("curve", &B::curve, "of `random`, over all budgets; empty for the others");
  return baseline;
}

const Described<BaselineDifferenceFigures>& description(Of<BaselineDifferenceFigures>) {
  using D = BaselineDifferenceFigures;
  static const auto difference =
      Described<D>(
          "BaselineDifference",
          "A model's deployed plan minus a baseline's, at one budget, on the same resamples, at a common price.")
          .field("model", &D::model, "the model")
          .field("baseline", &D::baseline, "kind of the baseline")
          .field("budget_per_unit", &D::budget_per_unit, {"the budget", kPerUnit})
          .field("price", &D::price, "revenue per cost at which the difference in spend is charged")
          .field("net", &D::net, {"difference in revenue minus price x difference in cost", kPerUnit})
          .group("simultaneous",
                 Described<D>("BaselineEnds", "An interval without its estimate.")
                     .field("low", &D::simultaneous_low, "lower end")
                     .field("high", &D::simultaneous_high, "upper end"),
                 {"interval of `net` which holds for all models, budgets and baselines at once", kPerUnit})
          .field("revenue", &D::revenue, {"difference in revenue as it stands", kPerUnit})
          .field("cost", &D::cost, {"difference in cost as it stands", kPerUnit})
          .field("plan_cost", &D::plan_cost, {"what the model's plan costs", kPerUnit})
          .field("baseline_cost", &D::baseline_cost, {"what the baseline costs", kPerUnit})
          .maybe("profit", &D::profit, {"difference in profit; where [value] says what revenue is worth", kPerUnit})
          .field("answer", &D::answer, "`yes`: the model beats the baseline; `no`: it is beaten; `not_shown`")
          .field("sentence", &D::sentence, "the difference in words, by the simultaneous interval");
  return difference;
}

}  // namespace dfcl::report

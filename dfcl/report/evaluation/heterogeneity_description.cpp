// SPDX-License-Identifier: Apache-2.0
//
// Uplift by decile, effects by segment, and the plan as a rule.
#include "dfcl/report/evaluation/evaluation_description.h"

namespace dfcl::report {

using data::QuestionNode;
using evaluate::ArmEffect;
using evaluate::PolicyLeaf;
using evaluate::PolicyTreeFigures;
using evaluate::RankedPoint;
using evaluate::SegmentEffect;
using evaluate::SegmentEffects;
using evaluate::UpliftDecile;
using evaluate::UpliftFigures;

const Described<QuestionNode>& description(Of<QuestionNode>) {
  using N = QuestionNode;
  static const auto node =
      Described<N>("QuestionNode", "A yes-or-no question of a tree, or a leaf. The root comes first.")
          .field("question", &N::question, "in words; empty for a leaf")
          .field("yes", &N::yes, "place of the node where it holds; null for a leaf")
          .field("no", &N::no, "place of the node where it does not hold; null for a leaf")
          .field("leaf", &N::leaf, "place among the leaves; null for a question");
  return node;
}

static const Described<UpliftDecile>& description(Of<UpliftDecile>) {
  using D = UpliftDecile;
  static const auto decile =
      Described<D>("UpliftDecile", "A tenth of the units, by predicted uplift.")
          .field("units", &D::num_units, {"how many", kUnits})
          .field("predicted", &D::predicted, {"mean predicted uplift: revenue over control", kPerUnit})
          .field("uplift", &D::uplift, {"estimated uplift", kPerUnit})
          .field("difference_in_means", &D::difference_in_means,
                 {"mean revenue of those who received the arm minus that of control, as scikit-uplift's "
                  "uplift_by_percentile; null for a plan's own ranking",
                  kPerUnit})
          .field("predicted_cost", &D::predicted_cost, {"mean predicted cost over control", kPerUnit})
          .field("cost", &D::cost, {"estimated cost over control", kPerUnit})
          .maybe("planned", &D::planned, {"of these units, whom the plan treats; of a plan's own ranking", kShare});
  return decile;
}

static const Described<RankedPoint>& description(Of<RankedPoint>) {
  using P = RankedPoint;
  static const auto point = Described<P>("RankedPoint", "A point of a curve along a ranking of the units.")
                                .field("x", &P::x, "how far along")
                                .field("value", &P::value, {"revenue over control", kPerUnit})
                                .field("random", &P::random, {"of a random ranking: the diagonal", kPerUnit});
  return point;
}

const Described<UpliftFigures>& description(Of<UpliftFigures>) {
  using U = UpliftFigures;
  static const auto uplift =
      Described<U>("Uplift",
                   "One ranking of the units: by predicted uplift of an arm over control, or by the net score of the "
                   "best treated arm, which the plan at a budget goes by.")
          .field("arm", &U::arm, "label; empty for the plan's own ranking")
          .maybe("budget_per_unit", &U::budget_per_unit, {"of the plan's own ranking", kPerUnit})
          .field("deciles", &U::deciles, "most predicted uplift first")
          .field("predicted", &U::predicted, {"mean predicted uplift of all units", kPerUnit})
          .field("uplift", &U::uplift, {"estimated uplift of all units", kPerUnit})
          .field("calibration_slope", &U::calibration_slope,
                 "of estimated on predicted uplift: 1 as predicted, 0 no relation; null where all predictions are "
                 "the same")
          .field("sentence", &U::sentence, "in words")
          .field("qini_curve", &U::qini_curve, "by share of the ranking; of an arm")
          .field("cost_curve", &U::cost_curve, "by cost over control per unit; of an arm");
  return uplift;
}

static const Described<ArmEffect>& description(Of<ArmEffect>) {
  using E = ArmEffect;
  static const auto effect =
      Described<E>("ArmEffect", "One arm against control in one segment.")
          .field("arm", &E::arm, "label")
          .field("treated", &E::num_treated, {"who received the arm", kUnits})
          .field("controls", &E::num_control, {"who received control", kUnits})
          .field("revenue", &E::revenue, {"over control; null where there are too few units", kPerUnit})
          .group("simultaneous",
                 Described<E>("Ends", "An interval without its estimate.")
                     .field("low", &E::simultaneous_low, "lower end")
                     .field("high", &E::simultaneous_high, "upper end"),
                 {"interval of that effect which holds for all segments and arms at once", kPerUnit})
          .field("cost", &E::cost, {"over control", kPerUnit})
          .field("answer", &E::answer,
                 "by the simultaneous interval: `yes`, the arm earns more than control; `no`, less; `not_shown`; "
                 "`too_few` units");
  return effect;
}

static const Described<SegmentEffect>& description(Of<SegmentEffect>) {
  using S = SegmentEffect;
  static const auto segment = Described<S>("SegmentEffect", "The effects of the arms in one segment.")
                                  .field("value", &S::value, "the value of the column, or the leaf in words")
                                  .field("units", &S::num_units, {"how many", kUnits})
                                  .field("share", &S::share, {"of the units", kShare})
                                  .field("arms", &S::arms, "for each treated arm");
  return segment;
}

const Described<SegmentEffects>& description(Of<SegmentEffects>) {
  using S = SegmentEffects;
  static const auto effects =
      Described<S>("SegmentEffects", "The effects of the arms, segment by segment.")
          .field("column", &S::column, "its name; empty for all units and for a tree")
          .field("found", &S::found, "`all`: all units; `column`; `tree`: the leaves of a tree")
          .field("values", &S::values, "the segments")
          .field("nodes", &S::nodes, "of the tree, whose leaves are the segments; empty otherwise");
  return effects;
}

static const Described<PolicyLeaf>& description(Of<PolicyLeaf>) {
  using L = PolicyLeaf;
  static const auto leaf = Described<L>("PolicyLeaf", "Units that get the same arm.")
                               .field("units", &L::units, "which, in words")
                               .field("arm", &L::arm, "what they get")
                               .field("num_units", &L::num_units, {"how many", kUnits})
                               .field("share", &L::share, {"of the units", kShare})
                               .field("predicted_revenue", &L::predicted_revenue, {"over control", kPerUnit})
                               .field("predicted_cost", &L::predicted_cost, {"over control", kPerUnit})
                               .field("revenue", &L::revenue, {"estimated, over control", kPerUnit})
                               .field("cost", &L::cost, {"estimated, over control", kPerUnit});
  return leaf;
}

const Described<PolicyTreeFigures>& description(Of<PolicyTreeFigures>) {
  using T = PolicyTreeFigures;
  static const auto tree =
      Described<T>("PolicyTree",
                   "The plan at a budget as a short rule, fitted to predictions for rows that are not evaluated.")
          .field("budget_per_unit", &T::budget_per_unit, {"the budget", kPerUnit})
          .field("multiplier", &T::multiplier, "price of cost in the scores that it was fitted to")
          .field("nodes", &T::nodes, "its questions and leaves")
          .field("leaves", &T::leaves, "who gets what")
          .field("incremental_revenue", &T::incremental_revenue, {"over everyone in control", kPerUnit})
          .field("incremental_cost", &T::incremental_cost, {"over everyone in control", kPerUnit})
          .field("spend_over_budget", &T::spend_over_budget, {"what it spends beyond the budget", kPerUnit})
          .field("predicted_cost", &T::predicted_cost, {"over everyone in control, as predicted", kPerUnit})
          .field("price", &T::price, "revenue per cost at which the difference in spend is charged")
          .field("net_difference", &T::net_difference,
                 {"tree minus plan: difference in revenue - price x difference in cost", kPerUnit})
          .field("revenue_difference", &T::revenue_difference, {"tree minus plan", kPerUnit})
          .field("cost_difference", &T::cost_difference, {"tree minus plan", kPerUnit})
          .field("answer", &T::answer, "`yes`: better than the plan; `no`: worse; `not_shown`")
          .field("sentence", &T::sentence, "the comparison in words");
  return tree;
}

}  // namespace dfcl::report

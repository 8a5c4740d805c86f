// SPDX-License-Identifier: Apache-2.0
//
// A model's curve between its points: straight lines, as the chart draws them.
import { isNumber, list, type Interval, type Maybe, type Model, type PlanValue } from "./results";

export interface CurvePoint extends PlanValue {
  budget_per_unit: number;
}

// The points that have a budget, in rising order. The plans at the study's budgets are points too, so that the same plan
// has the same figures wherever it is shown.
export function curveOf(model: Model): CurvePoint[] {
  const hasBudget = (point: PlanValue): point is CurvePoint => isNumber(point.budget_per_unit);
  const points = list(model.curve).filter(hasBudget);
  const low = Math.min(...points.map((point) => point.budget_per_unit));
  const high = Math.max(...points.map((point) => point.budget_per_unit));
  const plans = list(model.deployed)
    .filter(hasBudget)
    .filter((plan) => plan.budget_per_unit >= low && plan.budget_per_unit <= high && isNumber(plan.revenue?.value));
  const kept = points.filter((point) => !plans.some((plan) => plan.budget_per_unit === point.budget_per_unit));
  return [...kept, ...plans].sort((a, b) => a.budget_per_unit - b.budget_per_unit);
}

// What the curve says at a budget; beyond its ends, its ends. Null without points.
export function atBudget(curve: CurvePoint[], budget: number): CurvePoint | null {
  const first = curve[0];
  const last = curve[curve.length - 1];
  if (!first || !last) return null;
  if (budget <= first.budget_per_unit) return first;
  if (budget >= last.budget_per_unit) return last;
  const above = curve.findIndex((point) => point.budget_per_unit >= budget);
  const left = curve[above - 1] ?? first;
  const right = curve[above] ?? last;
  const width = right.budget_per_unit - left.budget_per_unit;
  const weight = width > 0 ? (budget - left.budget_per_unit) / width : 1;
  return {
    budget_per_unit: budget,
    multiplier: between(left.multiplier, right.multiplier, weight),
    revenue: intervalBetween(left.revenue, right.revenue, weight),
    incremental_revenue: intervalBetween(left.incremental_revenue, right.incremental_revenue, weight),
    cost: intervalBetween(left.cost, right.cost, weight),
    incremental_profit: intervalBetween(left.incremental_profit, right.incremental_profit, weight),
    share_per_arm: sharesBetween(left.share_per_arm, right.share_per_arm, weight),
  };
}

function between(left: Maybe<number>, right: Maybe<number>, weight: number): number | null {
  if (!isNumber(left) || !isNumber(right)) return null;
  return left + weight * (right - left);
}

function intervalBetween(left: Maybe<Interval>, right: Maybe<Interval>, weight: number): Interval | null {
  if (!left || !right) return null;
  return {
    value: between(left.value, right.value, weight),
    low: between(left.low, right.low, weight),
    high: between(left.high, right.high, weight),
  };
}

function sharesBetween(left: PlanValue["share_per_arm"], right: PlanValue["share_per_arm"], weight: number) {
  if (!left || !right) return null;
  return left.map((share, arm) => between(share, right[arm], weight));
}

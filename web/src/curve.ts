// SPDX-License-Identifier: Apache-2.0
//
// The budgets at which a model was evaluated. Nothing is read off between them.
import { isNumber, list, type Maybe, type Model, type PlanValue } from "./results";

export interface CurvePoint extends PlanValue {
  budget_per_unit: number;
}

// Two budgets that differ by rounding only; what is no number is no budget.
export function isSame(one: Maybe<number>, other: Maybe<number>): boolean {
  return isNumber(one) && isNumber(other) && Math.abs(one - other) <= 1e-6 * Math.max(Math.abs(one), Math.abs(other));
}

// The points that have a budget, in rising order. The plans at the study's budgets are points too, so that the same plan
// has the same figures wherever it is shown.
export function curveOf(model: Model): CurvePoint[] {
  const hasBudget = (point: PlanValue): point is CurvePoint => isNumber(point.budget_per_unit);
  const points = list(model.curve).filter(hasBudget);
  const plans = list(model.deployed)
    .filter(hasBudget)
    .filter((plan) => isNumber(plan.revenue?.value));
  const kept = points.filter((point) => !plans.some((plan) => isSame(plan.budget_per_unit, point.budget_per_unit)));
  return [...kept, ...plans].sort((a, b) => a.budget_per_unit - b.budget_per_unit);
}

// The place of a budget among the points; -1 where there is none.
export function placeOf(curve: CurvePoint[], budget: number): number {
  return curve.findIndex((point) => isSame(point.budget_per_unit, budget));
}

export function atBudget(curve: CurvePoint[], budget: number): CurvePoint | null {
  return curve[placeOf(curve, budget)] ?? null;
}

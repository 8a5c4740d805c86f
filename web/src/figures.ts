// SPDX-License-Identifier: Apache-2.0
//
// What a plan spends, brings and nets over control, per unit.
import { atBudget, isSame, type CurvePoint } from "./curve";
import { isNumber, list, type Baseline, type Interval, type Maybe, type PlanValue } from "./results";
import type { View } from "./view";

export interface PlanFigures {
  spend: Interval | null;
  revenue: Interval | null;
  profit: Interval | null;
  roi: Interval | null;
  atOnce: boolean; // the intervals hold for all plans of the study at once
}

function known(interval: Maybe<Interval>): Interval | null {
  return interval && isNumber(interval.value) ? interval : null;
}

function minus(interval: Interval | null, amount: number): Interval | null {
  if (!interval) return null;
  const less = (value: Maybe<number>) => (isNumber(value) ? value - amount : null);
  return { value: less(interval.value), low: less(interval.low), high: less(interval.high) };
}

export function figuresOf(view: View, plan: PlanValue): PlanFigures {
  const spend = known(plan.incremental_cost) ?? minus(known(plan.cost), view.controlCost);
  const revenue = known(plan.simultaneous_incremental_revenue) ?? known(plan.incremental_revenue);
  const profit = known(plan.simultaneous_incremental_profit) ?? known(plan.incremental_profit);
  const atOnce = known(plan.simultaneous_incremental_profit ?? plan.simultaneous_incremental_revenue) !== null;
  const isCertain = isNumber(spend?.value) && spend.value > 0 && !isNumber(spend.low);
  const ratio = isCertain || !known(plan.roi) ? perSpend(profit, spend) : known(plan.roi);
  return { spend, revenue, profit, roi: ratio, atOnce };
}

// Where spend is known for certain, the ends of the profit are those of the return.
function perSpend(profit: Interval | null, spend: Interval | null): Interval | null {
  const spent = spend?.value;
  if (!profit || !isNumber(spent) || spent <= 0) return null;
  const per = (value: Maybe<number>) => (isNumber(value) && !isNumber(spend?.low) ? value / spent : null);
  return { value: (profit.value ?? 0) / spent, low: per(profit.low), high: per(profit.high) };
}

// The arms of a baseline at the chosen budget, or at the study's budget nearest to it: those that spend what they spend
// are the same at all of them.
export function baselinePlan(view: View, baseline: Baseline): { plan: PlanValue; name: string } | null {
  const plans = list(baseline.plans);
  const place = view.nearestBudget();
  const follows = baseline.kind === "random";
  const onCurve = follows && view.budget !== null ? atBudget(list(baseline.curve).filter((point): point is CurvePoint => isNumber(point.budget_per_unit)), view.budget) : null;
  const atStudy = follows && view.budget !== null && !onCurve ? plans.find((plan) => isSame(plan.budget_per_unit, view.budget)) : plans[place];
  const plan = onCurve ?? atStudy;
  return plan ? { plan, name: list(baseline.names)[place] ?? baseline.kind ?? "" } : null;
}

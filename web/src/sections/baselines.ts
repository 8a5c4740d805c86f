// SPDX-License-Identifier: Apache-2.0
//
// Models against plans that need no model: what targeting adds over random, a single arm, today's rule.
import { budgetCell, intervalCell, modelCell, percentCell } from "../cells";
import { fold, h, note, replaceChildren, scope, section, table, type Child } from "../dom";
import { decimalsOf, decimalsOfIntervals } from "../format";
import { isNumber, list, type BaselineDifference } from "../results";
import type { View } from "../view";
import { budgetDecimals } from "./controls";

const kNames: Record<string, string> = { random: "random", single_arm: "the best single arm", rule: "today's rule" };

export function baselines(view: View): Child {
  const all = list(view.results.baseline_differences).filter((row) => row.baseline !== "control");
  if (all.length === 0) return null;
  const rows = h("div", {});
  const redraw = () => replaceChildren(rows, differenceTable(view, all.filter((row) => view.isActive(row.model ?? ""))));
  view.onChange(redraw);
  redraw();
  return section(
    "baselines",
    "Against plans that need no model",
    scope(view.scope),
    rows,
    note("A difference in spend is charged at the price: what one more unit of cost would earn at random, or must earn to pay back. Intervals all at once hold for all models, budgets and baselines."),
    plansTable(view),
  );
}

function nameOf(kind: string): string {
  return Object.hasOwn(kNames, kind) ? (kNames[kind] ?? kind) : kind;
}

function differenceTable(view: View, rows: BaselineDifference[]): Child {
  if (rows.length === 0) return h("p", { class: "empty" }, "No model is switched on.");
  const net = decimalsOfIntervals(rows.map((row) => row.net));
  const profit = decimalsOfIntervals(rows.map((row) => row.profit));
  const costs = decimalsOf(rows.flatMap((row) => [row.plan_cost, row.baseline_cost]).filter(isNumber), 4);
  const hasProfit = rows.some((row) => isNumber(row.profit?.value));
  return table({
    caption: `What models add in ${view.revenueName} per unit, on the same resamples`,
    columns: [
      { title: "Budget per unit" },
      { title: "Model", kind: "text" },
      { title: "against", kind: "text" },
      { title: "adds, at one price" },
      { title: "all at once" },
      ...(hasProfit ? [{ title: "profit" }] : []),
      { title: view.costName },
      { title: `its ${view.costName}` },
      { title: "price" },
    ],
    rows: rows.map((row) => [
      budgetCell(view, row.budget_per_unit, budgetDecimals(view)),
      modelCell(view, row.model ?? ""),
      nameOf(row.baseline ?? ""),
      intervalCell(view, row.net, net, 1, true),
      view.format.range(row.simultaneous?.low, row.simultaneous?.high, net),
      ...(hasProfit ? [intervalCell(view, row.profit, profit, 1, true)] : []),
      view.format.fixed(row.plan_cost, costs),
      view.format.fixed(row.baseline_cost, costs),
      view.format.plain(row.price),
    ]),
  });
}

function plansTable(view: View): Child {
  const rows = list(view.results.baselines).flatMap((baseline) =>
    list(baseline.plans).map((plan, budget) => ({ plan, name: (baseline.kind === "random" ? "random: " : "") + (list(baseline.names)[budget] ?? baseline.kind ?? "") })),
  );
  if (rows.length === 0) return null;
  const revenue = decimalsOfIntervals(rows.map((row) => row.plan.revenue));
  const gain = decimalsOfIntervals(rows.map((row) => row.plan.incremental_revenue));
  const cost = decimalsOfIntervals(rows.map((row) => row.plan.cost));
  const profit = decimalsOfIntervals(rows.map((row) => row.plan.incremental_profit));
  const hasProfit = rows.some((row) => isNumber(row.plan.incremental_profit?.value));
  const caption = "These plans themselves, per unit";
  return fold(
    caption,
    table({
      caption,
      hideCaption: true,
      columns: [
        { title: "Budget per unit" },
        { title: "Plan", kind: "wide" },
        { title: view.revenueName },
        { title: "over control" },
        { title: view.costName },
        ...(hasProfit ? [{ title: "profit over control" }, { title: "ROI" }] : []),
      ],
      rows: rows.map(({ plan, name }) => [
        view.format.money(plan.budget_per_unit, budgetDecimals(view)),
        name,
        intervalCell(view, plan.revenue, revenue),
        intervalCell(view, plan.incremental_revenue, gain),
        intervalCell(view, plan.cost, cost),
        ...(hasProfit ? [intervalCell(view, plan.incremental_profit, profit, 1, true), percentCell(view, plan.roi)] : []),
      ]),
    }),
  );
}

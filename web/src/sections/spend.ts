// SPDX-License-Identifier: Apache-2.0
//
// How much to spend: what is earned for what is spent by the chosen model, with the point of break-even, the line of
// random spending and what one more unit of money is predicted to return.
import { areaY, dot, line, pointerX, ruleX, ruleY, text, tip } from "@observablehq/plot";
import { chart, extent, tickFormat } from "../chart";
import { fold, h, note, replaceChildren, section, table, type Child } from "../dom";
import { figuresOf } from "../figures";
import { decimalsOfIntervals } from "../format";
import { intervalCell, moneyCell } from "../cells";
import { isNumber, list, type Interval, type PlanValue } from "../results";
import type { View } from "../view";
import { budgetWords } from "./controls";

type Outcome = "profit" | "revenue";

interface Spot {
  spend: number;
  value: number;
  low: number | null;
  high: number | null;
  text: string;
}

export function spend(view: View): Child {
  if (!view.models.some((shown) => shown.curve.length > 1)) return null;
  const hasProfit = view.models.some((shown) => shown.curve.some((point) => isNumber(point.incremental_profit?.value)));
  const choice = outcomeChoice(view, hasProfit);
  const label = () => `${choice.outcome() === "profit" ? "Profit" : `Extra ${view.revenueName}`} by ${view.costName} spent`;
  const drawn = chart(view, hasProfit ? `Profit and extra ${view.revenueName} by spend` : label(), (width) => draw(view, choice.outcome(), width));
  const words = h("ul", { class: "findings" });
  const points = h("div", {});
  const redraw = () => {
    replaceChildren(words, ...sentences(view).map((sentence) => h("li", {}, sentence)));
    replaceChildren(points, pointsTable(view));
  };
  view.onChange(redraw);
  redraw();
  const oracle = list(view.results.oracle?.curve).length > 0 ? " Dotted: the best that is possible, known because the trial is simulated." : "";
  return section(
    "spend",
    "How much to spend",
    words,
    choice.element,
    h("figure", {}, drawn),
    note(`The band is the ${view.levelText} interval, point by point. Dashed: the same money at random.${oracle} The upright line is the chosen budget.`),
    fold("The curve as a table", points),
  );
}

function outcomeChoice(view: View, hasProfit: boolean) {
  const make = (value: Outcome, label: string, checked: boolean) => {
    const input = h("input", { type: "radio", name: "outcome", value, checked });
    input.addEventListener("change", () => view.refresh());
    return { input, element: h("label", {}, input, h("span", {}, label)) };
  };
  const profit = make("profit", "profit", hasProfit);
  const revenue = make("revenue", `extra ${view.revenueName}`, !hasProfit);
  return {
    element: hasProfit ? h("div", { class: "segmented", role: "radiogroup", "aria-label": "Outcome shown" }, profit.element, revenue.element) : null,
    outcome: (): Outcome => (profit.input.checked ? "profit" : "revenue"),
  };
}

// Over the whole curve, for the chosen model.
function sentences(view: View): string[] {
  const curve = view.model?.curve ?? [];
  const point = view.pointOf(view.model);
  const worth = view.valuePerRevenue;
  const said: string[] = [];
  const best = curve.filter((one) => isNumber(one.incremental_profit?.value)).reduce<PlanValue | null>((most, one) => ((one.incremental_profit?.value ?? 0) > (most?.incremental_profit?.value ?? -Infinity) ? one : most), null);
  if (best) said.push(`Measured profit is highest at a budget of ${budgetWords(view, best.budget_per_unit)}: ${view.format.signedMoney(view.scaled(best.incremental_profit)?.value, placesOf(view, best.incremental_profit))}.`);
  const prices = curve.filter((one) => isNumber(one.multiplier));
  if (worth !== null && prices.length > 0) {
    const even = breakEven(view);
    if (even) said.push(`Break-even: by the predictions, more money pays back up to a budget of ${budgetWords(view, even.budget_per_unit)}, and not beyond.`);
    else if (prices.every((one) => (one.multiplier ?? 0) * worth >= 1)) said.push("By the predictions, more money pays back over the whole range that was evaluated.");
    else said.push("By the predictions, not even the first money spent pays back.");
  }
  if (point && isNumber(point.multiplier)) {
    const each = view.format.withCurrency("1");
    const back = `${view.format.plain(point.multiplier)} ${view.revenueName}`;
    const pays = worth === null ? "" : `, worth ${view.format.money(point.multiplier * worth, 2)}: it ${point.multiplier * worth >= 1 ? "pays back" : "does not pay back"}`;
    said.push(point.multiplier > 0 ? `Marginal return at the chosen budget: ${each} more is predicted to bring ${back}${pays}.` : "At the chosen budget, more money is predicted to bring nothing.");
  }
  return said;
}

function placesOf(view: View, interval: PlanValue["cost"]): number {
  return Math.min(decimalsOfIntervals([view.scaled(interval)]), 4);
}

function spotOf(view: View, plan: PlanValue, outcome: Outcome, name: string): Spot | null {
  const figures = figuresOf(view, { ...plan, simultaneous_incremental_revenue: null, simultaneous_incremental_profit: null });
  const spent = view.scaled(figures.spend)?.value;
  const found = view.scaled(outcome === "profit" ? figures.profit : figures.revenue);
  if (!isNumber(spent) || !found || !isNumber(found.value)) return null;
  const places = placesOf(view, outcome === "profit" ? figures.profit : figures.revenue);
  const write = (value: number) => (outcome === "profit" ? view.format.money(value, places) : view.format.fixed(value, places));
  const range = isNumber(found.low) && isNumber(found.high) ? ` (${write(found.low)} to ${write(found.high)})` : "";
  const words = [name, `${view.spendName} ${view.format.money(spent)}`, `${outcome === "profit" ? "profit" : `extra ${view.revenueName}`} ${write(found.value)}${range}`];
  return { spend: spent, value: found.value, low: found.low ?? null, high: found.high ?? null, text: words.join("\n") };
}

function spotsOf(view: View, plans: PlanValue[], outcome: Outcome, name: string): Spot[] {
  return plans.flatMap((plan) => spotOf(view, plan, outcome, name) ?? []).sort((a, b) => a.spend - b.spend);
}

// The last evaluated budget at which one more unit of money is predicted to pay back; null where that is so at all of them
// or at none.
function breakEven(view: View): PlanValue | null {
  const worth = view.valuePerRevenue;
  const prices = (view.model?.curve ?? []).filter((point) => isNumber(point.multiplier));
  const paying = worth === null ? [] : prices.filter((point) => (point.multiplier ?? 0) * worth >= 1);
  return paying.length < prices.length ? (paying[paying.length - 1] ?? null) : null;
}

function everyoneSpots(view: View, outcome: Outcome): (Spot & { label: string })[] {
  return list(view.results.baselines).flatMap((baseline) => {
    if (baseline.kind !== "single_arm" && baseline.kind !== "rule") return [];
    const plan = list(baseline.plans)[view.nearestBudget()];
    const name = baseline.kind === "rule" ? "today's rule" : (list(baseline.names)[view.nearestBudget()] ?? "everyone");
    const spot = plan ? spotOf(view, plan, outcome, name) : null;
    return spot ? [{ ...spot, label: baseline.kind === "rule" ? "today's rule" : "everyone" }] : [];
  });
}

function draw(view: View, outcome: Outcome, width: number) {
  const model = view.model;
  const spots = model ? spotsOf(view, model.curve, outcome, model.title) : [];
  if (!model || spots.length === 0) return "This model was not evaluated over budgets.";
  const random = spotsOf(view, list(list(view.results.baselines).find((baseline) => baseline.kind === "random")?.curve), outcome, "the same money at random");
  const oracle = outcome === "profit" ? [] : spotsOf(view, list(view.results.oracle?.curve).map((point) => ({ cost: one(point.cost), incremental_revenue: one(point.incremental_revenue) })), outcome, "best possible");
  const everyone = everyoneSpots(view, outcome);
  const here = view.pointOf(model);
  const chosen = here ? spotOf(view, here, outcome, model.title) : null;
  const worth = view.valuePerRevenue;
  const needed = (spent: number) => (outcome === "profit" || worth === null ? 0 : spent / worth);
  const last = breakEven(view);
  const even = last ? spotOf(view, last, outcome, "break-even") : null;
  const costs = extent([...spots, ...random, ...everyone].map((spot) => spot.spend));
  const values = extent([...[...spots, ...everyone].flatMap((spot) => [spot.value, spot.low ?? spot.value, spot.high ?? spot.value]), ...random.map((spot) => spot.value), ...oracle.map((spot) => spot.value), 0]);
  const money = view.format.currency ? `, ${view.format.currency}` : "";
  const color = model.look.color;
  const banded = spots.filter((spot) => spot.low !== null && spot.high !== null);
  const evenLine = outcome === "revenue" && worth !== null ? [{ spend: 0, value: 0 }, { spend: costs[1], value: needed(costs[1]) }].filter((spot) => spot.value <= values[1]) : [];
  return {
    height: Math.max(280, Math.min(420, width * 0.5)),
    marginLeft: 66,
    marginRight: 24,
    marginTop: 28,
    grid: true,
    x: { label: `${view.costName} ${view.basis}${money}`, tickFormat: tickFormat(view.format, ...costs), ticks: width < 500 ? 4 : 8 },
    y: { label: outcome === "profit" ? `profit ${view.basis}${money}` : `extra ${view.revenueName} ${view.basis}`, tickFormat: tickFormat(view.format, ...values), domain: values, nice: true },
    marks: [
      ruleY([0], { stroke: "var(--axis)" }),
      areaY(banded, { x: "spend", y1: "low", y2: "high", fill: color, fillOpacity: 0.12 }),
      line(evenLine, { x: "spend", y: "value", stroke: "var(--unclear)", strokeWidth: 1.4, strokeDasharray: "2 4" }),
      text(evenLine.slice(-1), { x: "spend", y: "value", text: () => "break-even", textAnchor: "end", dx: -6, dy: 12, fill: "var(--unclear)" }),
      line(random, { x: "spend", y: "value", stroke: "var(--ink)", strokeOpacity: 0.6, strokeDasharray: "6 4", strokeWidth: 1.5, className: "random" }),
      line(oracle, { x: "spend", y: "value", stroke: "var(--ink)", strokeDasharray: "1 4", strokeLinecap: "round", strokeWidth: 2.2, className: "oracle" }),
      line(spots, { x: "spend", y: "value", stroke: color, strokeWidth: 2.4 }),
      dot(everyone, { x: "spend", y: "value", r: 4.5, fill: "var(--paper)", stroke: "var(--ink)", strokeWidth: 1.6 }),
      text(everyone, { x: "spend", y: "value", text: "label", textAnchor: "end", dx: -8, dy: -10 }),
      chosen ? ruleX([chosen.spend], { stroke: "var(--ink)", strokeOpacity: 0.6 }) : null,
      even ? dot([even], { x: "spend", y: "value", r: 5, symbol: "diamond", fill: "var(--unclear)", stroke: "var(--paper)" }) : null,
      even ? text([even], { x: "spend", y: "value", text: () => "break-even", textAnchor: "end", dx: 6, dy: 20, stroke: "var(--paper)", strokeWidth: 3, fill: "var(--unclear)" }) : null,
      chosen ? dot([chosen], { x: "spend", y: "value", r: 5.5, fill: color, stroke: "var(--paper)", strokeWidth: 1.5 }) : null,
      text(random.slice(Math.floor(random.length * 0.3)).slice(0, 1), { x: "spend", y: "value", text: () => "at random", dy: -10, stroke: "var(--paper)", fill: "var(--muted)", strokeWidth: 3 }),
      text(oracle.slice(-1), { x: "spend", y: "value", text: () => "best possible", textAnchor: "end", dy: -8 }),
      tip([...spots, ...everyone], pointerX({ x: "spend", y: "value", title: "text" })),
    ],
  };
}

function one(value: number | null | undefined): Interval | null {
  return isNumber(value) ? { value } : null;
}

function pointsTable(view: View): Child {
  const rows = (view.model?.curve ?? []).map((point) => ({ point, figures: figuresOf(view, { ...point, simultaneous_incremental_revenue: null, simultaneous_incremental_profit: null }) }));
  if (rows.length === 0) return null;
  const places = (pick: (row: (typeof rows)[number]) => Interval | null) => decimalsOfIntervals(rows.map((row) => view.scaled(pick(row))));
  const [spent, revenue, profit] = [places((row) => row.figures.spend), places((row) => row.figures.revenue), places((row) => row.figures.profit)];
  const hasProfit = rows.some((row) => row.figures.profit);
  return table({
    caption: `${view.model?.title ?? ""}, ${view.basis}`,
    columns: [{ title: `budget per ${view.unitName}` }, { title: view.spendName }, { title: `extra ${view.revenueName}` }, ...(hasProfit ? [{ title: "profit" }] : []), { title: "marginal return, predicted" }],
    rows: rows.map(({ point, figures }) => [
      view.format.plain(point.budget_per_unit),
      moneyCell(view, view.scaled(figures.spend), spent),
      intervalCell(view, view.scaled(figures.revenue), revenue, 1, true),
      ...(hasProfit ? [moneyCell(view, view.scaled(figures.profit), profit, true)] : []),
      view.format.plain(point.multiplier),
    ]),
  });
}

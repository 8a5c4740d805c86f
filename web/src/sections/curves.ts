// SPDX-License-Identifier: Apache-2.0
//
// Cost curves: what is earned for what is spent, over all budgets, with bands.
import { areaY, dot, line, pointer, ruleX, ruleY, text, tip } from "@observablehq/plot";
import { intervalText, modelKey, modelScales } from "../cells";
import { chart, extent, kMostBands, tickFormat } from "../chart";
import { atBudget, type CurvePoint } from "../curve";
import { fold, h, note, scope, section, table, type Child } from "../dom";
import { decimalsOfIntervals } from "../format";
import { isNumber, list } from "../results";
import type { ShownModel, View } from "../view";

type Outcome = "incremental_revenue" | "revenue" | "incremental_profit";

interface Row {
  name: string;
  cost: number;
  value: number;
  low: number | null;
  high: number | null;
  text: string;
}

export function curves(view: View): Child {
  if (!view.models.some((shown) => shown.curve.length > 0)) return null;
  const choice = outcomeChoice(view);
  const drawn = chart(view, `Cost curves: ${view.revenueName} against ${view.costName} per unit, by model`, (width) =>
    drawCurves(view, choice.outcome(), width),
  );
  choice.listen();
  const oracle = list(view.results.oracle?.curve).length > 0 ? " The dotted line is the best that is possible, known because the trial is simulated." : "";
  const random = list(view.results.baselines).length > 0 ? " The dashed line spends at random, on the arms that return most on average." : "";
  const caption = note("");
  const explain = () => {
    const bands = view.activeModels.length <= kMostBands ? `Bands are ${view.levelText} intervals, point by point.` : `Bands are drawn while at most ${kMostBands} models are on; the intervals are in the table.`;
    caption.textContent = `${bands} The upright line is the chosen budget.${random}${oracle}`;
  };
  view.onChange(explain);
  explain();
  return section(
    "curves",
    "Cost curves of all models",
    scope(view.scope),
    choice.element,
    h("figure", {}, modelKey(view), drawn),
    caption,
    fold("The curves as a table", ...view.models.map((shown) => curveTable(view, shown))),
  );
}

function outcomeChoice(view: View) {
  const hasIncrement = view.models.some((shown) => shown.curve.some((point) => isNumber(point.incremental_revenue?.value)));
  const make = (value: Outcome, label: string, checked: boolean) => {
    const input = h("input", { type: "radio", name: "curves-outcome", value, checked });
    return { input, element: h("label", {}, input, h("span", {}, label)) };
  };
  const increment = make("incremental_revenue", `${view.revenueName} over control`, hasIncrement);
  const whole = make("revenue", `all ${view.revenueName}`, !hasIncrement);
  const hasProfit = view.models.some((shown) => shown.curve.some((point) => isNumber(point.incremental_profit?.value)));
  const profit = make("incremental_profit", "profit over control", false);
  return {
    element: hasIncrement
      ? h("div", { class: "segmented", role: "radiogroup", "aria-label": "Outcome shown" }, increment.element, whole.element, hasProfit ? profit.element : null)
      : null,
    outcome: (): Outcome => (profit.input.checked ? "incremental_profit" : increment.input.checked ? "incremental_revenue" : "revenue"),
    // A change of outcome redraws as any other choice does.
    listen: () => [increment, whole, profit].forEach(({ input }) => input.addEventListener("change", () => view.refresh())),
  };
}

function rowOf(view: View, name: string, point: CurvePoint, outcome: Outcome, decimals: { value: number; cost: number }): Row | null {
  const figure = point[outcome];
  const cost = point.cost?.value ?? point.budget_per_unit;
  if (!isNumber(figure?.value)) return null;
  return {
    name,
    cost,
    value: figure.value,
    low: figure.low ?? null,
    high: figure.high ?? null,
    text: [
      view.titleOf(name),
      `budget ${view.format.money(point.budget_per_unit)}`,
      `${outcome === "incremental_profit" ? "profit" : view.revenueName} ${intervalText(view, figure, decimals.value)}`,
      `${view.costName} ${intervalText(view, point.cost, decimals.cost)}`,
    ].join("\n"),
  };
}

function drawCurves(view: View, outcome: Outcome, width: number) {
  const all = view.models.flatMap((shown) => shown.curve);
  const decimals = { value: decimalsOfIntervals(all.map((point) => point[outcome])), cost: decimalsOfIntervals(all.map((point) => point.cost)) };
  const rowsOf = (shown: ShownModel, points: (CurvePoint | null)[]) =>
    points.flatMap((point) => (point ? (rowOf(view, shown.name, point, outcome, decimals) ?? []) : []));
  const rows = view.activeModels.flatMap((shown) => rowsOf(shown, shown.curve));
  const chosen = view.activeModels.flatMap((shown) =>
    view.budget === null ? [] : rowsOf(shown, [atBudget(shown.curve, view.budget)]),
  );
  if (rows.length === 0) return "No model is switched on.";
  const oracle = list(view.results.oracle?.curve).flatMap((point) => {
    const value = outcome === "incremental_profit" ? null : point[outcome];
    return isNumber(point.cost) && isNumber(value) ? [{ cost: point.cost, value }] : [];
  });
  const random = list(list(view.results.baselines).find((baseline) => baseline.kind === "random")?.curve).flatMap((point) => {
    const value = point[outcome]?.value;
    return isNumber(point.cost?.value) && isNumber(value) ? [{ cost: point.cost.value, value }] : [];
  });
  const costs = extent([...rows, ...oracle, ...random].map((row) => row.cost));
  const banded = view.activeModels.length > kMostBands ? [] : rows.filter((row) => row.low !== null && row.high !== null);
  const inView = banded.length > 0 ? rows.flatMap((row) => [row.value, row.low ?? row.value, row.high ?? row.value]) : rows.map((row) => row.value);
  const values = extent([...inView, ...oracle.map((row) => row.value), ...random.map((row) => row.value)]);
  const unit = view.format.currency ? `, ${view.format.currency}` : "";
  return {
    height: Math.max(280, Math.min(440, width * 0.55)),
    marginLeft: 58,
    marginRight: 16,
    grid: true,
    x: { label: `${view.costName} per unit${unit}`, tickFormat: tickFormat(view.format, ...costs), ticks: width < 500 ? 4 : 8 },
    y: { label: `${outcome === "incremental_profit" ? "profit" : view.revenueName} per unit${unit}${outcome === "revenue" ? "" : ", over control"}`, tickFormat: tickFormat(view.format, ...values) },
    ...modelScales(view),
    marks: [
      values[0] <= 0 && values[1] >= 0 ? ruleY([0], { stroke: "var(--axis)" }) : null,
      areaY(banded, { x: "cost", y1: "low", y2: "high", fill: "name", z: "name", fillOpacity: 0.09 }),
      ...["low", "high"].map((edge) => line(banded, { x: "cost", y: edge, stroke: "name", z: "name", strokeWidth: 0.7, strokeOpacity: 0.5 })),
      ...view.activeModels.map(({ name, look }) =>
        line(rows.filter((row) => row.name === name), { x: "cost", y: "value", stroke: look.color, strokeWidth: 1.8, ...(look.dash ? { strokeDasharray: look.dash } : {}) }),
      ),
      line(oracle, { x: "cost", y: "value", stroke: "var(--ink)", strokeDasharray: "1 4", strokeLinecap: "round", strokeWidth: 2.2, className: "oracle" }),
      line(random, { x: "cost", y: "value", stroke: "var(--ink)", strokeOpacity: 0.6, strokeDasharray: "6 4", strokeWidth: 1.4, className: "random" }),
      text(random.slice(-1), { x: "cost", y: "value", text: () => "random", textAnchor: "end", dy: 12 }),
      text(oracle.slice(-1), { x: "cost", y: "value", text: () => "best possible", textAnchor: "end", dy: -8 }),
      view.budget === null ? null : ruleX([view.budget], { stroke: "var(--ink)", strokeOpacity: 0.55, strokeWidth: 1 }),
      dot(chosen, { x: "cost", y: "value", fill: "name", symbol: "name", r: 4.5, stroke: "var(--paper)", strokeWidth: 1 }),
      tip(rows, pointer({ x: "cost", y: "value", title: "text", maxRadius: 60 })),
    ],
  };
}

function curveTable(view: View, shown: ShownModel): HTMLElement {
  const points = shown.curve;
  const write = (pick: (point: CurvePoint) => CurvePoint["cost"]) => {
    const decimals = decimalsOfIntervals(points.map(pick));
    return (point: CurvePoint) => intervalText(view, pick(point), decimals);
  };
  const [revenue, increment, cost] = [write((p) => p.revenue), write((p) => p.incremental_revenue), write((p) => p.cost)];
  return table({
    caption: shown.title,
    columns: [{ title: "Budget per unit" }, { title: view.revenueName }, { title: "over control" }, { title: view.costName }],
    rows: points.map((point) => [view.format.plain(point.budget_per_unit), revenue(point), increment(point), cost(point)]),
  });
}

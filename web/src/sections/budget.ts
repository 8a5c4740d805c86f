// SPDX-License-Identifier: Apache-2.0
//
// What the chosen budget brings: revenue, spend and allocation of every model at that budget, read off its curve.
import { barX, stackX } from "@observablehq/plot";
import { armColors, armKey, intervalCell, modelCell } from "../cells";
import { chart, labelWidth, shortNames } from "../chart";
import { atBudget, type CurvePoint } from "../curve";
import { h, note, replaceChildren, scope, section, table, type Child } from "../dom";
import { decimalsOfIntervals } from "../format";
import { isNumber } from "../results";
import type { View } from "../view";
import { budgetDecimals } from "./controls";

export function budget(view: View): Child {
  if (!view.budgetRange()) return null;
  const figures = h("div", {});
  const totals = totalsChoice(view);
  const redraw = () => replaceChildren(figures, figuresTable(view, totals.on()));
  totals.listen(redraw);
  view.onChange(redraw);
  redraw();
  return section(
    "budget-section",
    "What a budget brings",
    scope(view.scope),
    totals.element,
    figures,
    allocationChart(view),
    note("At the budgets of the study: their plans. Between them, read off the curves below by straight lines. Intervals hold point by point."),
  );
}

interface TotalsChoice {
  element: Child;
  on: () => boolean;
  listen: (listener: () => void) => void;
}

function totalsChoice(view: View): TotalsChoice {
  if (view.units === null) return { element: null, on: () => false, listen: () => {} };
  const make = (value: string, label: string, checked: boolean) => {
    const input = h("input", { type: "radio", name: "scale", value, checked });
    return { input, element: h("label", {}, input, h("span", {}, label)) };
  };
  const perUnit = make("unit", "per unit", true);
  const total = make("total", `total of ${view.format.count(view.units)} units`, false);
  const element = h("div", { class: "segmented", role: "radiogroup", "aria-label": "Figures" }, perUnit.element, total.element);
  return {
    element,
    on: () => total.input.checked,
    listen: (listener) => [perUnit, total].forEach((choice) => choice.input.addEventListener("change", listener)),
  };
}

function pointsAt(view: View): { name: string; point: CurvePoint }[] {
  return view.activeModels.flatMap((shown) => {
    const point = view.budget === null ? null : atBudget(shown.curve, view.budget);
    return point ? [{ name: shown.name, point }] : [];
  });
}

function figuresTable(view: View, total: boolean): HTMLElement {
  const scale = total && view.units !== null ? view.units : 1;
  const points = pointsAt(view);
  const all = view.models.flatMap((shown) => shown.curve);
  const decimalsFor = (pick: (point: CurvePoint) => CurvePoint["cost"]) => {
    const decimals = decimalsOfIntervals(all.map(pick));
    return scale > 1 ? Math.max(decimals - Math.floor(Math.log10(scale)), 0) : decimals;
  };
  const places = {
    revenue: decimalsFor((point) => point.revenue),
    incremental: decimalsFor((point) => point.incremental_revenue),
    cost: decimalsFor((point) => point.cost),
    profit: decimalsFor((point) => point.incremental_profit),
  };
  const hasProfit = all.some((point) => isNumber(point.incremental_profit?.value));
  const reference = view.models.find((shown) => shown.model.reference) ?? view.models[0];
  const referencePoint = reference && view.budget !== null ? atBudget(reference.curve, view.budget) : null;
  const unit = view.format.currency ? `, ${view.format.currency}` : "";
  const rows = points.map(({ name, point }) => {
    const own = point.revenue?.value;
    const other = referencePoint?.revenue?.value;
    const gap = name === reference?.name || !isNumber(own) || !isNumber(other) ? null : own - other;
    return [
      modelCell(view, name),
      intervalCell(view, point.revenue, places.revenue, scale),
      intervalCell(view, point.incremental_revenue, places.incremental, scale),
      intervalCell(view, point.cost, places.cost, scale),
      ...(hasProfit ? [intervalCell(view, point.incremental_profit, places.profit, scale, true)] : []),
      gap === null ? "" : view.format.signed(gap * scale, places.incremental),
    ];
  });
  const columns = [
    { title: "Model", kind: "text" as const },
    { title: `${view.revenueName}${unit}` },
    { title: `over control${unit}` },
    { title: `${view.costName} spent${unit}` },
    ...(hasProfit ? [{ title: `profit over control${unit}` }] : []),
    { title: `against ${reference?.name ?? "reference"}${unit}` },
  ];
  if (view.models.length < 2) {
    columns.pop();
    rows.forEach((row) => row.pop());
  }
  const chosen = view.format.money(view.budget, budgetDecimals(view));
  const whole = view.totalOf(view.budget);
  const inTotal = whole === null ? "" : `, ${view.format.money(whole)} in total`;
  const caption = `At a budget of ${chosen} per unit${inTotal}: ${scale > 1 ? `totals of ${view.format.count(scale)} units` : "figures per unit"}`;
  if (rows.length === 0) return h("p", { class: "empty" }, "No model is switched on.");
  return table({ caption, columns, rows });
}

function allocationChart(view: View): Child {
  if (view.arms.length === 0 || !view.models.some((shown) => shown.curve.some((point) => point.share_per_arm))) return null;
  const drawn = chart(view, "Share of units in each arm at the chosen budget, by model", (width) => {
    const bars = pointsAt(view).flatMap(({ name, point }) =>
      view.arms.map((label, arm) => ({ name, label, arm, share: point.share_per_arm?.[arm] ?? 0 })),
    );
    if (bars.length === 0) return "No model is switched on.";
    const names = [...new Set(bars.map((bar) => bar.name))];
    const most = width < 500 ? 16 : 36;
    const short = shortNames(names, most);
    return {
      height: 34 + 26 * names.length,
      marginTop: 6,
      marginBottom: 28,
      marginLeft: labelWidth(names, most),
      marginRight: 16,
      x: { label: null, domain: [0, 1], tickFormat: (share: number) => view.format.percent(share, 0), ticks: 5 },
      y: { label: null, domain: names, tickFormat: (name: string) => short.get(name) ?? name, padding: 0.25 },
      color: armColors(view),
      marks: [
        barX(
          bars,
          stackX({
            x: "share",
            y: "name",
            fill: "arm",
            order: "arm",
            insetRight: 0.5,
            title: (bar) => `${bar.name}\n${bar.label}: ${view.format.percent(bar.share)} of units`,
            tip: true,
          }),
        ),
      ],
    };
  });
  return h("figure", {}, h("figcaption", {}, "Share of units in each arm"), armKey(view), drawn);
}

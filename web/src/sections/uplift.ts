// SPDX-License-Identifier: Apache-2.0
//
// Uplift by tenths of the units, as the model ranks them: predicted beside measured; and, for analysts, the Qini and cost
// curves along the rankings.
import { barY, dot, line, pointerX, ruleX, ruleY, tip } from "@observablehq/plot";
import { intervalCell, intervalText } from "../cells";
import { chart, extent, tickFormat } from "../chart";
import { fold, h, note, replaceChildren, section, table, type Child } from "../dom";
import { decimalsOf, decimalsOfIntervals } from "../format";
import { isNumber, list, type RankedPoint, type Uplift } from "../results";
import { plural, type ShownModel, type View } from "../view";
import { budgetDecimals } from "./controls";

function rankings(shown: ShownModel): Uplift[] {
  return list(shown.model.uplift).filter((one) => list(one.deciles).length > 1);
}

function nameOf(view: View, one: Uplift): string {
  if (one.arm) return `\u201c${one.arm}\u201d against control`;
  return isNumber(one.budget_per_unit) ? `the plan's own ranking, budget ${view.format.trimmedMoney(one.budget_per_unit, budgetDecimals(view))} per ${view.unitName}` : "the plan's own ranking";
}

// At first the plan's own ranking at the study's budget nearest to the chosen one.
export function decilesPart(view: View, shown: ShownModel): Child {
  const all = rankings(shown);
  if (all.length === 0) return null;
  const away = (one: Uplift) => (one.arm || !isNumber(one.budget_per_unit) ? Infinity : Math.abs(one.budget_per_unit - (view.budget ?? 0)));
  let place = all.reduce((best, one, index) => (away(one) < away(all[best] ?? one) ? index : best), 0);
  const current = () => all[place];
  const label = `Extra ${view.revenueName} by tenths of the ${plural(view.unitName)}, best ranked first`;
  const words = note("");
  const figures = h("div", {});
  const redraw = () => {
    const one = current();
    words.textContent = one?.sentence ?? "";
    replaceChildren(figures, one ? decilesTable(view, one) : null);
  };
  const drawn = chart(view, label, (width) => drawDeciles(view, current(), shown, width));
  const id = `ranking-${view.models.indexOf(shown)}`;
  const select = h("select", { id }, ...all.map((one, index) => h("option", { value: index, selected: index === place }, nameOf(view, one))));
  select.addEventListener("change", () => {
    place = Number(select.value);
    redraw();
    view.refresh();
  });
  redraw();
  return h(
    "figure",
    {},
    h("figcaption", {}, label),
    all.length > 1 ? h("div", { class: "choice" }, h("label", { for: id }, "Ranked by"), select) : null,
    drawn,
    note(`Bars: measured on units the model had not seen, with ${view.levelText} intervals. Diamonds: predicted.`),
    words,
    fold("The tenths as a table", figures),
  );
}

function drawDeciles(view: View, one: Uplift | undefined, shown: ShownModel, width: number) {
  const rows = list(one?.deciles).flatMap((tenth, index) => {
    const value = tenth.uplift?.value;
    if (!isNumber(value)) return [];
    const decimals = decimalsOfIntervals([tenth.uplift]);
    const planned = isNumber(tenth.planned) ? `\n${view.format.percent(tenth.planned, 0)} of them are treated` : "";
    const text = `tenth ${index + 1}\nmeasured ${intervalText(view, tenth.uplift, decimals)}\npredicted ${view.format.fixed(tenth.predicted, decimals)}${planned}`;
    return [{ tenth: index + 1, value, low: tenth.uplift?.low ?? value, high: tenth.uplift?.high ?? value, predicted: tenth.predicted ?? null, planned: tenth.planned ?? 1, text }];
  });
  if (rows.length === 0) return "There is nothing to draw.";
  const range = extent([0, ...rows.flatMap((row) => [row.low, row.high, row.predicted ?? 0])]);
  return {
    height: Math.max(240, Math.min(320, width * 0.4)),
    marginLeft: 58,
    marginTop: 28,
    x: { label: `tenth of the ${plural(view.unitName)}`, domain: rows.map((row) => row.tenth), tickFormat: String, padding: 0.25 },
    y: { label: `extra ${view.revenueName} per ${view.unitName}`, grid: true, tickFormat: tickFormat(view.format, ...range), domain: range, nice: true },
    marks: [
      barY(rows, { x: "tenth", y: "value", fill: shown.look.color, fillOpacity: (row) => 0.25 + 0.5 * row.planned }),
      ruleY([0], { stroke: "var(--axis)" }),
      ruleX(rows, { x: "tenth", y1: "low", y2: "high", stroke: "var(--ink)", strokeWidth: 1.4 }),
      dot(rows.filter((row) => row.predicted !== null), { x: "tenth", y: "predicted", symbol: "diamond", r: 4.5, fill: "var(--paper)", stroke: "var(--ink)", strokeWidth: 1.4 }),
      tip(rows, pointerX({ x: "tenth", y: "value", title: "text" })),
    ],
  };
}

function decilesTable(view: View, one: Uplift): HTMLElement {
  const tenths = list(one.deciles);
  const uplift = decimalsOfIntervals(tenths.map((tenth) => tenth.uplift));
  const cost = decimalsOfIntervals(tenths.map((tenth) => tenth.cost));
  return table({
    caption: `Tenths, by ${nameOf(view, one)}`,
    hideCaption: true,
    columns: [{ title: "tenth" }, { title: "units" }, { title: "predicted" }, { title: "measured" }, { title: "difference in means" }, { title: `predicted ${view.costName}` }, { title: view.costName }],
    rows: tenths.map((tenth, index) => [
      String(index + 1),
      view.format.count(tenth.units),
      view.format.fixed(tenth.predicted, uplift),
      intervalCell(view, tenth.uplift, uplift, 1, true),
      intervalCell(view, tenth.difference_in_means, uplift, 1, true),
      view.format.fixed(tenth.predicted_cost, cost),
      intervalCell(view, tenth.cost, cost),
    ]),
  });
}

// For analysts: what is earned along the rankings, beside a ranking at random.
export function rankingCurves(view: View): Child {
  const parts = view.models.flatMap((shown) =>
    list(shown.model.uplift).flatMap((one) => [curveFigure(view, shown, one, "qini_curve"), curveFigure(view, shown, one, "cost_curve")].filter(Boolean)),
  );
  return parts.length > 0 ? section("ranking-curves", "Qini and cost curves", h("div", { class: "side-by-side" }, ...parts), note("Dashed: a ranking at random.")) : null;
}

function curveFigure(view: View, shown: ShownModel, one: Uplift, which: "qini_curve" | "cost_curve"): Child {
  const points = list(one[which]).filter((point): point is RankedPoint & { x: number; value: number } => isNumber(point.x) && isNumber(point.value));
  if (points.length < 2) return null;
  const title = `${which === "qini_curve" ? "Qini curve" : "Cost curve"}, ${nameOf(view, one)}, ${shown.title}`;
  const xs = extent(points.map((point) => point.x));
  const ys = extent(points.flatMap((point) => [point.value, point.random ?? point.value]));
  const decimals = decimalsOf([ys[0], ys[1]], 3);
  const drawn = chart(view, title, () => ({
    height: 260,
    marginLeft: 58,
    grid: true,
    x: { label: which === "qini_curve" ? "share of the ranking" : `${view.costName} per ${view.unitName}`, tickFormat: which === "qini_curve" ? (share: number) => view.format.percent(share, 0) : tickFormat(view.format, ...xs), ticks: 5 },
    y: { label: `extra ${view.revenueName} per ${view.unitName}`, tickFormat: tickFormat(view.format, ...ys), ticks: 6 },
    marks: [
      line(points, { x: "x", y: "random", stroke: "var(--ink)", strokeOpacity: 0.6, strokeDasharray: "6 4" }),
      line(points, { x: "x", y: "value", stroke: shown.look.color, strokeWidth: 2 }),
      tip(points, pointerX({ x: "x", y: "value", title: (point) => `${view.format.fixed(point.value, decimals)} (random ${view.format.fixed(point.random, decimals)})` })),
    ],
  }));
  return h("figure", {}, h("figcaption", {}, title), drawn);
}

// SPDX-License-Identifier: Apache-2.0
//
// Who gets it: arms at the chosen budget, by segment at the study's budget nearest to it, and over all budgets.
import { areaY, barX, pointerX, ruleX, stackX, stackY, tip } from "@observablehq/plot";
import { armColors, armKey } from "../cells";
import { chart, extent, labelWidth, shortNames, tickFormat } from "../chart";
import { fold, h, note, replaceChildren, section, table, type Child } from "../dom";
import { decimalsOf } from "../format";
import { isNumber, list, type Segment } from "../results";
import { plural, type ShownModel, type View } from "../view";
import { budgetDecimals } from "./controls";
import { effectsParts } from "./effects";
import { rulePart } from "./rule";
import { decilesPart } from "./uplift";

export function who(view: View): Child {
  const has = (shown: ShownModel) => shown.curve.some((point) => point.share_per_arm) || list(shown.model.segments).length > 0;
  if (!view.models.some(has) || view.arms.length === 0) return null;
  const bodies = new Map<ShownModel, HTMLElement>(); // made when first asked for
  const body = h("div", {});
  const redraw = () => {
    const chosen = view.model;
    if (!chosen) return;
    if (!bodies.has(chosen)) {
      const parts = list(chosen.model.segments).map((segment) => segmentPart(view, segment));
      bodies.set(chosen, h("div", {}, chosenPart(view, chosen), rulePart(view, chosen), decilesPart(view, chosen), ...parts, sharesChart(view, chosen)));
    }
    const wanted = bodies.get(chosen);
    if (body.firstChild !== wanted) replaceChildren(body, wanted); // a body that stays keeps the reader's focus
  };
  view.onChange(redraw);
  redraw();
  return section("who", "Who gets it", armKey(view), body, ...effectsParts(view));
}

// The arms at the chosen budget, in numbers of units.
function chosenPart(view: View, shown: ShownModel): Child {
  if (!shown.curve.some((point) => point.share_per_arm)) return null;
  const words = h("p", { class: "lead" });
  const shares = () => view.pointOf(shown)?.share_per_arm ?? [];
  const redraw = () => {
    if (view.model !== shown) return;
    const given = view.arms.flatMap((label, arm) => {
      const share = shares()[arm];
      return isNumber(share) && share > 0 && arm !== view.control ? [`${percentOfUnits(view, share)} get \u201c${label}\u201d`] : [];
    });
    const control = shares()[view.control];
    const rest = isNumber(control) && control > 0 ? `; ${percentOfUnits(view, control)} get nothing (${view.arms[view.control] ?? "control"})` : "";
    words.textContent = given.length > 0 ? `${given.join(", ")}${rest}.` : "Nobody gets anything at this budget.";
  };
  view.onChange(redraw);
  redraw();
  const drawn = chart(view, "Share of units in each arm at the chosen budget", () => {
    const rows = view.arms.map((label, arm) => ({ label, arm, share: shares()[arm] ?? 0 }));
    return {
      height: 64,
      marginTop: 4,
      marginBottom: 28,
      marginLeft: 14,
      marginRight: 16,
      x: { label: null, domain: [0, 1], tickFormat: (share: number) => view.format.percent(share, 0), ticks: 5 },
      y: { axis: null },
      color: armColors(view),
      marks: [barX(rows, stackX({ x: "share", fill: "arm", order: "arm", insetRight: 0.5, title: (row) => `${row.label}: ${view.format.percent(row.share)}`, tip: true }))],
    };
  });
  return h("div", {}, words, h("figure", {}, drawn));
}

function percentOfUnits(view: View, share: number): string {
  const units = view.units === null ? "" : ` (${view.unitCount(Math.round(share * view.units))})`;
  return view.format.percent(share, share < 0.1 ? 1 : 0) + units;
}

function sharesChart(view: View, shown: ShownModel): Child {
  const points = shown.curve.filter((point) => point.share_per_arm);
  if (points.length < 2) return null;
  const rows = points.flatMap((point) => view.arms.map((label, arm) => ({ budget: point.budget_per_unit, arm, label, share: point.share_per_arm?.[arm] ?? 0 })));
  const texts = points.map((point) => ({
    budget: point.budget_per_unit,
    text: [
      `budget ${view.format.money(point.budget_per_unit, budgetDecimals(view))} per ${view.unitName}`,
      ...view.arms.map((label, arm) => `${label}: ${view.format.percent(point.share_per_arm?.[arm])}`),
    ].join("\n"),
  }));
  const range = extent(rows.map((row) => row.budget));
  const unit = view.format.currency ? `, ${view.format.currency}` : "";
  const drawn = chart(view, `Share of units in each arm over all budgets, ${shown.title}`, (width) => ({
    height: Math.max(220, Math.min(300, width * 0.4)),
    marginLeft: 54,
    marginRight: 16,
    x: { label: `budget per ${view.unitName}${unit}`, tickFormat: tickFormat(view.format, ...range), ticks: width < 500 ? 4 : 8 },
    y: { label: `share of ${plural(view.unitName)}`, domain: [0, 1], tickFormat: (share: number) => view.format.percent(share, 0), ticks: 5 },
    color: armColors(view),
    marks: [
      areaY(rows, stackY({ x: "budget", y: "share", fill: "arm", z: "arm", order: "arm", stroke: "var(--paper)", strokeWidth: 0.6 })),
      view.budget === null ? null : ruleX([view.budget], { stroke: "var(--ink)", strokeOpacity: 0.7 }),
      ruleX(texts, pointerX({ x: "budget", stroke: "var(--ink)", strokeOpacity: 0.3 })),
      tip(texts, pointerX({ x: "budget", y: () => 0.5, title: "text" })),
    ],
  }));
  return h("figure", {}, h("figcaption", {}, "By budget"), drawn);
}

function segmentPart(view: View, segment: Segment): Child {
  const values = list(segment.values);
  if (values.length === 0) return null;
  const column = segment.column ?? "segment";
  const atIndex = () => view.nearestBudget();
  const budgetText = () => view.format.trimmedMoney(view.budgets[atIndex()], budgetDecimals(view));
  const names = values.map((value) => value.value ?? "");
  const drawn = chart(view, `Share of units in each arm by ${column}`, (width) => {
    const rows = values.flatMap((value, place) =>
      view.arms.map((label, arm) => ({ place, name: names[place] ?? "", label, arm, share: value.share_per_arm?.[atIndex()]?.[arm] ?? 0 })),
    );
    const most = width < 500 ? 16 : 26;
    const short = shortNames(names, most);
    return {
      height: 34 + 24 * values.length,
      marginTop: 6,
      marginBottom: 28,
      marginLeft: labelWidth(names, most),
      marginRight: 16,
      x: { label: null, domain: [0, 1], tickFormat: (share: number) => view.format.percent(share, 0), ticks: 5 },
      y: { label: null, domain: values.map((_, place) => place), tickFormat: (place: number) => short.get(names[place] ?? "") ?? "", type: "band" as const, padding: 0.2 },
      color: armColors(view),
      marks: [
        barX(
          rows,
          stackX({
            x: "share",
            y: "place",
            fill: "arm",
            order: "arm",
            insetRight: 0.5,
            title: (row) => `${row.name}\n${row.label}: ${view.format.percent(row.share)} of units`,
            tip: true,
          }),
        ),
      ],
    };
  });
  const caption = h("figcaption", {});
  const figures = h("div", {});
  const redraw = () => {
    caption.textContent = `By ${column}, at the study's budget of ${budgetText()} per ${view.unitName}`;
    replaceChildren(figures, segmentTable(view, column, segment, atIndex()));
  };
  view.onChange(redraw);
  redraw();
  const left = isNumber(segment.values_left_out) && segment.values_left_out > 0 ? note(`The largest ${view.format.count(values.length)} values; ${view.format.count(segment.values_left_out)} smaller ones are not shown.`) : null;
  return h("figure", {}, caption, drawn, left, fold(`${column} as a table`, figures));
}

function segmentTable(view: View, column: string, segment: Segment, budget: number): HTMLElement {
  const values = list(segment.values);
  const costs = decimalsOf(values.map((value) => value.cost_per_unit?.[budget]).filter(isNumber), 4);
  const revenues = decimalsOf(values.map((value) => value.revenue_per_unit?.[budget]).filter(isNumber), 4);
  return table({
    caption: `By ${column}`,
    hideCaption: true,
    columns: [
      { title: column, kind: "text" },
      { title: "units" },
      { title: `${view.costName} per unit` },
      { title: `${view.revenueName} per unit` },
      ...view.arms.map((label) => ({ title: label })),
    ],
    rows: values.map((value) => [
      value.value ?? "",
      view.format.count(value.units),
      view.format.fixed(value.cost_per_unit?.[budget], costs),
      view.format.fixed(value.revenue_per_unit?.[budget], revenues),
      ...view.arms.map((_, arm) => view.format.percent(value.share_per_arm?.[budget]?.[arm])),
    ]),
  });
}

export function importance(view: View): Child {
  const figures = view.models.map((shown) => importanceOf(view, shown)).filter(Boolean);
  return figures.length > 0 ? section("importance", "What the models look at", ...figures) : null;
}

function importanceOf(view: View, shown: ShownModel): Child {
  const rows = list(shown.model.importance).filter((row) => isNumber(row.share)).slice(0, 15);
  if (rows.length === 0) return null;
  const names = rows.map((row) => row.feature ?? "");
  const drawn = chart(view, `What the model looks at, ${shown.title}`, (width) => {
    const most = width < 500 ? 16 : 30;
    const short = shortNames(names, most);
    return {
      height: 54 + 20 * rows.length,
      marginTop: 6,
      marginLeft: labelWidth(names, most),
      x: { label: "share of splits", grid: true, tickFormat: (share: number) => view.format.percent(share, 0), ticks: 5 },
      y: { label: null, domain: rows.map((_, place) => place), tickFormat: (place: number) => short.get(names[place] ?? "") ?? "", type: "band" as const },
      marks: [barX(rows, { x: "share", y: (_: unknown, place: number) => place, fill: shown.look.color, insetTop: 2, insetBottom: 2, title: (row) => `${row.feature}: ${view.format.percent(row.share)}`, tip: true })],
    };
  });
  return h("figure", {}, h("figcaption", {}, shown.title), drawn);
}

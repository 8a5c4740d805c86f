// SPDX-License-Identifier: Apache-2.0
//
// Paired differences against the reference: a row for each budget and model, with both intervals.
import { dot, pointer, ruleX, ruleY, tip } from "@observablehq/plot";
import { budgetCell, intervalCell, modelCell, modelScales, percentCell } from "../cells";
import { chart, extent, labelWidth, shortNames, tickFormat } from "../chart";
import { h, note, replaceChildren, scope, section, table, type Child } from "../dom";
import { decimalsOfIntervals } from "../format";
import { isNumber, list, type Difference } from "../results";
import type { View } from "../view";
import { budgetDecimals } from "./controls";

export function differences(view: View): Child {
  const all = list(view.results.differences);
  if (all.length === 0) return null;
  const shown = () => all.filter((row) => !view.models.some((one) => one.name === row.model) || view.isActive(row.model ?? ""));
  const reference = all.find((row) => row.reference)?.reference ?? "the reference";
  const rows = h("div", {});
  const redraw = () => replaceChildren(rows, differenceTable(view, shown()));
  view.onChange(redraw);
  redraw();
  return section(
    "differences",
    `Differences against ${reference}`,
    scope(view.scope),
    h("figure", {}, chart(view, `Differences in ${view.revenueName} per unit against ${reference}, with intervals`, (width) => draw(view, shown(), width))),
    note(
      `Thick lines: ${view.levelText} interval of one difference. Thin lines: wide enough for the differences of all models, at all budgets, to hold at once. ` +
        "Where the thin line crosses zero, no difference can be shown.",
    ),
    rows,
  );
}

function draw(view: View, rows: Difference[], width: number) {
  const decimals = decimalsOfIntervals(rows.map((row) => row.revenue));
  const bars = rows.flatMap((row) => {
    const value = row.revenue?.value;
    if (!isNumber(value)) return [];
    const name = row.model ?? "";
    const amount = view.format.money(row.budget_per_unit, budgetDecimals(view));
    const budget = width < 500 ? amount : `budget ${amount}`;
    return [
      {
        name,
        budget,
        value,
        low: row.revenue?.low ?? value,
        high: row.revenue?.high ?? value,
        farLow: row.simultaneous?.low ?? value,
        farHigh: row.simultaneous?.high ?? value,
        text: [
          `${name}, budget ${amount} per unit`,
          `${view.format.signed(value, decimals)} (${view.format.range(row.revenue?.low, row.revenue?.high, decimals)})`,
          row.simultaneous ? `all at once: ${view.format.range(row.simultaneous.low, row.simultaneous.high, decimals)}` : "",
        ]
          .filter(Boolean)
          .join("\n"),
      },
    ];
  });
  if (bars.length === 0) return "No model is switched on.";
  const names = [...new Set(bars.map((bar) => bar.name))];
  const budgets = [...new Set(bars.map((bar) => bar.budget))];
  const most = width < 500 ? 16 : 36;
  const short = shortNames(names, most);
  const range = extent(bars.flatMap((bar) => [bar.low, bar.high, bar.farLow, bar.farHigh, 0]));
  const unit = view.format.currency ? `, ${view.format.currency}` : "";
  return {
    height: 54 + budgets.length * (26 * names.length + 10),
    marginLeft: labelWidth(names, most),
    marginRight: labelWidth(budgets, 24),
    marginTop: 6,
    x: { label: `${view.revenueName} per unit${unit}`, grid: true, nice: true, tickFormat: tickFormat(view.format, ...range), ticks: width < 500 ? 3 : 7 },
    y: { label: null, domain: names, tickFormat: (name: string) => short.get(name) ?? name },
    fy: { label: null, domain: budgets, padding: 0.12 },
    ...modelScales(view),
    marks: [
      ruleX([0], { stroke: "var(--ink)" }),
      ruleY(bars, { fy: "budget", y: "name", x1: "farLow", x2: "farHigh", stroke: "name", strokeWidth: 1.2 }),
      ruleY(bars, { fy: "budget", y: "name", x1: "low", x2: "high", stroke: "name", strokeWidth: 3.5 }),
      dot(bars, { fy: "budget", y: "name", x: "value", fill: "name", symbol: "name", r: 5, stroke: "var(--paper)", strokeWidth: 1 }),
      tip(bars, pointer({ fy: "budget", y: "name", x: "value", title: "text", maxRadius: 80 })),
    ],
  };
}

function differenceTable(view: View, rows: Difference[]): Child {
  if (rows.length === 0) return null;
  const decimals = decimalsOfIntervals(rows.map((row) => row.revenue));
  const costs = decimalsOfIntervals(rows.map((row) => row.cost));
  return table({
    caption: `Difference in ${view.revenueName} per unit, on the same resamples`,
    columns: [
      { title: "Budget per unit" },
      { title: "Model", kind: "text" },
      { title: "difference" },
      { title: "all at once" },
      { title: "relative" },
      { title: `more ${view.costName}` },
      { title: "p" },
      { title: "In words", kind: "wide" },
    ],
    rows: rows.map((row) => [
      budgetCell(view, row.budget_per_unit, budgetDecimals(view)),
      modelCell(view, row.model ?? ""),
      intervalCell(view, row.revenue, decimals, 1, true),
      view.format.range(row.simultaneous?.low, row.simultaneous?.high, decimals),
      percentCell(view, row.relative),
      intervalCell(view, row.cost, costs, 1, true),
      view.format.pValue(row.p_value),
      row.sentence ?? "",
    ]),
  });
}

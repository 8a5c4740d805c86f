// SPDX-License-Identifier: Apache-2.0
//
// A launch read out: what it brought over the hold-out, what it cost, and what had been promised.
import { dot, ruleX, ruleY, tip, pointer } from "@observablehq/plot";
import { chart, extent, tickFormat } from "../chart";
import { h, note, section, type Child } from "../dom";
import { decimalsOf } from "../format";
import { isNumber, type Interval, type Maybe, type Readout } from "../results";
import type { View } from "../view";

export function readout(view: View): Child {
  const found = view.results.readout;
  if (!found) return null;
  return section("launch", "What the launch brought", h("dl", { class: "tiles" }, ...tiles(view, found)), note(`Totals over the hold-out; below each figure its ${view.levelText} interval. What was spent is counted and has no interval.`), promiseChart(view, found));
}

function tiles(view: View, found: Readout): Child[] {
  const format = view.format;
  const made = found.realised;
  const write = (interval: Maybe<Interval>, money: boolean) => {
    if (!isNumber(interval?.value)) return null;
    const places = Math.min(decimalsOf([interval.value], 4), 4);
    const one = (value: number, signed: boolean) => (money ? (signed ? format.signedMoney(value, places) : format.money(value, places)) : signed ? format.signed(value, places) : format.fixed(value, places));
    return { big: one(interval.value, true), range: isNumber(interval.low) && isNumber(interval.high) ? `${one(interval.low, false)} to ${one(interval.high, false)}` : "" };
  };
  const percent = (interval: Maybe<Interval>) =>
    isNumber(interval?.value) ? { big: (interval.value > 0 ? "+" : "") + format.percent(interval.value, 0), range: isNumber(interval.low) && isNumber(interval.high) ? `${format.percent(interval.low, 0)} to ${format.percent(interval.high, 0)}` : "" } : null;
  const tile = (name: string, text: { big: string; range: string } | null, words: string, interval?: Maybe<Interval>) =>
    text ? h("div", { class: "tile", "data-tone": toneOf(interval) }, h("dt", {}, name), h("dd", {}, h("span", { class: "big" }, text.big), text.range ? h("span", { class: "range" }, text.range) : null, h("small", {}, words))) : null;
  const ratio = isNumber(made?.return_per_cost?.value) ? { big: format.plain(made.return_per_cost.value), range: isNumber(made.return_per_cost.low) ? `${format.plain(made.return_per_cost.low)} to ${format.plain(made.return_per_cost.high)}` : "" } : null;
  const over = isNumber(found.spend) && isNumber(found.budget) && found.budget > 0 ? found.spend / found.budget - 1 : null;
  return [
    tile("Spend", isNumber(found.spend) ? { big: format.money(found.spend), range: "" } : null, over === null ? "all roles" : `${over > 0 ? "+" : ""}${format.percent(over)} against a budget of ${format.money(found.budget)}`),
    tile(`Extra ${view.revenueName}`, write(made?.incremental_revenue, false), isNumber(found.planned?.incremental_revenue) ? `promised ${format.plain(found.planned.incremental_revenue)}` : "over the hold-out", made?.incremental_revenue),
    tile("Profit", write(made?.incremental_profit, true), "after extra cost", made?.incremental_profit),
    tile("Return on investment", percent(made?.roi), "profit per extra cost", made?.roi),
    made?.roi ? null : tile(`Extra ${view.revenueName} per extra ${view.costName}`, ratio, isNumber(found.planned?.return_per_cost) ? `promised ${format.plain(found.planned.return_per_cost)}` : ""),
  ];
}

function toneOf(interval: Maybe<Interval>): string {
  if (isNumber(interval?.low) && interval.low > 0) return "good";
  return isNumber(interval?.high) && interval.high < 0 ? "bad" : "";
}

function promiseChart(view: View, found: Readout): Child {
  const made = found.realised?.incremental_revenue;
  const planned = found.planned?.incremental_revenue;
  const evaluated = found.planned?.evaluated_revenue;
  if (!isNumber(made?.value) || (!isNumber(planned) && !isNumber(evaluated?.value))) return null;
  const delivered = made.value;
  const rows = [
    ...(isNumber(planned) ? [{ name: "promised by the predictions", value: planned, low: planned, high: planned }] : []),
    ...(isNumber(evaluated?.value) ? [{ name: "promised by the trial", value: evaluated.value, low: evaluated.low ?? evaluated.value, high: evaluated.high ?? evaluated.value }] : []),
    { name: "delivered", value: delivered, low: made.low ?? delivered, high: made.high ?? delivered },
  ].map((row) => ({ ...row, text: `${row.name}\n${view.format.plain(row.value)}${row.high > row.low ? ` (${view.format.plain(row.low)} to ${view.format.plain(row.high)})` : ""}` }));
  const range = extent([0, ...rows.flatMap((row) => [row.low, row.high])]);
  const label = `Extra ${view.revenueName}: promised and delivered`;
  const drawn = chart(view, label, (width) => ({
    height: 70 + 34 * rows.length,
    marginLeft: width < 500 ? 120 : 200,
    x: { label: `extra ${view.revenueName}, in all`, grid: true, tickFormat: tickFormat(view.format, ...range), ticks: width < 500 ? 3 : 8, domain: range, nice: true },
    y: { label: null, domain: rows.map((row) => row.name), padding: 0.4, tickFormat: (name: string) => (width < 500 ? name.replace("promised by the ", "") : name) },
    marks: [
      ruleX([0], { stroke: "var(--axis)" }),
      ruleY(rows, { y: "name", x1: "low", x2: "high", stroke: "var(--series-0)", strokeWidth: 3 }),
      dot(rows, { y: "name", x: "value", r: 5.5, fill: "var(--series-0)", stroke: "var(--paper)" }),
      tip(rows, pointer({ y: "name", x: "value", title: "text", maxRadius: 80 })),
    ],
  }));
  return h("figure", {}, h("figcaption", {}, label), drawn);
}

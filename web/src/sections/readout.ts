// SPDX-License-Identifier: Apache-2.0
//
// A launch read out: what it brought over the hold-out, what it cost, and what had been promised.
import { dot, ruleX, ruleY, tip, pointer } from "@observablehq/plot";
import { chart, extent, tickFormat } from "../chart";
import { h, note, section, type Child } from "../dom";
import { decimalsOf, type NumberFormat } from "../format";
import { isNumber, type Interval, type Maybe, type Readout } from "../results";
import { tile, tileText, toneOf, type TileText } from "../tile";
import type { View } from "../view";

export function readout(view: View): Child {
  const found = view.results.readout;
  if (!found) return null;
  return section("launch", (found.launches?.length ?? 0) > 1 ? "What this launch brought" : "What the launch brought", h("dl", { class: "tiles" }, ...tiles(view, found)), note(`Totals over the hold-out; below each figure its ${view.levelText} interval. What was spent is counted and has no interval.`), promiseChart(view, found), soFar(view, found));
}

function signed(format: NumberFormat, value: number, places: number, money: boolean): string {
  const text = format.plus(value, format.short(value, places));
  return money ? format.withCurrency(text) : text;
}

// Launches added up; the chart and table of them stand below with the others.
function soFar(view: View, found: Readout): Child {
  const total = found.all_launches;
  const count = found.launches?.length ?? 0;
  if (!total || count < 2) return null;
  const format = view.format;
  const roi = isNumber(total.profit?.value) && isNumber(total.cost?.value) && total.cost.value > 0 ? total.profit.value / total.cost.value : null;
  const figure = (name: string, interval: Maybe<Interval>, money: boolean, words: string) =>
    isNumber(interval?.value) ? tile(name, tileText(interval, (value) => signed(format, value, 0, money), (value) => (money ? format.shortMoney(value, 0) : format.short(value, 0))), words, toneOf(interval)) : null;
  return h(
    "div",
    {},
    h("h3", {}, `All ${count} launches so far`),
    h(
      "dl",
      { class: "tiles" },
      isNumber(total.spend) ? tile("Spend", { big: format.shortMoney(total.spend), range: "" }, "all roles") : null,
      figure(`Extra ${view.revenueName}`, total.revenue, false, "over the hold-outs"),
      figure("Profit", total.profit, true, "after extra cost"),
      roi === null ? null : tile("Return on investment", { big: `${roi > 0 ? "+" : ""}${format.percent(roi, 0)}`, range: "" }, "profit per extra cost"),
    ),
    note("The ends of these sums are the sums of the launches' ends: they hold even where the same units are held out every time."),
  );
}

function tiles(view: View, found: Readout): Child[] {
  const format = view.format;
  const made = found.realised;
  const known = (interval: Maybe<Interval>, text: TileText, name: string, words: string) => (isNumber(interval?.value) ? tile(name, text, words, toneOf(interval)) : null);
  const write = (interval: Maybe<Interval>, money: boolean) => {
    const places = isNumber(interval?.value) ? Math.min(decimalsOf([interval.value], 4), 4) : 0;
    return tileText(interval, (value) => signed(format, value, places, money), (value) => (money ? format.shortMoney(value, places) : format.short(value, places)));
  };
  const percent = (value: number) => format.percent(value, 0);
  const ratio = tileText(made?.return_per_cost, (value) => format.plain(value), (value) => format.plain(value));
  const over = isNumber(found.spend) && isNumber(found.budget) && found.budget > 0 ? found.spend / found.budget - 1 : null;
  return [
    isNumber(found.spend) ? tile("Spend", { big: format.shortMoney(found.spend), range: "" }, over === null ? "all roles" : `${over > 0 ? "+" : ""}${format.percent(over)} against a budget of ${format.shortMoney(found.budget)}`) : null,
    known(made?.incremental_revenue, write(made?.incremental_revenue, false), `Extra ${view.revenueName}`, isNumber(found.planned?.incremental_revenue) ? `promised ${format.short(found.planned.incremental_revenue, decimalsOf([found.planned.incremental_revenue], 4))}` : "over the hold-out"),
    known(made?.incremental_profit, write(made?.incremental_profit, true), "Profit", "after extra cost"),
    known(made?.roi, tileText(made?.roi, (value) => (value > 0 ? "+" : "") + percent(value), percent), "Return on investment", "profit per extra cost"),
    made?.roi || !isNumber(made?.return_per_cost?.value) ? null : tile(`Extra ${view.revenueName} per extra ${view.costName}`, ratio, isNumber(found.planned?.return_per_cost) ? `promised ${format.plain(found.planned.return_per_cost)}` : ""),
  ];
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

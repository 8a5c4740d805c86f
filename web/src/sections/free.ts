// SPDX-License-Identifier: Apache-2.0
//
// Figures and tables that the results file brings ready-made: drawn as they stand.
import { areaY, barY, dot, line, pointer, ruleX, ruleY, tip } from "@observablehq/plot";
import { symbolOf } from "../cells";
import { chart, extent, shorten, tickFormat } from "../chart";
import { fold, h, note, section, table, type Child } from "../dom";
import { decimalsOf } from "../format";
import { isNumber, list, type Figure, type Table } from "../results";
import type { Look, View } from "../view";

interface Row {
  series: string;
  place: number; // of the series
  x: number | string;
  y: number;
  low: number | null;
  high: number | null;
  text: string;
}


interface Series {
  name: string;
  look: Look;
}

export function figures(view: View): Child[] {
  return list(view.results.figures).map((figure, index) => figureSection(view, figure, index));
}

export function tables(view: View): Child[] {
  return list(view.results.tables).map((one, index) => section(`table-${index}`, one.title ?? "Table", freeTable(one), one.note ? note(one.note) : null));
}

function freeTable(one: Table): HTMLElement {
  const rows = list(one.rows);
  const looksNumeric = (text: string) => /^[^\p{L}]*\d[^\p{L}]*$/u.test(text) || text === "";
  const columns = list(one.columns).map((title, index) => {
    const cells = rows.map((row) => String(row[index] ?? ""));
    const longest = Math.max(0, ...cells.map((cell) => cell.length));
    const kind = cells.every(looksNumeric) ? ("number" as const) : longest > 40 ? ("wide" as const) : ("text" as const);
    return { title, kind };
  });
  return table({
    caption: one.title ?? "Table",
    hideCaption: true,
    columns,
    rows: rows.map((row) => columns.map((_, index) => String(row[index] ?? ""))),
  });
}

function rowsOf(view: View, figure: Figure): Row[] {
  const ys = list(figure.series).flatMap((series) => list(series.points).map((point) => point.y).filter(isNumber));
  const decimals = decimalsOf(ys, 4);
  return list(figure.series).flatMap((series, place) =>
    list(series.points).flatMap((point) => {
      if (!isNumber(point.y) || point.x === null || point.x === undefined) return [];
      const range = view.format.range(point.low, point.high, decimals);
      const name = series.name ?? "";
      const x = isNumber(point.x) ? view.format.plain(point.x) : point.x;
      const text = `${name}\n${figure.x_label ?? "x"}: ${x}\n${figure.y_label ?? "y"}: ${view.format.fixed(point.y, decimals)}${range ? ` (${range})` : ""}`;
      return [{ series: name, place, x: point.x, y: point.y, low: point.low ?? null, high: point.high ?? null, text }];
    }),
  );
}

function figureSection(view: View, figure: Figure, index: number): HTMLElement {
  const series = list(figure.series).map((one, place) => ({ name: one.name ?? "", look: view.lookOfSeries(one.name ?? "", place) }));
  const rows = rowsOf(view, figure);
  const title = figure.title ?? "Figure";
  const key = h("ul", { class: "key", "aria-label": "Series" }, ...series.map((one) => h("li", {}, symbolOf(one.look), one.name)));
  const isOn = (row: Row) => !view.models.some((shown) => shown.name === row.series) || view.isActive(row.series);
  const drawn = chart(view, title, (width) => {
    const shown = rows.filter(isOn);
    if (shown.length === 0) return rows.length === 0 ? "There is nothing to draw." : "No model is switched on.";
    return figure.kind === "bar" ? drawBars(view, figure, shown, series, width) : drawPoints(view, figure, shown, series, width);
  });
  return section(
    `figure-${index}`,
    title,
    series.length > 1 ? key : null,
    h("figure", {}, drawn),
    figure.note ? note(figure.note) : null,
    fold("The figure as a table", figureTable(view, figure, rows, title)),
  );
}

function figureTable(view: View, figure: Figure, rows: Row[], title: string): HTMLElement {
  const decimals = decimalsOf(rows.map((row) => row.y), 4);
  return table({
    caption: title,
    hideCaption: true,
    columns: [{ title: "Series", kind: "text" }, { title: figure.x_label ?? "x" }, { title: figure.y_label ?? "y" }, { title: "interval" }],
    rows: rows.map((row) => [
      row.series,
      isNumber(row.x) ? view.format.plain(row.x) : row.x,
      view.format.fixed(row.y, decimals),
      view.format.range(row.low, row.high, decimals),
    ]),
  });
}

function isCategory(figure: Figure, rows: Row[]): boolean {
  return figure.x_scale === "category" || rows.some((row) => typeof row.x === "string");
}

function yAxis(view: View, figure: Figure, rows: Row[], fromZero: boolean) {
  const range = extent(rows.flatMap((row) => [row.y, row.low ?? row.y, row.high ?? row.y, ...(fromZero ? [0] : [])]));
  return { label: figure.y_label ?? null, grid: true, nice: true, tickFormat: tickFormat(view.format, ...range), ticks: 6 };
}

function scales(series: Series[]) {
  const places = series.map((_, place) => place);
  return {
    color: { domain: places, range: series.map((one) => one.look.color), type: "categorical" as const },
    symbol: { domain: places, range: series.map((one) => one.look.symbol) },
  };
}

function labelsOf(rows: Row[]): string[] {
  return [...new Set(rows.map((row) => String(row.x)))];
}

// Labels that do not fit beside each other are turned.
function crowded(labels: string[], width: number): boolean {
  return labels.reduce((sum, label) => sum + 7 * Math.min([...label].length, 16) + 10, 0) > width - 70;
}

function drawPoints(view: View, figure: Figure, rows: Row[], series: Series[], width: number) {
  const category = isCategory(figure, rows);
  const log = !category && figure.x_scale === "log" && rows.every((row) => Number(row.x) > 0);
  const x = category ? (row: Row) => String(row.x) : (row: Row) => Number(row.x);
  const labels = labelsOf(rows);
  const turned = category && crowded(labels, width);
  const range = extent(rows.map((row) => Number(row.x)).filter(isNumber));
  const banded = rows.filter((row) => row.low !== null && row.high !== null);
  const lines = figure.kind !== "points";
  const bands = lines && !category;
  const numeric = { type: log ? ("log" as const) : ("linear" as const), tickFormat: log ? (value: number) => view.format.trimmed(value, 6) : tickFormat(view.format, ...range), ticks: width < 500 ? 4 : 8 };
  const named = { type: "point" as const, domain: labels, padding: 0.5, tickFormat: (label: string) => shorten(label, 16), ...(turned ? { tickRotate: -35 } : {}) };
  return {
    height: Math.max(260, Math.min(400, width * 0.5)) + (turned ? 50 : 0),
    marginLeft: 58,
    marginBottom: turned ? 90 : 48,
    x: { label: figure.x_label ?? null, labelOffset: turned ? 84 : 42, ...(category ? named : numeric) },
    y: yAxis(view, figure, rows, false),
    ...scales(series),
    marks: category ? beside(rows, banded, lines, x) : [
      bands ? areaY(banded, { x, y1: "low", y2: "high", fill: "place", z: "place", fillOpacity: 0.13 }) : ruleX(banded, { x, y1: "low", y2: "high", stroke: "place", strokeWidth: 1.4 }),
      lines ? line(rows, { x, y: "y", stroke: "place", z: "place", strokeWidth: 1.8 }) : null,
      dot(rows, { x, y: "y", fill: "place", symbol: "place", r: 3.8, stroke: "var(--paper)", strokeWidth: 0.8 }),
      tip(rows, pointer({ x, y: "y", title: "text", maxRadius: 60 })),
    ],
  };
}

// Named places have no width of their own: the series stand a little beside each other, so that none hides another.
function beside(rows: Row[], banded: Row[], lines: boolean, x: (row: Row) => string | number) {
  const places = [...new Set(rows.map((row) => row.place))];
  return [
    ...places.flatMap((place, index) => {
      const of = (all: Row[]) => all.filter((row) => row.place === place);
      const dx = 8 * (index - (places.length - 1) / 2);
      return [
        lines ? line(of(rows), { x, y: "y", dx, stroke: "place", strokeWidth: 1.8 }) : null,
        ruleX(of(banded), { x, y1: "low", y2: "high", dx, stroke: "place", strokeWidth: 1.4 }),
        dot(of(rows), { x, y: "y", dx, fill: "place", symbol: "place", r: 3.8, stroke: "var(--paper)", strokeWidth: 0.8 }),
      ];
    }),
    tip(rows, pointer({ x, y: "y", title: "text", maxRadius: 60 })),
  ];
}

function drawBars(view: View, figure: Figure, rows: Row[], series: Series[], width: number) {
  const labels = labelsOf(rows);
  const turned = crowded(labels, width);
  const places = [...new Set(rows.map((row) => row.place))];
  const banded = rows.filter((row) => row.low !== null && row.high !== null);
  const fx = (row: Row) => String(row.x);
  const numbers = new Set(rows.filter((row) => typeof row.x === "number").map((row) => String(row.x)));
  const write = (label: string): string => (numbers.has(label) ? view.format.trimmed(Number(label), 6) : shorten(label, 16));
  return {
    height: Math.max(260, Math.min(400, width * 0.5)) + (turned ? 50 : 0),
    marginLeft: 58,
    marginBottom: turned ? 90 : 48,
    fx: { label: figure.x_label ?? null, labelOffset: turned ? 84 : 42, domain: labels, tickFormat: write, padding: 0.2, ...(turned ? { tickRotate: -35 } : {}) },
    x: { axis: null, domain: places, type: "band" as const, padding: 0.08 },
    y: yAxis(view, figure, rows, true),
    ...scales(series),
    marks: [
      barY(rows, { fx, x: "place", y: "y", fill: "place", fillOpacity: 0.85 }),
      ruleX(banded, { fx, x: "place", y1: "low", y2: "high", stroke: "var(--ink)", strokeWidth: 1.3 }),
      ruleY([0], { stroke: "var(--ink)" }),
      tip(rows, pointer({ fx, x: "place", y: "y", title: "text", maxRadius: 80 })),
    ],
  };
}


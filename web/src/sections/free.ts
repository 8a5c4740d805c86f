// SPDX-License-Identifier: Apache-2.0
//
// Figures and tables that the results file brings ready-made: drawn as they stand.
import { areaY, barY, dot, line, pointer, ruleX, ruleY, text, tip } from "@observablehq/plot";
import { modelCell, symbolOf } from "../cells";
import { chart, extent, kMostBands, shortNames, tickFormat } from "../chart";
import { fold, h, note, replaceChildren, section, table, type Child } from "../dom";
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

const kMostWhiskers = 8;
const kMostLetters = 18; // of a label on an axis

export function figures(view: View): Child[] {
  return list(view.results.figures).map((figure, index) => figureSection(view, figure, index));
}

export function tables(view: View): Child[] {
  return list(view.results.tables).map((one, index) => section(`table-${index}`, one.title ?? "Table", freeTable(view, one), one.note ? note(one.note) : null));
}

function freeTable(view: View, one: Table): HTMLElement {
  const rows = list(one.rows);
  const looksNumeric = (cell: string) => /^[^\p{L}]*$/u.test(cell);
  const columns = list(one.columns).map((title, index) => {
    const cells = rows.map((row) => String(row[index] ?? ""));
    const longest = Math.max(0, ...cells.map((cell) => cell.length));
    const kind = cells.every(looksNumeric) ? ("number" as const) : longest > 40 ? ("wide" as const) : ("text" as const);
    return { title, kind };
  });
  const cellOf = (cell: string, index: number) => {
    if (columns[index]?.kind === "number") return bracketed(cell);
    return index === 0 ? modelCell(view, cell, "", cell) : cell;
  };
  return table({
    caption: one.title ?? "Table",
    hideCaption: true,
    columns,
    rows: rows.map((row) => columns.map((_, index) => cellOf(String(row[index] ?? ""), index))),
  });
}

// "1.02 (0.01)" with its brackets below it, small, so that more columns fit.
function bracketed(cell: string): Child {
  const [, figure, brackets] = /^([^([]+) ([([].*)$/.exec(cell) ?? [];
  return figure ? h("span", { class: "figure" }, figure, h("small", {}, brackets)) : cell;
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
  return section(
    `figure-${index}`,
    title,
    figure.panels && series.length > 1 ? panels(view, figure, rows, series) : together(view, figure, rows, series, title),
    figure.note ? note(figure.note) : null,
    fold("The figure as a table", figureTable(view, figure, rows, title)),
  );
}

// All series that are switched on in one chart.
function together(view: View, figure: Figure, rows: Row[], series: Series[], title: string): HTMLElement {
  const isOn = (name: string) => !view.models.some((shown) => shown.name === name) || view.isActive(name);
  const key = h("ul", { class: "key", "aria-label": "Series" });
  const remark = note("");
  const redraw = () => {
    const on = series.filter((one) => isOn(one.name));
    replaceChildren(key, ...on.map((one) => h("li", {}, symbolOf(one.look), one.name)));
    remark.textContent = intervalsWords(figure, rows.filter((row) => isOn(row.series)), on.length);
    remark.hidden = remark.textContent === "";
  };
  view.onChange(redraw);
  redraw();
  const drawn = chart(view, title, (width) => {
    const shown = rows.filter((row) => isOn(row.series));
    if (shown.length === 0) return rows.length === 0 ? "There is nothing to draw." : "No model is switched on.";
    if (figure.kind === "bar") return drawBars(view, figure, shown, series, width);
    const places = labelsOf(shown);
    const alone = places.length === 1 && new Set(shown.map((row) => row.series)).size > 1;
    return drawPoints(view, alone ? namedBySeries(view, figure, places[0] ?? "") : figure, alone ? shown.map((row) => ({ ...row, x: row.series })) : shown, series, width);
  });
  return h("div", {}, series.length > 1 ? key : null, h("figure", {}, drawn), remark);
}

// With one place on the axis there is nothing to connect: the series stand side by side.
function namedBySeries(view: View, figure: Figure, place: string): Figure {
  const at = place !== "" && isNumber(Number(place)) ? view.format.plain(Number(place)) : place;
  return { ...figure, kind: "points", x_scale: "category", x_label: figure.x_label ? `${figure.x_label}: ${at}` : at };
}

function intervalsWords(figure: Figure, rows: Row[], on: number): string {
  if (figure.kind === "bar" || on <= kMostBands || !rows.some((row) => row.low !== null)) return "";
  if (on > kMostWhiskers) return `Intervals are drawn while at most ${kMostWhiskers} series are on; they are in the table.`;
  return "Upright lines are intervals; the series stand a little beside each other.";
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
  return labels.reduce((sum, label) => sum + 7 * Math.min([...label].length, kMostLetters) + 10, 0) > width - 70;
}

function drawPoints(view: View, figure: Figure, rows: Row[], series: Series[], width: number) {
  const category = isCategory(figure, rows);
  const log = !category && figure.x_scale === "log" && rows.every((row) => Number(row.x) > 0);
  const range = extent(rows.map((row) => Number(row.x)).filter(isNumber));
  const numeric = { type: log ? ("log" as const) : ("linear" as const), tickFormat: log ? (value: number) => view.format.trimmed(value, 6) : tickFormat(view.format, ...range), ticks: width < 500 ? 4 : 8 };
  const places = category ? placesAxis(view, figure, rows, width) : { x: { label: figure.x_label ?? null, ...numeric } };
  const x = category ? (row: Row) => String(row.x) : (row: Row) => Number(row.x);
  return {
    height: Math.max(260, Math.min(400, width * 0.5)),
    marginLeft: 58,
    ...places,
    y: yAxis(view, figure, rows, false),
    ...scales(series),
    marks: [...seriesMarks(rows, series, x, figure.kind !== "points", category), tip(rows, pointer({ x, y: "y", title: "text", maxRadius: 60 }))],
  };
}

// Named places on the axis, each with its label; labels that do not fit beside each other are turned.
function placesAxis(view: View, figure: Figure, rows: Row[], width: number) {
  const labels = labelsOf(rows);
  const write = labelWriter(view, rows);
  const turned = crowded(labels, width);
  return {
    marginBottom: turned ? 90 : 48,
    x: { label: figure.x_label ?? null, labelOffset: turned ? 84 : 42, type: "point" as const, domain: labels, padding: 0.5, tickFormat: write, ...(turned ? { tickRotate: -35 } : {}) },
  };
}

function labelWriter(view: View, rows: Row[]): (label: string) => string {
  const numbers = new Set(rows.filter((row) => typeof row.x === "number").map((row) => String(row.x)));
  const short = shortNames(labelsOf(rows), kMostLetters);
  return (label) => (numbers.has(label) ? view.format.trimmed(Number(label), 6) : (short.get(label) ?? label));
}

// Bands for few series; upright lines for more, which stand a little beside each other so that none hides another.
function seriesMarks(rows: Row[], series: Series[], x: (row: Row) => string | number, lines: boolean, category: boolean) {
  const places = [...new Set(rows.map((row) => row.place))];
  const apart = new Set(rows.map((row) => `${row.x}`)).size < rows.length; // more than one series at a place
  const bands = lines && !category && places.length <= kMostBands;
  const banded = places.length <= kMostWhiskers || !apart ? rows.filter((row) => row.low !== null && row.high !== null) : [];
  const marks = places.flatMap((place, index) => {
    const look = series[place]?.look;
    const own = rows.filter((row) => row.place === place);
    const dx = bands || !apart || places.length > kMostWhiskers ? 0 : Math.min(8, 48 / places.length) * (index - (places.length - 1) / 2);
    return [
      bands ? null : ruleX(banded.filter((row) => row.place === place), { x, y1: "low", y2: "high", dx, stroke: "place", strokeWidth: 1.2 }),
      lines ? line(own, { x, y: "y", dx, stroke: "place", strokeWidth: 1.8, ...(look?.dash ? { strokeDasharray: look.dash } : {}) }) : null,
      dot(own, { x, y: "y", dx, fill: "place", symbol: "place", r: 3.8, stroke: "var(--paper)", strokeWidth: 0.8 }),
    ];
  });
  return bands ? [areaY(banded, { x, y1: "low", y2: "high", fill: "place", z: "place", fillOpacity: 0.13 }), ...marks] : marks;
}

// A panel for each series but the first, which is the line across all of them.
function panels(view: View, figure: Figure, rows: Row[], series: Series[]): HTMLElement {
  const y = yAxis(view, figure, rows, false);
  const domain = extent(rows.flatMap((row) => [row.y, row.low ?? row.y, row.high ?? row.y]));
  const level = rows.find((row) => row.place === 0);
  const parts = series.slice(1).map(({ name }, index) => {
    const own = rows.filter((row) => row.place === index + 1).sort((a, b) => Number(a.x) - Number(b.x) || 0);
    const drawn = chart(view, `${figure.title ?? "Figure"}, ${name}`, (width) => {
      if (own.length === 0) return "There is nothing to draw.";
      const x = (row: Row) => String(row.x);
      return {
        height: 280,
        marginLeft: 58,
        ...placesAxis(view, figure, own, width),
        y: { ...y, domain },
        ...scales(series),
        marks: [
          ...(level ? levelMarks(level) : []),
          ...seriesMarks(own, series, x, figure.kind !== "points", true),
          tip(own, pointer({ x, y: "y", title: "text", maxRadius: 60 })),
        ],
      };
    });
    return h("figure", {}, h("figcaption", {}, name), drawn);
  });
  return h("div", { class: "side-by-side" }, ...parts);
}

function levelMarks(level: Row) {
  const edges = [level.low, level.high].filter(isNumber);
  return [
    ruleY(edges, { stroke: "var(--muted)", strokeWidth: 1, strokeDasharray: "1 3" }),
    ruleY([level.y], { stroke: "var(--ink)", strokeWidth: 1.6 }),
    text([level], { y: "y", text: "series", frameAnchor: "right", textAnchor: "end", dx: -4, dy: -8 }),
  ];
}

function drawBars(view: View, figure: Figure, rows: Row[], series: Series[], width: number) {
  const labels = labelsOf(rows);
  const turned = crowded(labels, width);
  const places = [...new Set(rows.map((row) => row.place))];
  const banded = rows.filter((row) => row.low !== null && row.high !== null);
  const fx = (row: Row) => String(row.x);
  const write = labelWriter(view, rows);
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

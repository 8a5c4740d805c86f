// SPDX-License-Identifier: Apache-2.0
//
// Cells of tables: figures with their intervals, names of models with their symbol.
import { h, type Child } from "./dom";
import { kMissing } from "./format";
import { isNumber, type Interval, type Maybe } from "./results";
import type { Look, View } from "./view";

// "1.234" with "1.200 to 1.268" below it, small.
export function intervalCell(view: View, interval: Maybe<Interval>, decimals: number, scale = 1, signed = false): Child {
  if (!interval || !isNumber(interval.value)) return kMissing;
  const write = (value: number) => (signed ? view.format.signed(value * scale, decimals) : view.format.fixed(value * scale, decimals));
  const range = rangeText(view, interval, decimals, scale);
  return h("span", { class: "figure", ...raw(interval, scale) }, write(interval.value), range ? h("small", {}, range) : null);
}

// The same in money.
export function moneyCell(view: View, interval: Maybe<Interval>, decimals: number, signed = false): Child {
  if (!interval || !isNumber(interval.value)) return kMissing;
  const text = signed ? view.format.signedMoney(interval.value, decimals) : view.format.money(interval.value, decimals);
  const range = rangeText(view, interval, decimals, 1);
  return h("span", { class: "figure", ...raw(interval, 1) }, text, range ? h("small", {}, range) : null);
}

// The figures themselves, for CSV.
function raw(interval: Interval, scale: number) {
  const part = (value: Maybe<number>) => (isNumber(value) ? String(Number((value * scale).toPrecision(7))) : null);
  return { "data-value": part(interval.value), "data-low": part(interval.low), "data-high": part(interval.high) };
}

export function percentCell(view: View, interval: Maybe<Interval>, signed = true): Child {
  if (!interval || !isNumber(interval.value)) return kMissing;
  const mark = signed && interval.value > 0 ? "+" : "";
  const range = rangeText(view, interval, 1, 100);
  return h("span", { class: "figure", ...raw(interval, 1) }, mark + view.format.percent(interval.value), range ? h("small", {}, range) : null);
}

function rangeText(view: View, interval: Interval, decimals: number, scale: number): string {
  if (!isNumber(interval.low) || !isNumber(interval.high)) return "";
  return view.format.range(interval.low * scale, interval.high * scale, decimals);
}

// The same in one line, for hover texts.
export function intervalText(view: View, interval: Maybe<Interval>, decimals: number): string {
  if (!interval || !isNumber(interval.value)) return kMissing;
  const range = rangeText(view, interval, decimals, 1);
  return view.format.fixed(interval.value, decimals) + (range ? ` (${range})` : "");
}

// Lines break between the words of a name only; a name that is not long has one line where the screen is wide.
export function modelCell(view: View, name: string, remark = "", title = view.titleOf(name)): Child {
  const look = view.models.find((shown) => shown.name === name)?.look;
  const words = title.split(" ").map((word, place) => h("span", { class: word.length <= 30 ? "word" : "" }, place === 0 && look ? symbolOf(look) : null, word));
  const spaced = words.flatMap((word, place) => (place > 0 ? [" ", word] : [word]));
  return h("span", { class: title.length <= 40 ? "model-name short" : "model-name" }, ...spaced, remark ? h("small", {}, remark) : null);
}

// A budget per unit, with its total below it.
export function budgetCell(view: View, budget: Maybe<number>, decimals: number): Child {
  const total = view.totalOf(budget);
  return h("span", { class: "figure" }, view.format.money(budget, decimals), total === null ? null : h("small", {}, `${view.format.plain(total)} in total`));
}

// Colours and symbols of the models, for marks that name them.
export function modelScales(view: View) {
  const domain = view.models.map((shown) => shown.name);
  return {
    color: { domain, range: view.models.map((shown) => shown.look.color), type: "categorical" as const },
    symbol: { domain, range: view.models.map((shown) => shown.look.symbol) },
  };
}

const kPaths: Record<string, string> = {
  circle: "M6 1.6a4.4 4.4 0 1 0 0 8.8a4.4 4.4 0 1 0 0-8.8Z",
  square: "M2 2h8v8h-8Z",
  triangle: "M6 1l5 9h-10Z",
  diamond: "M6 .6l4.2 5.4l-4.2 5.4l-4.2-5.4Z",
  cross: "M4.4 1h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4v-3.2h3.4Z",
  star: "M6 .5l1.5 3.7l4 .3l-3 2.6l1 3.9l-3.5-2.1l-3.5 2.1l1-3.9l-3-2.6l4-.3Z",
  wye: "M4.6 6.8l-3.2-1.8l1.4-2.4l3.2 1.8l3.2-1.8l1.4 2.4l-3.2 1.8v3.8h-2.8Z",
  hexagon: "M6 .8l4.5 2.6v5.2l-4.5 2.6l-4.5-2.6v-5.2Z",
};

const kSpace = "http://www.w3.org/2000/svg";

// The symbol that stands for a series in keys and tables, on a piece of its line where that is dashed.
export function symbolOf(look: Look): Element {
  const svg = document.createElementNS(kSpace, "svg");
  svg.setAttribute("viewBox", look.dash ? "-12 0 36 12" : "0 0 12 12");
  svg.setAttribute("class", look.dash ? "symbol dashed" : "symbol");
  svg.setAttribute("aria-hidden", "true");
  if (look.dash) svg.append(pathOf("M-12 6h36", { fill: "none", stroke: look.color, strokeWidth: "2", strokeDasharray: look.dash }));
  svg.append(pathOf(kPaths[look.symbol] ?? kPaths["circle"] ?? "", { fill: look.color }));
  return svg;
}

function pathOf(shape: string, style: Partial<CSSStyleDeclaration>): Element {
  const path = document.createElementNS(kSpace, "path");
  path.setAttribute("d", shape);
  Object.assign(path.style, style);
  return path;
}

// Which colour and symbol is which of the models that are switched on; nothing for a single model.
export function modelKey(view: View): Child {
  if (view.models.length < 2) return null;
  const key = h("ul", { class: "key", "aria-label": "Models" });
  const redraw = () => key.replaceChildren(...view.activeModels.map((shown) => h("li", {}, symbolOf(shown.look), shown.title)));
  view.onChange(redraw);
  redraw();
  return key;
}

// Colours of arms for a chart whose marks are filled by the place of the arm.
export function armColors(view: View) {
  return { domain: view.arms.map((_, arm) => arm), range: view.arms.map((_, arm) => view.armColor(arm)), type: "categorical" as const };
}

export function armKey(view: View): HTMLElement {
  return h(
    "ul",
    { class: "key", "aria-label": "Arms" },
    ...view.arms.map((label, arm) => {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = view.armColor(arm);
      return h("li", {}, swatch, label + (arm === view.control ? " (control)" : ""));
    }),
  );
}

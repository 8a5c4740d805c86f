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
  return h("span", { class: "figure" }, write(interval.value), range ? h("small", {}, range) : null);
}

export function percentCell(view: View, interval: Maybe<Interval>, signed = true): Child {
  if (!interval || !isNumber(interval.value)) return kMissing;
  const mark = signed && interval.value > 0 ? "+" : "";
  const range = rangeText(view, interval, 1, 100);
  return h("span", { class: "figure" }, mark + view.format.percent(interval.value), range ? h("small", {}, range) : null);
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

export function modelCell(view: View, name: string, remark = ""): Child {
  const look = view.models.find((shown) => shown.name === name)?.look;
  const short = name.length <= 24; // kept on one line
  return h("span", { class: short ? "model-name short" : "model-name" }, look ? symbolOf(look) : null, name, remark ? h("small", {}, remark) : null);
}

const kPaths: Record<string, string> = {
  circle: "M6 1.6a4.4 4.4 0 1 0 0 8.8a4.4 4.4 0 1 0 0-8.8Z",
  square: "M2 2h8v8h-8Z",
  triangle: "M6 1l5 9h-10Z",
  diamond: "M6 .6l4.2 5.4l-4.2 5.4l-4.2-5.4Z",
  cross: "M4.4 1h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4v-3.2h3.4Z",
  star: "M6 .5l1.5 3.7l4 .3l-3 2.6l1 3.9l-3.5-2.1l-3.5 2.1l1-3.9l-3-2.6l4-.3Z",
  wye: "M4.6 6.8l-3.2-1.8l1.4-2.4l3.2 1.8l3.2-1.8l1.4 2.4l-3.2 1.8v3.8h-2.8Z",
  plus: "M5 1h2v4h4v2h-4v4h-2v-4h-4v-2h4Z",
};

// The symbol that stands for a series in keys and tables.
export function symbolOf(look: Look): Element {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("class", "symbol");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", kPaths[look.symbol] ?? kPaths["circle"] ?? "");
  path.style.fill = look.color;
  svg.append(path);
  return svg;
}

// Which colour and symbol is which of the models that are switched on; nothing for a single model.
export function modelKey(view: View): Child {
  if (view.models.length < 2) return null;
  const key = h("ul", { class: "key", "aria-label": "Models" });
  const redraw = () => key.replaceChildren(...view.activeModels.map((shown) => h("li", {}, symbolOf(shown.look), shown.name)));
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

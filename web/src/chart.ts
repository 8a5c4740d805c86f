// SPDX-License-Identifier: Apache-2.0
//
// The frame around every chart: it is drawn for the width it has, drawn again when that or a choice changes, and
// carries a label for readers who cannot see it; it can be copied or saved as a picture. The drawing itself is Observable Plot's.
import { plot, type PlotOptions } from "@observablehq/plot";
import { h, replaceChildren } from "./dom";
import { decimalsOf, largeUnit, type NumberFormat } from "./format";
import { pictureOf, pngOf } from "./picture";
import { action, fileName, save } from "./save";
import type { View } from "./view";

// More bands than these hide each other.
export const kMostBands = 3;

// Plot options for a width in pixels, or a word on why there is nothing to draw.
export type Draw = (width: number) => PlotOptions | string;

export function chart(view: Pick<View, "onChange">, label: string, draw: Draw): HTMLElement {
  const frame = h("div", { class: "chart" });
  let width = 0;
  const redraw = () => {
    if (width < 40) return;
    const drawn = draw(width);
    if (typeof drawn === "string") {
      replaceChildren(frame, h("p", { class: "empty" }, drawn));
      return;
    }
    const svg = plot({
      width,
      marginBottom: 48,
      style: { fontSize: "12px" },
      ...drawn,
      x: { labelOffset: 42, ...drawn.x },
      ariaLabel: label,
    });
    svg.setAttribute("role", "img");
    // Parts of a picture have no names of their own for screen readers.
    for (const mark of svg.querySelectorAll("g[aria-label]")) {
      mark.setAttribute("data-mark", mark.getAttribute("aria-label") ?? "");
      mark.removeAttribute("aria-label");
    }
    replaceChildren(frame, svg);
  };
  new ResizeObserver((entries) => {
    const wide = Math.floor(entries[0]?.contentRect.width ?? 0);
    if (wide === width) return;
    width = wide;
    redraw();
  }).observe(frame);
  view.onChange(redraw);
  return h("div", { class: "chart-box" }, frame, pictureTools(frame, label));
}

function pictureTools(frame: HTMLElement, label: string): HTMLElement {
  const picture = () => {
    const made = pictureOf(frame, label);
    if (!made) throw new Error("nothing is drawn");
    return made;
  };
  const keepPng = async () => {
    save(fileName(label, "png"), await pngOf(picture()));
    return "saved";
  };
  // Where the browser does not let pages write to the clipboard, the picture is saved.
  const copyPng = async () => {
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": pngOf(picture()) })]);
      return "copied";
    } catch {
      return keepPng();
    }
  };
  const keepSvg = () => {
    save(fileName(label, "svg"), new Blob([picture().svg], { type: "image/svg+xml" }));
    return "saved";
  };
  return h(
    "div",
    { class: "tools" },
    action("Copy", `Copy as a picture: ${label}`, copyPng),
    action("PNG", `Save as PNG: ${label}`, keepPng),
    action("SVG", `Save as SVG: ${label}`, keepSvg),
  );
}

// Ticks in the study's number format, with just the decimals their spacing needs; of millions on an axis of millions.
export function tickFormat(format: NumberFormat, low: number, high: number): (value: number) => string {
  const size = Math.max(Math.abs(low), Math.abs(high));
  const [unit, letters] = size < 1e6 ? [1, ""] : largeUnit(size);
  const decimals = Math.min(decimalsOf([Math.abs(high - low) / unit / 5 || 1], 2), 6);
  return (value) => format.trimmed(value / unit, decimals) + (letters && value !== 0 ? `\u00a0${letters}` : "");
}

export function extent(values: Iterable<number>): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

// Labels of at most so many letters. Names that are longer keep their first word and their end, where values of settings
// differ; those that would still look alike are numbered.
export function shortNames(names: string[], most: number): Map<string, string> {
  const short = new Map(names.map((name) => [name, shortName(name, most)]));
  const seen = new Map<string, number>();
  for (const [name, label] of short) {
    const before = seen.get(label) ?? 0;
    seen.set(label, before + 1);
    if (before > 0) short.set(name, `${before + 1} ${shortName(name, most - 2)}`);
  }
  return short;
}

function shortName(name: string, most: number): string {
  const letters = [...name];
  if (letters.length <= most) return name;
  const head = Math.min([...(name.split(/\s/)[0] ?? "")].length, Math.floor(most / 2));
  return letters.slice(0, head).join("") + "\u2026" + letters.slice(letters.length - (most - 1 - head)).join("");
}

// Pixels a label of this many letters takes on an axis.
export function labelWidth(labels: string[], most: number): number {
  const longest = labels.reduce((length, label) => Math.max(length, [...label].length), 0);
  return Math.min(longest, most) * 7 + 16;
}

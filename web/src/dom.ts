// SPDX-License-Identifier: Apache-2.0
//
// Elements made in code, tables with a button for CSV. Strings become text nodes, never markup, so that no label of a file can inject anything.

import { csvOf } from "./csv";
import { action, fileName, save } from "./save";

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child) element.append(child);
  }
  return element;
}

export function replaceChildren(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...children.filter((child): child is Node | string => Boolean(child)));
}

export interface Column {
  title: string;
  kind?: "text" | "number" | "wide";
}

export interface TableOptions {
  caption: string;
  columns: Column[];
  rows: Child[][]; // the first cell of a row is its header
  hideCaption?: boolean;
  isForm?: boolean; // boxes to fill in: there is nothing to save
}

// A table that scrolls inside its frame where the page is narrow; the frame can be reached with the keyboard.
export function table(options: TableOptions): HTMLElement {
  const classOf = (index: number) => options.columns[index]?.kind ?? "number";
  const head = options.columns.map((column, index) => h(column.title ? "th" : "td", { ...(column.title ? { scope: "col" } : {}), class: classOf(index) }, column.title));
  const rows = options.rows.map((cells) =>
    h(
      "tr",
      {},
      ...cells.map((cell, index) =>
        index === 0
          ? h("th", { scope: "row", class: classOf(0) + breaks(cell) }, cell)
          : h("td", { class: classOf(index) + breaks(cell) }, cell),
      ),
    ),
  );
  const made = h(
    "table",
    {},
    h("caption", { class: options.hideCaption ? "visually-hidden" : "" }, h("span", {}, options.caption)),
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows),
  );
  const keep = action("CSV", `Save as CSV: ${options.caption}`, () => {
    save(fileName(options.caption, "csv"), new Blob([csvOf(made)], { type: "text/csv;charset=utf-8" }));
    return "saved";
  });
  return h(
    "div",
    { class: "table-box" },
    h("div", { class: "table-frame", tabindex: 0, role: "group", "aria-label": options.caption }, made),
    options.isForm ? null : h("div", { class: "tools" }, keep),
  );
}

// Only a word that no screen can hold is broken.
function breaks(cell: Child): string {
  const text = cell instanceof Node ? (cell.textContent ?? "") : cell || "";
  return /\S{31}/.test(text) ? " breaks" : "";
}

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}

// What the figures of a section are over, below its heading.
export function scope(text: string): HTMLElement {
  return h("p", { class: "scope" }, text);
}

export function note(text: string): HTMLElement {
  return h("p", { class: "note" }, text);
}

export function fold(title: string, ...children: Child[]): HTMLElement {
  return h("details", {}, h("summary", {}, title), ...children);
}

// SPDX-License-Identifier: Apache-2.0
//
// A table of the page as CSV: figures in full, with the ends of their intervals in columns of their own.

interface Parts {
  value: string;
  low: string;
  high: string;
}

function partsOf(cell: Element): Parts {
  const holder = cell.querySelector("[data-value]") ?? cell;
  const { value, low = "", high = "" } = (holder as HTMLElement).dataset;
  return { value: value ?? textOf(cell), low, high };
}

function textOf(cell: Element): string {
  const small = cell.querySelector("small");
  const whole = cell.textContent ?? "";
  const below = small?.textContent ?? "";
  const text = (below && whole.endsWith(below) ? `${whole.slice(0, -below.length)}, ${below}` : whole).replace(/\s+/g, " ").trim();
  return text === "\u2013" ? "" : text;
}

// Quoted where CSV needs it. A label that a spreadsheet would take for a formula stands behind an apostrophe.
function quoted(text: string): string {
  const plain = text.replaceAll("\u2212", "-");
  const isNumber = /^[-+]?[\d.,\u202f\u00a0 ]*%?$/.test(plain) || Number.isFinite(Number(plain));
  const safe = !isNumber && /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  return /[",\n\r;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf(table: HTMLTableElement): string {
  const titles = [...table.querySelectorAll("thead th, thead td")].map(textOf);
  const rows = [...table.querySelectorAll("tbody tr")].map((row) => [...row.children].map(partsOf));
  const hasRange = titles.map((_, column) => rows.some((row) => row[column]?.low || row[column]?.high));
  const spread = (column: number, parts: Parts) => (hasRange[column] ? [parts.value, parts.low, parts.high] : [parts.value]);
  const head = titles.flatMap((title, column) => spread(column, { value: title, low: `${title}, low`, high: `${title}, high` }));
  const body = rows.map((row) => titles.flatMap((_, column) => spread(column, row[column] ?? { value: "", low: "", high: "" })));
  return [head, ...body].map((cells) => cells.map(quoted).join(",")).join("\r\n") + "\r\n";
}

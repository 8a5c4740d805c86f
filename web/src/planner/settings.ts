// SPDX-License-Identifier: Apache-2.0
//
// The reader's settings: every move re-plans all units.
import { fold, h, table, type Child } from "../dom";
import type { NumberFormat } from "../format";
import { isNumber } from "../results";
import type { Settings, Solver } from "./solver";

const kSteps = 1000;

// A number box; empty: null. What is no number or below the least is not sent.
function numberBox(id: string, name: string, value: number | null, least: number | null, change: (value: number | null) => void, whole = false): HTMLInputElement {
  const box = h("input", { type: "number", id, "aria-label": name, step: whole ? 1 : "any", inputmode: whole ? "numeric" : "decimal", ...(least === null ? {} : { min: least }) });
  box.value = value === null ? "" : String(value);
  box.addEventListener("input", () => {
    const number = box.value.trim() === "" ? null : Number(box.value);
    const wrong = box.validity.badInput || (number !== null && (!isNumber(number) || (least !== null && number < least) || (whole && !Number.isInteger(number))));
    box.setAttribute("aria-invalid", String(wrong));
    if (!wrong) change(number);
  });
  return box;
}

// Two decimals: cents.
function cents(value: number): number {
  return Math.round(100 * value) / 100;
}

// A slider with its number box and a switch for no limit.
function amount(solver: Solver, name: string, id: string, most: number, key: "budget" | "second_budget"): { element: HTMLElement; show: () => void } {
  const settings = solver.settings;
  const range = h("input", { type: "range", id: `${id}-slider`, min: 0, max: kSteps, step: 1, "aria-label": `${name}, slider` });
  const box = numberBox(id, name, settings[key], key === "second_budget" ? 0 : null, (value) => {
    if (value === null) return;
    set(value);
  });
  const open = h("input", { type: "checkbox", id: `${id}-open` });
  const set = (value: number | null) => {
    settings[key] = value;
    show();
    solver.move();
  };
  range.addEventListener("input", () => set(cents((Number(range.value) / kSteps) * most)));
  open.addEventListener("change", () => set(open.checked ? null : cents(0.5 * most)));
  const show = () => {
    const value = settings[key];
    open.checked = value === null;
    range.disabled = value === null || most <= 0;
    box.disabled = value === null;
    if (value !== null) range.value = String(Math.round((kSteps * value) / (most || 1)));
    if (document.activeElement !== box) box.value = value === null ? "" : String(value);
    range.setAttribute("aria-valuetext", value === null ? "no limit" : String(value));
  };
  show();
  return { element: h("fieldset", {}, h("legend", {}, name), range, h("div", { class: "line" }, box, h("label", {}, open, "no limit"))), show };
}

function choice(solver: Solver): { element: HTMLElement; show: () => void } {
  const make = (value: Settings["objective"], label: string) => {
    const input = h("input", { type: "radio", name: "objective", value });
    input.addEventListener("change", () => {
      solver.settings.objective = value;
      solver.move();
    });
    return { input, element: h("label", {}, input, label) };
  };
  const revenue = make("revenue", "most revenue");
  const profit = make("profit", "most profit");
  const worth = numberBox("worth", "One unit of revenue is worth", solver.settings.worth, null, (value) => {
    if (value === null || value <= 0) return;
    solver.settings.worth = value;
    solver.move();
  });
  const least = numberBox("min-roi", "Least revenue per cost", solver.settings.min_roi, 0, (value) => {
    solver.settings.min_roi = value ?? 0;
    solver.move();
  });
  const show = () => {
    revenue.input.checked = solver.settings.objective === "revenue";
    profit.input.checked = solver.settings.objective === "profit";
    if (document.activeElement !== worth) worth.value = String(solver.settings.worth);
    if (document.activeElement !== least) least.value = String(solver.settings.min_roi);
  };
  show();
  return {
    element: h(
      "fieldset",
      {},
      h("legend", {}, "Aim"),
      h("div", { class: "line", role: "radiogroup", "aria-label": "Aim" }, revenue.element, profit.element),
      h("div", { class: "line" }, h("span", {}, "One unit of revenue is worth"), worth),
      h("div", { class: "line" }, h("span", {}, "Least revenue per cost, at the margin"), least),
    ),
    show,
  };
}

function limitsPart(solver: Solver): { element: HTMLElement; show: () => void } {
  const { facts, settings } = solver;
  const box = (key: "min_units" | "max_units", arm: number, word: string) =>
    numberBox(`${key}-${arm}`, `${facts.arms[arm] ?? ""}, ${word} units`, settings[key][arm] ?? null, 0, (value) => {
      settings[key][arm] = value;
      solver.move();
    }, true);
  const boxes = facts.arms.map((_, arm) => [box("min_units", arm, "at least"), box("max_units", arm, "at most")] as const);
  const element = fold(
    "Limits per arm",
    table({
      caption: "Limits per arm, in units",
      hideCaption: true,
      isForm: true,
      columns: [{ title: "arm", kind: "text" }, { title: "at least" }, { title: "at most" }],
      rows: facts.arms.map((label, arm) => [label + (arm === facts.control ? " (control)" : ""), boxes[arm]?.[0] ?? "", boxes[arm]?.[1] ?? ""]),
    }),
  );
  const show = () =>
    boxes.forEach(([least, most], arm) => {
      if (document.activeElement !== least) least.value = String(settings.min_units[arm] ?? "");
      if (document.activeElement !== most) most.value = String(settings.max_units[arm] ?? "");
    });
  return { element, show };
}

function segmentsPart(solver: Solver, format: NumberFormat): { element: Child; show: () => void } {
  const { facts, settings } = solver;
  if (facts.segments.length === 0) return { element: null, show: () => {} };
  const boxes = facts.segments.map((segment, place) =>
    numberBox(`segment-${place}`, `${segment}, budget`, settings.segment_budgets[place] ?? null, null, (value) => {
      settings.segment_budgets[place] = value;
      solver.move();
    }),
  );
  const element = fold(
    "Budgets by segment",
    table({
      caption: "Budgets by segment",
      hideCaption: true,
      isForm: true,
      columns: [{ title: "segment", kind: "text" }, { title: "units" }, { title: "budget" }],
      rows: facts.segments.map((segment, place) => [segment, format.count(facts.units_per_segment[place]), boxes[place] ?? ""]),
    }),
  );
  const show = () =>
    boxes.forEach((one, place) => {
      if (document.activeElement !== one) one.value = String(settings.segment_budgets[place] ?? "");
    });
  return { element, show };
}

function eligibilityPart(solver: Solver): { element: Child; show: () => void } {
  if (!solver.facts.has_eligibility) return { element: null, show: () => {} };
  const box = h("input", { type: "checkbox", id: "eligibility" });
  box.addEventListener("change", () => {
    solver.settings.keep_eligibility = box.checked;
    solver.move();
  });
  const show = () => (box.checked = solver.settings.keep_eligibility);
  show();
  return { element: h("div", { class: "line" }, h("label", {}, box, "only arms that units are eligible for")), show };
}

export interface SettingsPart {
  element: HTMLElement;
  show: () => void; // after settings were set from elsewhere
}

export function settingsPart(solver: Solver, format: NumberFormat): SettingsPart {
  const parts = [
    amount(solver, "Budget, spend above control", "budget", Math.max(solver.facts.most_spend, 0), "budget"),
    choice(solver),
    ...(solver.facts.has_second ? [amount(solver, "Budget of the second resource", "second-budget", solver.facts.most_second, "second_budget")] : []),
    eligibilityPart(solver),
    limitsPart(solver),
    segmentsPart(solver, format),
  ];
  const element = h("section", { class: "settings", "aria-label": "Settings" }, ...parts.map((part) => part.element));
  return { element, show: () => parts.forEach((part) => part.show()) };
}

// SPDX-License-Identifier: Apache-2.0
//
// The bar with the reader's choices: the model, the budget, totals or figures per unit; and the switches of the appendix.
import { symbolOf } from "../cells";
import { isSame } from "../curve";
import { fold, h, type Child } from "../dom";
import { decimalsOf } from "../format";
import { isNumber, type Maybe } from "../results";
import type { View } from "../view";

export function controls(view: View): Child {
  if (view.models.length === 0 || view.stops.length === 0) return null;
  const bar = h("div", { class: "controls", role: "group", "aria-label": "Choices" }, modelChoice(view), slider(view), totalsChoice(view));
  leaveRoom(bar);
  return bar;
}

function modelChoice(view: View): Child {
  const models = view.models.filter((shown) => shown.curve.length > 0);
  if (models.length < 2) return null;
  const select = h("select", { id: "model" }, ...models.map((shown, place) => h("option", { value: place }, shown.title)));
  select.addEventListener("change", () => (view.model = models[Number(select.value)] ?? null));
  const show = () => (select.value = String(view.model ? models.indexOf(view.model) : 0));
  view.onChange(show);
  show();
  return h("div", { class: "choice" }, h("label", { for: "model" }, "Method"), select);
}

function totalsChoice(view: View): Child {
  if (view.units === null) return null;
  const make = (value: string, label: string) => {
    const input = h("input", { type: "radio", name: "scale", value });
    input.addEventListener("change", () => (view.totals = value === "total"));
    return { input, element: h("label", {}, input, h("span", {}, label)) };
  };
  const total = make("total", "totals");
  const perUnit = make("unit", `per ${view.unitName}`);
  const show = () => {
    total.input.checked = view.totals;
    perUnit.input.checked = !view.totals;
  };
  view.onChange(show);
  show();
  return h("div", { class: "segmented", role: "radiogroup", "aria-label": "Figures" }, total.element, perUnit.element);
}

// Switches for the charts and tables of all models.
export function switches(view: View): Child {
  if (view.models.length < 2) return null;
  const boxes = view.models.map((shown) => {
    const box = h("input", { type: "checkbox", checked: view.isActive(shown.name), value: shown.name });
    box.addEventListener("change", () => view.setActive(shown.name, box.checked));
    const remark = shown.model.reference ? " (reference)" : "";
    return h("label", { class: "switch" }, box, symbolOf(shown.look), h("span", {}, shown.title + remark));
  });
  const those = (swept: boolean) => boxes.filter((_, place) => view.models[place]?.swept === swept);
  const tried = those(true);
  return h(
    "fieldset",
    { class: "switches" },
    h("legend", {}, "Models"),
    ...those(false),
    tried.length > 0 ? fold(`${tried.length} with other settings`, h("div", { class: "tried" }, ...tried)) : null,
  );
}

// Links within the page land below the bar where it stays at the top, however high it is.
function leaveRoom(bar: HTMLElement): void {
  new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`)).observe(bar);
}

// "EUR 8,410 (EUR 0.28 per customer)", or the other way round where figures are per unit.
export function budgetWords(view: View, budget: Maybe<number>): string {
  const each = `${view.format.trimmedMoney(budget, budgetDecimals(view))} per ${view.unitName}`;
  const total = view.totalOf(budget);
  if (total === null) return each;
  return view.totals ? `${view.format.money(total)} (${each})` : `${each} (${view.format.money(total)} in total)`;
}

// The slider stops at the budgets that were evaluated, and nowhere between them.
function slider(view: View): HTMLElement {
  const input = h("input", { type: "range", id: "budget", min: 0, step: 1 });
  const output = h("output", { for: "budget", class: "budget-value" });
  const show = () => {
    input.max = String(Math.max(view.stops.length - 1, 0));
    input.value = String(isNumber(view.budget) ? view.stops.indexOf(view.budget) : 0);
    input.disabled = view.stops.length < 2;
    const words = budgetWords(view, view.budget);
    input.setAttribute("aria-valuetext", words);
    output.textContent = words;
  };
  input.addEventListener("input", () => (view.budget = view.stops[Number(input.value)] ?? null));
  view.onChange(show);
  show();
  const decimals = budgetDecimals(view);
  const places = decimalsOf(view.budgets.map((budget) => view.totalOf(budget)).filter(isNumber), 4);
  const jumps = view.budgets.map((budget) => {
    const button = h("button", { type: "button" });
    const mark = () => {
      const total = view.totalOf(budget);
      button.textContent = view.totals && total !== null ? view.format.money(total, places) : view.format.trimmedMoney(budget, decimals);
      button.setAttribute("aria-label", `Budget ${button.textContent}${view.totals ? `, ${view.format.trimmedMoney(budget, decimals)} per ${view.unitName}` : ""}`);
      button.disabled = !view.stops.some((stop) => isSame(stop, budget));
      button.setAttribute("aria-pressed", String(isSame(view.budget, budget)));
    };
    button.addEventListener("click", () => (view.budget = budget));
    view.onChange(mark);
    mark();
    return button;
  });
  return h(
    "div",
    { class: "budget" },
    h("label", { for: "budget" }, "Budget"),
    input,
    output,
    jumps.length > 0 ? h("div", { class: "jumps", role: "group", "aria-label": "Budgets of the study" }, ...jumps) : null,
  );
}

// Enough decimals to tell the budgets and the stops of the slider apart.
export function budgetDecimals(view: View): number {
  const range = view.budgetRange();
  const width = range ? range[1] - range[0] : Math.max(...view.budgets, 1);
  return Math.min(Math.max(Math.ceil(2.3 - Math.log10(width)), 0), 6);
}

// SPDX-License-Identifier: Apache-2.0
//
// The bar with the reader's choices: models on and off, the budget.
import { symbolOf } from "../cells";
import { fold, h, type Child } from "../dom";
import type { View } from "../view";

const kSteps = 400;

export function controls(view: View): Child {
  const range = view.budgetRange();
  if (view.models.length < 2 && !range) return null;
  const bar = h(
    "div",
    { class: "controls", role: "group", "aria-label": "Choices" },
    view.models.length > 1 ? switches(view) : null,
    range ? slider(view, range) : null,
  );
  leaveRoom(bar);
  return bar;
}

function switches(view: View): HTMLElement {
  const boxes = view.models.map((shown) => {
    const box = h("input", { type: "checkbox", checked: view.isActive(shown.name), value: shown.name });
    box.addEventListener("change", () => view.setActive(shown.name, box.checked));
    const remark = shown.model.reference ? " (reference)" : "";
    return h("label", { class: "switch" }, box, symbolOf(shown.look), h("span", {}, shown.name + remark));
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

function slider(view: View, [low, high]: [number, number]): HTMLElement {
  const position = (budget: number) => Math.round((kSteps * (budget - low)) / (high - low));
  const decimals = budgetDecimals(view);
  const words = () => {
    const total = view.totalOf(view.budget);
    return `${view.format.money(view.budget, decimals)} per unit` + (total === null ? "" : `, ${view.format.money(total)} in total`);
  };
  const input = h("input", { type: "range", id: "budget", min: 0, max: kSteps, step: 1 });
  const output = h("output", { for: "budget", class: "budget-value" });
  const show = () => {
    input.value = String(position(view.budget ?? low));
    input.setAttribute("aria-valuetext", words());
    output.textContent = words();
  };
  input.addEventListener("input", () => {
    view.budget = low + (Number(input.value) / kSteps) * (high - low);
  });
  view.onChange(show);
  show();
  const beyond = (budget: number) => budget < low || budget > high;
  const jumps = view.budgets.map((budget) => {
    const label = view.format.fixed(budget, decimals);
    const button = h("button", { type: "button", disabled: beyond(budget), "aria-label": `Budget ${view.format.money(budget, decimals)} per unit` }, label);
    const mark = () => button.setAttribute("aria-pressed", String(view.budget === budget));
    button.addEventListener("click", () => (view.budget = budget));
    view.onChange(mark);
    mark();
    return button;
  });
  const reason = `The curves go from ${view.format.fixed(low, decimals)} to ${view.format.fixed(high, decimals)}; budgets of the study beyond them cannot be chosen.`;
  return h(
    "div",
    { class: "budget" },
    h("label", { for: "budget" }, "Budget"),
    input,
    output,
    jumps.length > 0 ? h("div", { class: "jumps", role: "group", "aria-label": "Budgets of the study" }, ...jumps) : null,
    view.budgets.some(beyond) ? h("small", {}, reason) : null,
  );
}

// Enough decimals to tell the budgets and the steps of the slider apart.
export function budgetDecimals(view: View): number {
  const range = view.budgetRange();
  const width = range ? range[1] - range[0] : Math.max(...view.budgets, 1);
  return Math.min(Math.max(Math.ceil(2.3 - Math.log10(width)), 0), 6);
}

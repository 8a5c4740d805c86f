// SPDX-License-Identifier: Apache-2.0
//
// The plan for the settings as they are: money, proof, who gets what, who changes, and the plan as a file.
import { barX } from "@observablehq/plot";
import { chart, labelWidth, shortNames, tickFormat } from "../chart";
import { fold, h, note, replaceChildren, section, table, type Child } from "../dom";
import { kMissing, type NumberFormat } from "../format";
import { isNumber } from "../results";
import { announce } from "../save";
import type { Answer, Plan, Solver } from "./solver";

// As the program says it: "optimal within gap", "budget not binding", ...
export function statusWords(plan: Plan): string {
  return plan.status;
}

function tile(name: string, big: string, words: string): HTMLElement {
  return h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, h("span", { class: "big" }, big), h("small", {}, words)));
}

function tiles(format: NumberFormat, plan: Plan): Child[] {
  const two = (value: number | undefined, signed = false) => (signed ? format.signed(value, 2) : format.fixed(value, 2));
  const gap = isNumber(plan.gap) ? `at most ${format.plain(Math.max(plan.gap, 0))} below the best possible` : "";
  return [
    tile("Spend above control", two(plan.incremental_cost), isNumber(plan.budget) ? `of ${format.fixed(plan.budget, 2)}` : "no limit"),
    tile("Extra revenue", two(plan.incremental_revenue, true), `predicted; ${gap}`),
    tile("Profit", two(plan.incremental_profit, true), "extra revenue at its worth, after spend"),
    tile("Return on investment", isNumber(plan.roi) ? (plan.roi > 0 ? "+" : "") + format.percent(plan.roi) : kMissing, isNumber(plan.multiplier) ? `1 more brings ${format.plain(plan.multiplier)}` : ""),
  ];
}

function stateWords(solver: Solver, format: NumberFormat): string {
  if (solver.isBusy) return "planning\u2026";
  const answer = solver.answer;
  if (!answer || solver.trouble) return "";
  return `${statusWords(answer.plan)}; ${format.count(answer.plan.units)} units planned in ${format.fixed(answer.milliseconds, 0)} ms`;
}

function armsChart(solver: Solver, format: NumberFormat): HTMLElement {
  const arms = solver.facts.arms;
  return chart(solver, "Units in each arm", (width) => {
    const counts = solver.answer?.plan.units_per_arm;
    if (!counts) return "There is no plan.";
    const rows = arms.map((label, arm) => ({ label, arm, units: counts[label] ?? 0 }));
    const most = width < 500 ? 14 : 26;
    const short = shortNames(arms, most);
    return {
      height: 50 + 24 * arms.length,
      marginTop: 6,
      marginLeft: labelWidth(arms, most),
      marginRight: 40,
      x: { label: "units", grid: true, tickFormat: tickFormat(format, 0, Math.max(...rows.map((row) => row.units), 1)), ticks: width < 500 ? 3 : 6 },
      y: { label: null, domain: arms, tickFormat: (label: string) => short.get(label) ?? label, padding: 0.2 },
      marks: [barX(rows, { x: "units", y: "label", fill: (row) => (row.arm === solver.facts.control ? "var(--arm-control)" : "var(--series-0)"), title: (row) => `${row.label}: ${format.count(row.units)} units`, tip: true })],
    };
  });
}

function armsTable(solver: Solver, format: NumberFormat, answer: Answer): Child {
  const counts = answer.plan.units_per_arm;
  if (!counts) return null;
  return table({
    caption: "Units in each arm",
    hideCaption: true,
    columns: [{ title: "arm", kind: "text" }, { title: "units" }, { title: "share" }],
    rows: solver.facts.arms.map((label) => [label, format.count(counts[label]), format.percent((counts[label] ?? 0) / answer.plan.units)]),
  });
}

function spendTable(format: NumberFormat, plan: Plan): Child {
  const rows = [...Object.entries(plan.segments ?? {}), ...(plan.second ? [["second resource", plan.second] as const] : [])];
  if (rows.length === 0) return null;
  return table({
    caption: "Spend under budgets of their own",
    columns: [{ title: "what", kind: "text" }, { title: "spend, control included" }, { title: "multiplier" }],
    rows: rows.map(([name, one]) => [name, format.fixed(one.spend, 2), format.plain(one.multiplier)]),
  });
}

function changes(solver: Solver, format: NumberFormat, answer: Answer): Child {
  const arms = solver.facts.arms;
  const moved = answer.moves.flatMap((row, from) => row.flatMap((units, to) => (to !== from && units > 0 ? [{ from: arms[from] ?? "", to: arms[to] ?? "", units }] : [])));
  if (answer.moves.length === 0) return null;
  const all = moved.reduce((sum, move) => sum + move.units, 0);
  moved.sort((a, b) => b.units - a.units);
  return h(
    "div",
    { id: "changes" },
    h("h3", {}, `Who changes: ${format.count(all)} units get another arm than in the plan compared with`),
    moved.length > 0
      ? table({ caption: "Who changes", hideCaption: true, columns: [{ title: "from", kind: "text" }, { title: "to", kind: "text" }, { title: "units" }], rows: moved.slice(0, 40).map((move) => [move.from, move.to, format.count(move.units)]) })
      : null,
  );
}

export function answersPart(solver: Solver, format: NumberFormat): HTMLElement {
  const state = h("p", { class: "state", id: "state", role: "status" });
  const waited = h("p", { class: "state", "aria-hidden": "true" }); // not said aloud every second
  setInterval(() => {
    const seconds = solver.isBusy ? Math.floor(solver.secondsWaited) : 0;
    waited.textContent = seconds > 0 ? `${seconds} s; the next move gives this one up` : "";
  }, 500);
  const trouble = h("div", { class: "trouble", role: "alert" });
  const figures = h("dl", { class: "tiles" });
  const below = h("div", {});
  const compare = h("button", { type: "button" }, "Compare with this plan");
  compare.addEventListener("click", () => solver.move(true));
  const [parquet, csv] = (["parquet", "csv"] as const).map((form) => h("a", { download: `plan.${form}` }, `Plan as ${form === "csv" ? "CSV" : "Parquet"}`));
  const actions = h("div", { class: "actions" }, compare, parquet, csv);
  let said = 0;
  const redraw = () => {
    const answer = solver.answer;
    const hasPlan = answer?.plan.units_per_arm !== undefined;
    state.textContent = stateWords(solver, format);
    state.dataset["busy"] = String(solver.isBusy);
    trouble.textContent = solver.trouble || (answer && !hasPlan && !solver.isBusy ? `${statusWords(answer.plan)}: the least that can be spent is ${format.fixed(answer.plan.least_spend, 2)} above control.` : "");
    actions.hidden = !hasPlan;
    if (!answer || answer.id === said) return;
    said = answer.id;
    figures.dataset["id"] = String(answer.id);
    replaceChildren(figures, ...tiles(format, answer.plan));
    if (parquet && csv) {
      parquet.setAttribute("href", `plan/${answer.id}.parquet`);
      csv.setAttribute("href", `plan/${answer.id}.csv`);
    }
    replaceChildren(below, spendTable(format, answer.plan), changes(solver, format, answer), fold("Units in each arm as a table", armsTable(solver, format, answer)));
    announce(`Spend ${format.fixed(answer.plan.incremental_cost, 2)}, extra revenue ${format.fixed(answer.plan.incremental_revenue, 2)}, profit ${format.fixed(answer.plan.incremental_profit, 2)}.`);
  };
  solver.onChange(redraw);
  redraw();
  return section("plan", "The plan", figures, state, waited, trouble, actions, h("figure", {}, h("figcaption", {}, "Units in each arm"), armsChart(solver, format)), below, note("Figures are predictions, in totals. The bound is proven: no plan within these limits is better by more."));
}

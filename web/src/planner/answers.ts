// SPDX-License-Identifier: Apache-2.0
//
// The plan for the settings as they are: money, proof, who gets what, who changes, and the plan as a file.
import { barX } from "@observablehq/plot";
import { chart, labelWidth, shortNames, tickFormat } from "../chart";
import { fold, h, note, replaceChildren, section, table, type Child } from "../dom";
import { kMissing, type NumberFormat } from "../format";
import { isNumber } from "../results";
import { announce } from "../save";
import { tile } from "../tile";
import type { Answer, Facts, Plan, Solver } from "./solver";

// As the program says it, "budget not binding" for one; in plainer words where those of results files are terse.
export function statusWords(plan: Plan): string {
  return plan.status === "optimal within gap" ? "the best plan, within the gap" : plan.status;
}

function tiles(format: NumberFormat, facts: Facts, plan: Plan): Child[] {
  const one = (name: string, big: string, words: string) => tile(name, { big, range: "" }, words);
  const gap = isNumber(plan.gap) ? `predicted; at most ${format.plain(Math.max(plan.gap, 0))} below the best possible` : "predicted";
  const revenue = facts.revenue_is_money ? format.signedMoney(plan.incremental_revenue, 2) : format.signed(plan.incremental_revenue, 2);
  const next = isNumber(plan.multiplier) && plan.multiplier > 0 ? `${format.currency ? format.money(1, 0) : "1"} more of budget would bring ${facts.revenue_is_money ? format.money(plan.multiplier) : format.plain(plan.multiplier)}` : "more money would bring nothing";
  return [
    one("Spend above control", format.money(plan.incremental_cost, 2), isNumber(plan.budget) ? `of ${format.money(plan.budget, 2)}` : "no limit"),
    one("Extra revenue", revenue, gap),
    one("Profit", format.signedMoney(plan.incremental_profit, 2), "extra revenue at its worth, less spend"),
    one("Return on investment", isNumber(plan.roi) ? (plan.roi > 0 ? "+" : "") + format.percent(plan.roi) : kMissing, next),
  ];
}

function stateWords(solver: Solver, format: NumberFormat): string {
  if (solver.isBusy) return "planning\u2026";
  const answer = solver.answer;
  if (!answer || solver.trouble) return "";
  return `${statusWords(answer.plan)}; ${format.count(answer.plan.units)} ${solver.facts.unit_plural} planned in ${format.fixed(answer.milliseconds, 0)} ms`;
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
      x: { label: solver.facts.unit_plural, grid: true, tickFormat: tickFormat(format, 0, Math.max(...rows.map((row) => row.units), 1)), ticks: width < 500 ? 3 : 6 },
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
    rows: rows.map(([name, one]) => [name, name === "second resource" ? format.fixed(one.spend, 2) : format.money(one.spend, 2), format.plain(one.multiplier)]),
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
    h("h3", {}, `${format.count(all)} ${solver.facts.unit_plural} change arms from the plan compared with`),
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
    trouble.textContent = solver.trouble || (answer && !hasPlan && !solver.isBusy ? `${statusWords(answer.plan)}: the least that can be spent is ${format.money(answer.plan.least_spend, 2)} above control.` : "");
    actions.hidden = !hasPlan;
    if (!answer || answer.id === said) return;
    said = answer.id;
    figures.dataset["id"] = String(answer.id);
    replaceChildren(figures, ...tiles(format, solver.facts, answer.plan));
    figures.classList.toggle("long", [...figures.querySelectorAll(".big")].some((one) => (one.textContent ?? "").length > 13)); // two in a row
    if (parquet && csv) {
      parquet.setAttribute("href", `plan/${answer.id}.parquet`);
      csv.setAttribute("href", `plan/${answer.id}.csv`);
    }
    replaceChildren(below, spendTable(format, answer.plan), changes(solver, format, answer), fold("Units in each arm as a table", armsTable(solver, format, answer)));
    announce(`Spend ${format.money(answer.plan.incremental_cost, 2)}, extra revenue ${format.fixed(answer.plan.incremental_revenue, 2)}, profit ${format.money(answer.plan.incremental_profit, 2)}.`);
  };
  solver.onChange(redraw);
  redraw();
  return section("plan", "The plan", figures, state, waited, trouble, actions, h("figure", {}, h("figcaption", {}, "Units in each arm"), armsChart(solver, format)), below, note("Figures are predictions, in totals. The bound is proven: no plan within these limits is better by more."));
}

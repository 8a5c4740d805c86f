// SPDX-License-Identifier: Apache-2.0
//
// Scenarios: settings with their figures under a name, side by side, kept in a file of the reader's.
import { h, replaceChildren, section, table } from "../dom";
import { kMissing, type NumberFormat } from "../format";
import { isNumber } from "../results";
import { announce, save } from "../save";
import { statusWords } from "./answers";
import { startSettings, type Facts, type Plan, type Settings, type Solver } from "./solver";

interface Scenario {
  name: string;
  settings: Settings;
  plan: Plan;
}

const kFormat = "dfcl-scenarios";
const kMostBytes = 1_000_000;
const kMostScenarios = 50;

// Scenarios of a file that fit these units; throws with a sentence otherwise.
function readFile(text: string, facts: Facts): Scenario[] {
  const file = JSON.parse(text) as { format?: string; arms?: string[]; segments?: string[]; scenarios?: Scenario[] };
  if (file.format !== kFormat || !Array.isArray(file.scenarios)) throw new Error("This is no file of scenarios.");
  if (JSON.stringify(file.arms) !== JSON.stringify(facts.arms) || JSON.stringify(file.segments) !== JSON.stringify(facts.segments)) throw new Error("These scenarios are of other arms or segments.");
  return file.scenarios.slice(0, kMostScenarios).map((one) => ({ name: String(one.name), settings: sound(one.settings, facts), plan: { ...one.plan, status: String(one.plan?.status), units: Number(one.plan?.units) } }));
}

// Settings of a file, each of its kind or as at the start; the program checks them again.
function sound(given: Partial<Settings>, facts: Facts): Settings {
  const start = startSettings(facts);
  const number = (value: unknown, instead: number) => (isNumber(value) ? value : instead);
  const amount = (value: unknown) => (isNumber(value) ? value : null);
  const amounts = (values: unknown, size: number) => Array.from({ length: size }, (_, place) => amount(Array.isArray(values) ? values[place] : null));
  return {
    budget: amount(given?.budget),
    objective: given?.objective === "profit" ? "profit" : "revenue",
    worth: number(given?.worth, start.worth),
    min_roi: number(given?.min_roi, 0),
    min_units: amounts(given?.min_units, facts.arms.length),
    max_units: amounts(given?.max_units, facts.arms.length),
    segment_budgets: amounts(given?.segment_budgets, facts.segments.length),
    second_budget: amount(given?.second_budget),
    keep_eligibility: given?.keep_eligibility !== false,
  };
}

function limitWords(one: Settings, facts: Facts): string {
  const limits = facts.arms.flatMap((label, arm) => {
    const [least, most] = [one.min_units[arm] ?? null, one.max_units[arm] ?? null];
    return [...(least === null ? [] : [`${label} \u2265 ${least}`]), ...(most === null ? [] : [`${label} \u2264 ${most}`])];
  });
  const segments = one.segment_budgets.filter((budget) => budget !== null).length;
  if (segments > 0) limits.push(`${segments} segment budgets`);
  if (one.second_budget !== null) limits.push(`second resource \u2264 ${one.second_budget}`);
  if (one.min_roi > 0) limits.push(`revenue per cost \u2265 ${one.min_roi}`);
  if (facts.has_eligibility && !one.keep_eligibility) limits.push("eligibility set aside");
  return limits.join(", ");
}

export function scenariosPart(solver: Solver, format: NumberFormat, applied: () => void): HTMLElement {
  const facts = solver.facts;
  let kept: Scenario[] = [];
  const list = h("div", {});
  const trouble = h("div", { class: "trouble", role: "alert" });
  const name = h("input", { type: "text", id: "scenario", maxlength: 80 });
  const add = h("button", { type: "submit" }, "Keep this plan");
  const form = h("form", { class: "actions" }, h("label", { for: "scenario" }, "Name"), name, add);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!solver.answer || kept.length >= kMostScenarios) return;
    const title = name.value.trim() || `Scenario ${kept.length + 1}`;
    kept = [...kept.filter((one) => one.name !== title), { name: title, settings: solver.answer.settings, plan: solver.answer.plan }];
    name.value = "";
    redraw();
    announce(`${title} is kept.`);
  });
  const keep = h("button", { type: "button" }, "Save scenarios to a file");
  keep.addEventListener("click", () => save("scenarios.json", new Blob([JSON.stringify({ format: kFormat, arms: facts.arms, segments: facts.segments, scenarios: kept }, null, 1)], { type: "application/json" })));
  const file = h("input", { type: "file", accept: ".json,application/json", class: "visually-hidden", id: "scenario-file" });
  file.addEventListener("change", () => void open());
  const open = async () => {
    const chosen = file.files?.[0];
    file.value = "";
    if (!chosen) return;
    try {
      if (chosen.size > kMostBytes) throw new Error("This file is too large.");
      kept = readFile(await chosen.text(), facts);
      trouble.textContent = "";
    } catch (error) {
      trouble.textContent = error instanceof SyntaxError || !(error instanceof Error) ? "This is no file of scenarios." : error.message;
    }
    redraw();
  };
  const apply = (one: Scenario) => {
    Object.assign(solver.settings, structuredClone(one.settings));
    applied();
    solver.move();
  };
  const button = (label: string, title: string, act: () => void) => {
    const made = h("button", { type: "button", "aria-label": `${label} ${title}` }, label);
    made.addEventListener("click", act);
    return made;
  };
  const redraw = () => {
    keep.disabled = kept.length === 0;
    const two = (value: number | undefined) => (isNumber(value) ? format.fixed(value, 2) : kMissing);
    const unit = format.currency ? `, ${format.currency}` : "";
    const rows = kept.map((one) => [
      one.name,
      h("span", { class: "line" }, button("Show", one.name, () => apply(one)), button("Remove", one.name, () => ((kept = kept.filter((other) => other !== one)), redraw()))),
      one.settings.budget === null ? "no limit" : two(one.settings.budget),
      two(one.plan.incremental_cost),
      two(one.plan.incremental_revenue),
      two(one.plan.incremental_profit),
      isNumber(one.plan.roi) ? format.percent(one.plan.roi) : kMissing,
      ...facts.arms.map((label) => format.count(one.plan.units_per_arm?.[label])),
      one.settings.objective,
      limitWords(one.settings, facts),
      statusWords(one.plan),
    ]);
    const columns = [{ title: "scenario", kind: "text" as const }, { title: "", kind: "text" as const }, ...[`budget${unit}`, `spend${unit}`, "extra revenue", `profit${unit}`, "ROI", ...facts.arms].map((title) => ({ title })), { title: "aim", kind: "text" as const }, { title: "limits", kind: "wide" as const }, { title: "status", kind: "wide" as const }];
    replaceChildren(list, rows.length > 0 ? table({ caption: "Scenarios side by side", hideCaption: true, columns, rows }) : h("p", { class: "empty" }, "Keep a plan to compare it with others."));
  };
  redraw();
  return section("scenarios", "Scenarios", form, list, trouble, h("div", { class: "actions" }, keep, h("label", { class: "file-button" }, "Open a file of scenarios", file)));
}

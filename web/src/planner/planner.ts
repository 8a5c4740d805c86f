// SPDX-License-Identifier: Apache-2.0
//
// The page of dfcl serve: settings, the plan they give, scenarios side by side.
import { h } from "../dom";
import { NumberFormat } from "../format";
import { answersPart } from "./answers";
import { scenariosPart } from "./scenarios";
import { settingsPart } from "./settings";
import { Solver, startSettings, type Facts } from "./solver";

function head(facts: Facts, format: NumberFormat): HTMLElement {
  const words = `${format.count(facts.units)} ${facts.unit_plural}, ${facts.arms.length} arms, control \u201c${facts.arms[facts.control] ?? ""}\u201d`;
  return h(
    "header",
    { class: "answer" },
    h("p", { class: "kicker" }, facts.source),
    h("h1", {}, "Plan a budget"),
    h("p", { class: "lead" }, `${words}. Every change re-plans all of them.`, facts.has_report ? " " : null, facts.has_report ? h("a", { href: "report" }, "The report") : null),
    ...facts.warnings.map((warning) => h("p", { class: "note" }, warning)),
  );
}

function show(facts: Facts): void {
  const format = new NumberFormat({ currency: facts.currency, decimal: ".", thousands: "," });
  const solver = new Solver(facts, startSettings(facts));
  const settings = settingsPart(solver, format);
  const page = document.getElementById("page");
  page?.classList.add("planner");
  page?.append(
    head(facts, format),
    h("div", { class: "desk" }, settings.element, h("div", {}, answersPart(solver, format), scenariosPart(solver, format, settings.show))),
    h("footer", {}, "Served by dfcl from this machine. Nothing is loaded from elsewhere, and only downloads are written."),
  );
  solver.move();
}

show(JSON.parse(document.getElementById("facts")?.textContent ?? "{}") as Facts);

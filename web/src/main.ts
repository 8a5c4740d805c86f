// SPDX-License-Identifier: Apache-2.0
//
// The page: reads the results embedded in it and puts the sections below each other, the answer first; what only analysts
// ask for is folded at the end.
import { h, type Child } from "./dom";
import type { Results } from "./results";
import { answer } from "./sections/answer";
import { baselines } from "./sections/baselines";
import { calibration } from "./sections/calibration";
import { check } from "./sections/check";
import { controls, switches } from "./sections/controls";
import { curves } from "./sections/curves";
import { decision } from "./sections/decision";
import { differences } from "./sections/differences";
import { figures, tables } from "./sections/free";
import { how } from "./sections/how";
import { sideBySide } from "./sections/models";
import { readout } from "./sections/readout";
import { spend } from "./sections/spend";
import { sure } from "./sections/sure";
import { rankingCurves } from "./sections/uplift";
import { ranking, values } from "./sections/values";
import { importance, who } from "./sections/who";
import { View } from "./view";

function contents(sections: HTMLElement[], name = "Contents"): Child {
  if (sections.length < 3) return null;
  const links = sections.map((one) => h("li", {}, h("a", { href: `#${one.id}` }, one.querySelector("h2")?.textContent ?? "")));
  return h("nav", { class: "contents", "aria-label": name }, h("ul", {}, ...links));
}

function present(parts: Child[]): HTMLElement[] {
  return parts.filter((one): one is HTMLElement => one instanceof HTMLElement);
}

// Closed at first; a link into it opens it.
function appendix(view: View, sections: HTMLElement[]): HTMLElement | null {
  if (sections.length === 0) return null;
  const title = h("h2", { id: "appendix-title" }, "Appendix for analysts");
  const folded = h("details", { class: "appendix" }, h("summary", {}, title), switches(view), contents(sections, "Contents of the appendix"), ...sections);
  return h("section", { id: "appendix", "aria-labelledby": "appendix-title" }, folded);
}

function show(results: Results): void {
  const view = new View(results);
  const kind = results.kind || "evaluation";
  const free = present([...figures(view), ...tables(view)]);
  const analysts = present([curves(view), differences(view), baselines(view), values(view), calibration(view), ranking(view), rankingCurves(view), importance(view), check(view), how(view)]);
  const decided = present([decision(view), kind === "comparison" ? sideBySide(view) : null, spend(view), who(view), sure(view)]);
  const more = kind === "evaluation" ? present([sideBySide(view)]) : [];
  // Where there is no plan to decide on, the free figures are what the file is about.
  const isDecision = decided.length > 0 && view.models.length > 0;
  const main = isDecision ? decided : present([readout(view), ...free, sure(view)]);
  const last = appendix(view, isDecision ? [...more, ...free, ...analysts] : analysts);
  const sections = present([...main, last]);
  const parts = [answer(view), controls(view), contents(sections), ...sections, h("footer", {}, madeBy(results))];
  document.getElementById("page")?.append(...present(parts));
}

function madeBy(results: Results): string {
  const version = results.made_by?.version ? ` ${results.made_by.version}` : "";
  return `Made by dfcl${version}. This file holds aggregates only and loads nothing from elsewhere.`;
}

show(JSON.parse(document.getElementById("results")?.textContent ?? "{}") as Results);

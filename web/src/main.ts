// SPDX-License-Identifier: Apache-2.0
//
// The page: reads the results embedded in it and puts the sections below each other, the answer first.
import { h, type Child } from "./dom";
import type { Results } from "./results";
import { allocation } from "./sections/allocation";
import { answer } from "./sections/answer";
import { baselines } from "./sections/baselines";
import { budget } from "./sections/budget";
import { calibration } from "./sections/calibration";
import { check } from "./sections/check";
import { controls } from "./sections/controls";
import { curves } from "./sections/curves";
import { differences } from "./sections/differences";
import { figures, tables } from "./sections/free";
import { how } from "./sections/how";
import { ranking, values } from "./sections/values";
import { View } from "./view";

function contents(sections: HTMLElement[]): Child {
  if (sections.length < 3) return null;
  const links = sections.map((one) => h("li", {}, h("a", { href: `#${one.id}` }, one.querySelector("h2")?.textContent ?? "")));
  return h("nav", { class: "contents", "aria-label": "Contents" }, h("ul", {}, ...links));
}

function show(results: Results): void {
  const view = new View(results);
  const free = [...figures(view), ...tables(view)];
  const evaluation = [budget(view), curves(view), baselines(view), differences(view), values(view), calibration(view), allocation(view), ranking(view)];
  // Where the free figures are what the file is about, they come first.
  const ordered = results.kind === "evaluation" || !results.kind ? [...evaluation, ...free] : [...free, ...evaluation];
  const sections = [...ordered, check(view), how(view)].filter((one): one is HTMLElement => one instanceof HTMLElement);
  const parts = [answer(view), contents(sections), controls(view), ...sections, h("footer", {}, madeBy(results))];
  document.getElementById("page")?.append(...parts.filter((part): part is HTMLElement => part instanceof HTMLElement));
}

function madeBy(results: Results): string {
  const version = results.made_by?.version ? ` ${results.made_by.version}` : "";
  return `Made by dfcl${version}. This file holds aggregates only and loads nothing from elsewhere.`;
}

show(JSON.parse(document.getElementById("results")?.textContent ?? "{}") as Results);

// SPDX-License-Identifier: Apache-2.0
//
// The top of the page: title, the answer in one sentence, what it rests on.
import { fold, h, type Child } from "../dom";
import { isNumber, list } from "../results";
import type { View } from "../view";

const kStatusWords: Record<string, string> = {
  launch: "Launch",
  roll_out: "Roll out simply",
  pays_back: "Pays back",
  keep_rule: "Keep today's rule",
  harms: "Harms a guardrail",
  gain_shown: "Gain shown",
  not_shown: "Not shown",
  loses: "Do not launch",
  unfit: "Unfit",
};
const kAnswerWords: Record<string, string> = { yes: "yes", no: "no", not_shown: "not shown", depends: "depends on what revenue is worth" };

// The two questions of an evaluation, each with its answer.
function twoAnswers(view: View): Child {
  const verdict = view.results.verdict;
  if (!verdict?.pays_back) return null;
  const word = (key: string) => (Object.hasOwn(kAnswerWords, key) ? (kAnswerWords[key] ?? key) : key);
  return h("p", { class: "answers" }, `Pays back: ${word(verdict.pays_back)}. Targeting beats random: ${word(verdict.beats_random ?? "not_shown")}.`);
}

// What has been launched already is not to be launched; the size of a trial has no verdict.
function statusWord(kind: string, status: string): string {
  if (kind === "power") return "";
  const isLaunched = kind === "readout" || kind === "deployment";
  if (isLaunched && status === "launch") return "Gain shown";
  if (isLaunched && status === "loses") return "Loss shown";
  return Object.hasOwn(kStatusWords, status) ? (kStatusWords[status] ?? "") : status;
}
const kKindWords: Record<string, string> = {
  evaluation: "Evaluation of plans",
  comparison: "Comparison of methods",
  deployment: "Simulated deployment",
  readout: "Readout of a launch",
  power: "Size of the next trial",
};

// Remarks that stand below the sentence of pages that are no evaluation.
const kDetails = 5;

function bullets(items: string[]): Child {
  return items.length > 0 ? h("ul", {}, ...items.map((item) => h("li", {}, item))) : null;
}

export function answer(view: View): HTMLElement {
  const results = view.results;
  const kind = kKindWords[results.kind ?? ""] ?? "Results";
  const title = results.report?.title || kind;
  const status = results.verdict?.status ?? "";
  const word = statusWord(results.kind ?? "", status);
  // Those of evaluations stand where they are asked for: "How sure is this".
  const details = view.models.length > 0 ? [] : list(results.verdict?.details);
  return h(
    "header",
    { class: "answer" },
    h("p", { class: "kicker" }, kind),
    h("h1", {}, title),
    results.verdict
      ? h(
          "div",
          { class: "verdict", "data-status": word && Object.hasOwn(kStatusWords, status) ? status : "other" },
          word ? h("p", { class: "status" }, word) : null,
          twoAnswers(view),
          results.verdict.sentence ? h("p", { class: "sentence" }, results.verdict.sentence) : null,
          bullets(details.slice(0, kDetails)),
          details.length > kDetails ? fold(`${details.length - kDetails} more remarks`, bullets(details.slice(kDetails))) : null,
        )
      : null,
    facts(view),
  );
}

function facts(view: View): Child {
  const results = view.results;
  const format = view.format;
  const rows: [string, string][] = [];
  if (view.units !== null) {
    const split = results.trial?.split ? ` (${results.trial.split} split)` : "";
    rows.push([view.unitName === "unit" ? "Units" : `Measured on`, view.unitName === "unit" ? format.count(view.units) + split : view.unitCount(view.units) + split]);
  }
  if (isNumber(results.trial?.clusters)) rows.push(["Clusters", format.count(results.trial.clusters)]);
  if (view.arms.length > 0) rows.push(["Arms", format.count(view.arms.length)]);
  const control = results.control?.revenue?.value;
  if (isNumber(control)) rows.push([`${view.revenueName} of control, per ${view.unitName}`, format.plain(control)]);
  if (rows.length === 0) return null;
  return h("dl", { class: "facts" }, ...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

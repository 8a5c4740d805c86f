// SPDX-License-Identifier: Apache-2.0
//
// The trial check, as dfcl check reported it.
import { dot, ruleX, ruleY } from "@observablehq/plot";
import { intervalCell } from "../cells";
import { chart, labelWidth, shortNames } from "../chart";
import { h, section, table, type Child } from "../dom";
import { decimalsOfIntervals } from "../format";
import { isNumber, list, type Check, type Finding, type Results } from "../results";
import type { View } from "../view";

const kFeatures = 15;

export function check(view: View): Child {
  const result = view.results.check;
  const arms = result ? checkArms(view, result) : trialArms(view, view.results.trial);
  if (!result && !arms) return null;
  const verdict = result?.verdict === "fit" ? "The trial is fit to learn from." : result?.verdict === "unfit" ? "The trial is unfit to learn from." : null;
  return section(
    "check",
    "The trial",
    verdict ? h("p", { class: "lead" }, verdict) : null,
    findings("Problems", list(result?.problems)),
    findings("Warnings", list(result?.warnings)),
    result ? tests(view, result) : null,
    arms,
    result ? balanceChart(view, result) : null,
    list(result?.notes).length > 0 ? h("ul", {}, ...list(result?.notes).map((text) => h("li", {}, text))) : null,
  );
}

function findings(title: string, items: Finding[]): Child {
  if (items.length === 0) return null;
  const lines = items.map((item) => h("li", {}, item.text ?? "", item.hint ? h("small", {}, ` ${item.hint}`) : null));
  return h("div", { class: "findings" }, h("h3", {}, title), h("ul", {}, ...lines));
}

function tests(view: View, result: Check): Child {
  const lines: string[] = [];
  const ratio = result.sample_ratio;
  if (ratio?.run) lines.push(`Sample ratio: p = ${view.format.pValue(ratio.p)} (chi-square ${view.format.plain(ratio.chi_square)}, ${view.format.count(ratio.degrees)} degrees of freedom).`);
  else if (ratio) lines.push(`Sample ratio: not tested${ratio.why_not ? `, ${ratio.why_not}` : ""}.`);
  const balance = result.balance;
  if (balance?.run) lines.push(`Balance of the features between the arms: p = ${view.format.pValue(balance.p)}, ${view.format.count(balance.columns)} columns.`);
  else if (balance) lines.push(`Balance of the features: not tested${balance.why_not ? `, ${balance.why_not}` : ""}.`);
  return lines.length > 0 ? h("ul", {}, ...lines.map((line) => h("li", {}, line))) : null;
}

function checkArms(view: View, result: Check): Child {
  const arms = list(result.arms);
  if (arms.length === 0) return trialArms(view, view.results.trial);
  const revenue = decimalsOfIntervals(arms.map((arm) => arm.revenue));
  const cost = decimalsOfIntervals(arms.map((arm) => arm.cost));
  const designed = arms.some((arm) => isNumber(arm.designed_share));
  return table({
    caption: "Arms of the trial: means per unit",
    columns: [
      { title: "Arm", kind: "text" },
      { title: "units" },
      { title: "share" },
      ...(designed ? [{ title: "designed" }] : []),
      { title: view.revenueName },
      { title: "against control" },
      { title: view.costName },
      { title: "against control" },
    ],
    rows: arms.map((arm) => [
      (arm.arm ?? "") + (arm.control ? " (control)" : ""),
      view.format.count(arm.units),
      view.format.percent(arm.share),
      ...(designed ? [view.format.percent(arm.designed_share)] : []),
      intervalCell(view, arm.revenue, revenue),
      arm.control ? "" : intervalCell(view, arm.revenue_difference, revenue, 1, true),
      intervalCell(view, arm.cost, cost),
      arm.control ? "" : intervalCell(view, arm.cost_difference, cost, 1, true),
    ]),
  });
}

function trialArms(view: View, trial: Results["trial"]): Child {
  const arms = list(trial?.arms);
  if (arms.length === 0) return null;
  return table({
    caption: "Arms of the trial",
    columns: [{ title: "Arm", kind: "text" }, { title: "units" }, { title: "share" }],
    rows: arms.map((arm) => [(arm.label ?? "") + (arm.control ? " (control)" : ""), view.format.count(arm.units), view.format.percent(arm.share)]),
  });
}

function balanceChart(view: View, result: Check): Child {
  const features = list(result.balance?.features)
    .flatMap((feature) => (isNumber(feature.difference) ? [{ ...feature, name: feature.name ?? "", size: Math.abs(feature.difference) }] : []))
    .sort((a, b) => b.size - a.size)
    .slice(0, kFeatures);
  if (features.length === 0) return null;
  const names = features.map((feature) => feature.name);
  const drawn = chart(view, "Largest differences of the features between the arms", (width) => {
    const most = width < 500 ? 16 : 30;
    const short = shortNames(names, most);
    return {
      height: 54 + 18 * features.length,
      marginTop: 6,
      marginLeft: labelWidth(names, most),
      x: { label: "largest standardised difference between arms", grid: true, tickFormat: (value: number) => view.format.trimmed(value, 3), ticks: 5, domain: [0, Math.max(0.1, ...features.map((feature) => feature.size))] },
      y: { label: null, domain: features.map((_, place) => place), tickFormat: (place: number) => short.get(names[place] ?? "") ?? "", type: "point" as const },
      marks: [
        ruleX([0.1], { stroke: "var(--axis)", strokeDasharray: "3 3" }),
        ruleY(features, { y: (_: unknown, place: number) => place, x1: 0, x2: "size", stroke: "var(--axis)" }),
        dot(features, {
          x: "size",
          y: (_: unknown, place: number) => place,
          fill: "var(--series-0)",
          r: 4,
          title: (feature) => `${feature.name}\n${view.format.plain(feature.difference)}${feature.arm ? ` in arm ${feature.arm}` : ""}, p = ${view.format.pValue(feature.p)}`,
          tip: true,
        }),
      ],
    };
  });
  return h("figure", {}, h("figcaption", {}, "Balance: features with the largest differences"), drawn);
}

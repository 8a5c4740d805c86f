// SPDX-License-Identifier: Apache-2.0
//
// How sure: what chance may have done, how good the forecast was, whether the trial is fair; in words, with one chart.
import { dot, pointer, ruleX, ruleY, tip } from "@observablehq/plot";
import { chart, extent, labelWidth, shortNames, tickFormat } from "../chart";
import { isSame } from "../curve";
import { fold, h, note, replaceChildren, section, type Child } from "../dom";
import { figuresOf } from "../figures";
import { decimalsOfIntervals } from "../format";
import { isNumber, list, type BaselineDifference, type Interval, type Maybe } from "../results";
import { plural, type View } from "../view";
import { budgetDecimals } from "./controls";
import { seedsWords } from "./decision";

export function sure(view: View): Child {
  const details = list(view.results.verdict?.details);
  const hasPlan = view.pointOf(view.model) !== null;
  if (!hasPlan && !view.results.check) return null;
  const words = h("div", {});
  const redraw = () => replaceChildren(words, part("Chance", chanceWords(view)), part("Forecast", forecastWords(view)), part("Guardrails", guardrailWords(view)));
  view.onChange(redraw);
  redraw();
  return section(
    "sure",
    "How sure is this",
    words,
    differencesChart(view),
    part("The trial", trialWords(view)),
    details.length > 0 ? fold(`All ${details.length} findings in words`, h("ul", {}, ...details.map((text) => h("li", {}, text)))) : null,
  );
}

function part(title: string, sentences: string[]): Child {
  if (sentences.length === 0) return null;
  return h("div", { class: "findings" }, h("h3", {}, title), h("ul", {}, ...sentences.map((text) => h("li", {}, text))));
}

function chanceWords(view: View): string[] {
  const point = view.pointOf(view.model);
  if (!point) return [];
  const figures = figuresOf(view, point);
  const isProfit = figures.profit !== null;
  const shown = view.scaled(figures.profit ?? figures.revenue);
  if (!shown || !isNumber(shown.low) || !isNumber(shown.high)) return [];
  const places = Math.min(decimalsOfIntervals([shown]), 4);
  const write = (value: number) => (isProfit ? view.format.money(value, places) : `${view.format.fixed(value, places)} ${view.revenueName}`);
  const what = isProfit ? "profit" : "gain";
  const range = `Other ${plural(view.unitName)} of the same kind would have given a ${what} between ${write(shown.low)} and ${write(shown.high)}, at ${view.levelText} confidence`;
  const verdict =
    shown.low > 0
      ? `: a ${what} is shown.`
      : shown.high < 0
        ? ": a loss is shown."
        : `: that includes zero, so neither a ${what} nor a loss is shown.`;
  const declared = view.results.verdict?.not_pre_declared;
  return [range + verdict + seedsWords(view), ...(declared ? [`Not declared before: ${declared}`] : [])];
}

// What the model expected of its plan beside what the test units showed.
function forecastWords(view: View): string[] {
  const point = view.pointOf(view.model);
  if (!point) return [];
  if (view.model?.model.index) return ["This model predicts a ranking, not outcomes: it makes no forecast that could be checked."];
  const one = (name: string, predicted: Maybe<number>, found: Maybe<Interval>, money: boolean): string[] => {
    if (!isNumber(predicted) || !isNumber(found?.value)) return [];
    const shown = view.scaled(found);
    const expected = predicted * view.scale;
    const places = Math.min(decimalsOfIntervals([shown]), 4);
    const write = (value: Maybe<number>) => (money ? view.format.money(value, places) : view.format.fixed(value, places));
    const off = isNumber(shown?.value) && shown.value !== 0 ? expected / shown.value - 1 : null;
    const size = isNumber(off) ? (Math.abs(off) < 0.0005 ? "as measured" : `${view.format.percent(Math.abs(off))} ${off > 0 ? "above" : "below"} what was measured`) : "";
    if (!isNumber(shown?.low) || !isNumber(shown?.high)) return [`Forecast ${name} ${write(expected)}, measured ${write(shown?.value)}.`];
    const inside = expected >= shown.low && expected <= shown.high;
    return [`Forecast ${name} ${write(expected)}, measured ${write(shown.value)} (${write(shown.low)} to ${write(shown.high)}): ${size}, ${inside ? "within" : "outside"} what chance explains.`];
  };
  return [...one(view.revenueName, point.predicted_revenue, point.revenue, false), ...one(view.costName, point.predicted_cost, point.cost, true)];
}

// What the plan does to outcomes that it must not raise; known at the study's budgets.
function guardrailWords(view: View): string[] {
  return list(view.pointOf(view.model)?.guardrails).flatMap((guardrail) => (guardrail.sentence ? [guardrail.sentence] : []));
}

function trialWords(view: View): string[] {
  const check = view.results.check;
  if (!check) return [];
  const said: string[] = [];
  if (check.verdict === "fit") said.push("The trial is fit to learn from.");
  if (check.verdict === "unfit") said.push("The trial is unfit to learn from: do not act on this page.");
  said.push(...list(check.problems).flatMap((problem) => (problem.text ? [problem.text] : [])));
  const ratio = check.sample_ratio;
  if (ratio?.run) said.push(`Arm sizes are ${(ratio.p ?? 1) < 0.001 ? "not as designed" : "as designed"} (p = ${view.format.pValue(ratio.p)}).`);
  else if (ratio && !list(check.warnings).some((warning) => ratio.why_not && warning.text?.includes(ratio.why_not))) said.push(`Arm sizes were not tested${ratio.why_not ? `: ${ratio.why_not}` : ""}.`);
  const balance = check.balance;
  if (balance?.run) said.push(`Before the trial, the arms ${(balance.p ?? 1) < 0.001 ? "differ" : "are alike"} in their features (p = ${view.format.pValue(balance.p)}).`);
  said.push(...list(check.warnings).flatMap((warning) => (warning.text ? [`Warning: ${warning.text}`] : [])));
  return said;
}

const kNames: Record<string, string> = { random: "random", single_arm: "one arm for everyone", rule: "today's rule" };

function differencesChart(view: View): Child {
  const all = list(view.results.baseline_differences).filter((row) => Object.hasOwn(kNames, row.baseline ?? ""));
  if (all.length === 0) return null;
  const hasProfit = all.some((row) => isNumber(row.profit?.value));
  const what = hasProfit ? "Profit" : `Extra ${view.revenueName}`;
  const label = `${what} that the plan adds to plans that need no model`;
  const drawn = chart(view, label, (width) => drawDifferences(view, all.filter((row) => row.model === view.model?.name), hasProfit, width));
  return h(
    "figure",
    {},
    h("figcaption", {}, label),
    drawn,
    note(`${view.levelText} intervals of single differences, on the same resamples. Where a line crosses zero, no difference is shown.`),
  );
}

function drawDifferences(view: View, rows: BaselineDifference[], hasProfit: boolean, width: number) {
  const bars = rows.flatMap((row) => {
    const found = view.scaled(hasProfit ? row.profit : row.net);
    if (!found || !isNumber(found.value)) return [];
    const budget = view.totals ? view.format.shortMoney(view.totalOf(row.budget_per_unit)) : view.format.money(row.budget_per_unit, budgetDecimals(view));
    const name = kNames[row.baseline ?? ""] ?? "";
    const decimals = Math.min(decimalsOfIntervals([found]), 4);
    const chosen = isSame(row.budget_per_unit, view.budget);
    const text = `budget ${budget}, against ${name}\n${view.format.signed(found.value, decimals)} (${view.format.range(found.low, found.high, decimals)})`;
    return [{ name, budget, value: found.value, low: found.low ?? found.value, high: found.high ?? found.value, chosen, text }];
  });
  if (bars.length === 0) return "There is no comparison for this model.";
  const names = [...new Set(bars.map((bar) => bar.name))];
  const most = width < 500 ? 14 : 26;
  const short = width < 500 ? new Map([[kNames["single_arm"], "everyone"]]) : shortNames(names, most);
  const range = extent(bars.flatMap((bar) => [bar.low, bar.high, 0]));
  const money = hasProfit && view.format.currency ? `, ${view.format.currency}` : "";
  return {
    height: 60 + 24 * bars.length + 14 * new Set(bars.map((bar) => bar.budget)).size,
    marginLeft: labelWidth(names.map((name) => short.get(name) ?? name), most),
    marginRight: labelWidth(bars.map((bar) => bar.budget), 20) + (width < 500 ? 4 : 28),
    x: { label: `difference ${view.basis}${money}`, grid: true, tickFormat: tickFormat(view.format, ...range), ticks: width < 500 ? 3 : 8, domain: range, nice: true },
    y: { label: null, domain: names, tickFormat: (name: string) => short.get(name) ?? name, padding: 0.3 },
    fy: { label: width < 500 ? null : "budget", domain: [...new Set(bars.map((bar) => bar.budget))], padding: 0.15 },
    marks: [
      ruleX([0], { stroke: "var(--axis)" }),
      ruleY(bars, { fy: "budget", y: "name", x1: "low", x2: "high", stroke: view.model?.look.color ?? "var(--ink)", strokeWidth: 3, strokeOpacity: (bar) => (bar.chosen ? 1 : 0.45) }),
      dot(bars, { fy: "budget", y: "name", x: "value", fill: view.model?.look.color ?? "var(--ink)", r: 4.5, stroke: "var(--paper)" }),
      tip(bars, pointer({ fy: "budget", y: "name", x: "value", title: "text", maxRadius: 60 })),
    ],
  };
}

// SPDX-License-Identifier: Apache-2.0
//
// The decision: what the chosen plan spends, brings and nets, beside plans that need no model.
import { intervalCell, moneyCell, percentCell } from "../cells";
import { isSame } from "../curve";
import { h, note, replaceChildren, section, table, type Child } from "../dom";
import { baselinePlan, figuresOf, type PlanFigures } from "../figures";
import { decimalsOf, decimalsOfIntervals } from "../format";
import { isNumber, list, type Interval } from "../results";
import { announce } from "../save";
import { tile, tileText, toneOf } from "../tile";
import type { View } from "../view";
import { budgetWords } from "./controls";

export function decision(view: View): Child {
  if (!view.model || !view.pointOf(view.model)) return null;
  const title = h("p", { class: "lead" });
  const tiles = h("dl", { class: "tiles" });
  const remark = note("");
  const against = h("div", {});
  let first = true;
  const redraw = () => {
    const point = view.pointOf(view.model);
    if (!point || !view.model) return;
    const figures = figuresOf(view, point);
    replaceChildren(title, ...headline(view));
    replaceChildren(tiles, ...tilesOf(view, figures));
    remark.textContent = remarkOf(view, figures);
    replaceChildren(against, ...againstTable(view, figures));
    if (!first) announce(`${title.textContent} ${[...tiles.children].map((tile) => tile.textContent).join(". ")}`);
    first = false;
  };
  view.onChange(redraw);
  redraw();
  return section("decision", "The decision", title, tiles, remark, against);
}

function headline(view: View): Child[] {
  const words = `${view.model?.title ?? ""}, budget ${budgetWords(view, view.budget)}`;
  if (!view.recommended) return [`Shown: ${words}.`];
  if (view.isRecommended) return [`The plan of the answer above: ${words}.`];
  const back = h("button", { type: "button" }, "Back to the plan of the answer");
  const recommended = view.recommended;
  back.addEventListener("click", () => {
    view.model = recommended.model;
    view.budget = recommended.budget;
  });
  return [`Another plan than that of the answer: ${words}. `, back];
}

function tilesOf(view: View, figures: PlanFigures): Child[] {
  const format = view.format;
  const money = (interval: Interval | null, signed: boolean) => {
    const shown = view.scaled(interval);
    const places = placesOf(shown);
    const write = (value: number) => (signed ? format.withCurrency(format.plus(value, format.short(value, places))) : format.shortMoney(value, places));
    return tileText(shown, write, (value) => format.shortMoney(value, places));
  };
  const extra = view.scaled(figures.revenue);
  const places = placesOf(extra);
  const percent = (value: number) => format.percent(value, 0);
  return [
    tile(view.controlCost > 0 ? `Extra ${view.spendName}` : view.spendName === "spend" ? "Spend" : "Cost", money(figures.spend, false), view.costName),
    tile(`Extra ${view.revenueName}`, tileText(extra, (value) => format.plus(value, format.short(value, places)), (value) => format.short(value, places)), "against doing nothing (control)"),
    figures.profit ? tile("Profit", money(figures.profit, true), profitWords(view), toneOf(figures.profit)) : null,
    figures.roi ? tile("Return on investment", tileText(figures.roi, (value) => (value > 0 ? "+" : "") + percent(value), percent), `profit per ${view.spendName}`, toneOf(figures.profit ?? figures.roi)) : perCost(view, figures),
  ];
}

// Without a worth of revenue there is no profit, but still what one unit of cost brings.
function perCost(view: View, figures: PlanFigures): Child {
  const [revenue, spend] = [figures.revenue?.value, figures.spend?.value];
  if (!isNumber(revenue) || !isNumber(spend) || spend <= 0) return null;
  return tile(`Extra ${view.revenueName} per ${view.costName}`, { big: view.format.plain(revenue / spend), range: "" }, "[value] in the study says what it is worth");
}

function profitWords(view: View): string {
  return view.valuePerRevenue === null ? `after ${view.spendName}` : `at ${view.format.trimmed(view.valuePerRevenue, 4)} per unit of ${view.revenueName}, after ${view.spendName}`;
}

function placesOf(interval: Interval | null): number {
  return isNumber(interval?.value) ? Math.min(decimalsOf([interval.value, interval.high ?? 0], 4), 4) : 0;
}

function remarkOf(view: View, figures: PlanFigures): string {
  const level = figures.atOnce
    ? `Below each figure its ${view.levelText} interval, wide enough for all plans at the study's budgets at once${isNumber(figures.spend?.low) && figures.roi ? "; that of the return is for this plan alone" : ""}.`
    : `Below each figure its ${view.levelText} interval, for this plan alone.`;
  return `Figures ${view.basis}${view.results.trial?.split ? `, the ${view.results.trial.split} units of the trial` : ""}. ${level}${seedsWords(view)}`;
}

// The answer of a comparison is a mean over training seeds; the plan shown is one of its models.
export function seedsWords(view: View): string {
  return view.scope.includes("first training seed") ? " The plan is that of the first training seed; the answer at the top is the mean over all seeds, and its intervals hold their spread." : "";
}

interface Row {
  name: string;
  words: string;
  figures: PlanFigures;
  difference: Interval | null; // in profit, or in revenue at a common price, of the plan minus this
}

const kNames: Record<string, string> = { random: "The same money at random", single_arm: "One arm for everyone", rule: "Today's rule" };

function againstTable(view: View, own: PlanFigures): Child[] {
  const hasProfit = own.profit !== null;
  const others: Row[] = list(view.results.baselines).flatMap((baseline) => {
    const kind = baseline.kind ?? "";
    const found = Object.hasOwn(kNames, kind) ? baselinePlan(view, baseline) : null;
    if (!found) return [];
    return [{ name: kNames[kind] ?? kind, words: kind === "random" ? "" : found.name, figures: figuresOf(view, found.plan), difference: differenceTo(view, kind, hasProfit) }];
  });
  if (others.length === 0) return [];
  const rows: Row[] = [{ name: "This plan", words: view.model?.title ?? "", figures: own, difference: null }, ...others];
  const places = (pick: (row: Row) => Interval | null) => decimalsOfIntervals(rows.map((row) => view.scaled(pick(row))));
  const [spend, revenue, profit, difference] = [places((row) => row.figures.spend), places((row) => row.figures.revenue), places((row) => row.figures.profit), places((row) => row.difference)];
  const anyDifference = rows.some((row) => row.difference);
  const made = table({
    caption: `Against plans that need no model, ${view.basis}`,
    columns: [
      { title: "Plan", kind: "text" },
      { title: view.controlCost > 0 ? `extra ${view.spendName}` : view.spendName },
      { title: `extra ${view.revenueName}` },
      ...(hasProfit ? [{ title: "profit" }, { title: "ROI" }] : []),
      ...(anyDifference ? [{ title: hasProfit ? "profit that this plan adds" : `${view.revenueName} that this plan adds, at equal ${view.spendName}` }] : []),
    ],
    rows: rows.map((row) => [
      h("span", { class: "figure" }, row.name, row.words ? h("small", {}, row.words) : null),
      moneyCell(view, view.scaled(row.figures.spend), spend),
      intervalCell(view, view.scaled(row.figures.revenue), revenue, 1, true),
      ...(hasProfit ? [moneyCell(view, view.scaled(row.figures.profit), profit, true), percentCell(view, row.figures.roi)] : []),
      ...(anyDifference ? [row.difference ? (hasProfit ? moneyCell(view, view.scaled(row.difference), difference, true) : intervalCell(view, view.scaled(row.difference), difference, 1, true)) : ""] : []),
    ]),
  });
  return [made, payingWords(own, others)];
}

// The answer speaks of targeted plans, for all budgets at once. A plan that needs no model may pay back beside it.
function payingWords(own: PlanFigures, others: Row[]): Child {
  const paying = others.filter((row) => isNumber(row.figures.profit?.low) && row.figures.profit.low > 0);
  if (paying.length === 0 || !isNumber(own.profit?.low) || own.profit.low > 0) return null;
  const names = paying.map((row) => `\u201c${row.name}\u201d`).join(" and ");
  return note(`${names}: the interval of profit, for that plan alone, lies above zero. The interval of this plan does not${own.atOnce ? "; it is wider, to hold for all of the study's budgets at once" : ""}.`);
}

// Paired differences are known at the study's budgets.
function differenceTo(view: View, kind: string, hasProfit: boolean): Interval | null {
  const found = list(view.results.baseline_differences).find(
    (row) => row.model === view.model?.name && row.baseline === kind && isSame(row.budget_per_unit, view.budget),
  );
  const difference = hasProfit ? found?.profit : found?.net;
  return difference && isNumber(difference.value) ? difference : null;
}

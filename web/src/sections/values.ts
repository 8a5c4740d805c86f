// SPDX-License-Identifier: Apache-2.0
//
// The figures at the study's budgets: deployed, and matched as published; ranking measures; fit.
import { budgetCell, intervalCell, modelCell, percentCell } from "../cells";
import { fold, h, note, replaceChildren, scope, section, table, type Child, type Column } from "../dom";
import { decimalsOf, decimalsOfIntervals, kMissing } from "../format";
import { isNumber, list, type Interval, type Maybe, type PlanValue } from "../results";
import type { ShownModel, View } from "../view";
import { budgetDecimals } from "./controls";

type Which = "deployed" | "matched";

export function values(view: View): Child {
  const has = (which: Which) => view.models.some((shown) => list(shown.model[which]).length > 0);
  if (!has("deployed") && !has("matched")) return null;
  const shown = h("div", {});
  const redraw = () =>
    replaceChildren(
      shown,
      has("deployed") ? valuesTable(view, "deployed", "Deployed: the multiplier comes from predictions alone, as in a launch") : null,
      has("deployed") ? predictedTable(view, "deployed") : null,
      has("matched") ? fold("Matched: the multiplier is chosen so that the evaluated cost meets the budget, as published", matched(view)) : null,
    );
  view.onChange(redraw);
  redraw();
  return section("values", "At the budgets of the study", scope(view.scope), shown);
}

function matched(view: View): HTMLElement {
  return h("div", {}, valuesTable(view, "matched", "Matched"), note("Optimistic: it looks at the outcomes it is judged by."));
}

interface Entry {
  name: string;
  plan: PlanValue;
}

// Every model's plans that are switched on, budget by budget.
function entriesOf(view: View, which: Which): Entry[] {
  const most = Math.max(...view.models.map((shown) => list(shown.model[which]).length), 0);
  return Array.from({ length: most }).flatMap((_, budget) =>
    view.activeModels.flatMap((shown) => {
      const plan = shown.model[which]?.[budget];
      return plan ? [{ name: shown.name, plan }] : [];
    }),
  );
}

// What the models expected and, in simulated trials, what is true.
function predictedTable(view: View, which: Which): Child {
  const entries = entriesOf(view, which);
  const parts: [string, (plan: PlanValue) => Maybe<number>][] = [
    [`predicted ${view.revenueName}`, (plan) => plan.predicted_revenue],
    [`predicted ${view.costName}`, (plan) => plan.predicted_cost],
    [`true ${view.revenueName}`, (plan) => plan.true_revenue],
    [`true ${view.costName}`, (plan) => plan.true_cost],
    ["multiplier", (plan) => plan.multiplier],
  ];
  const columns = parts.flatMap(([title, pick]) => {
    const numbers = entries.map((entry) => pick(entry.plan)).filter(isNumber);
    const decimals = decimalsOf(numbers, 4);
    return numbers.length > 0 ? [{ title, cell: (plan: PlanValue) => view.format.fixed(pick(plan), decimals) }] : [];
  });
  if (columns.length === 0) return null;
  const rows = entries.map(({ name, plan }) => [
    view.format.money(plan.budget_per_unit, budgetDecimals(view)),
    modelCell(view, name),
    ...columns.map((column) => column.cell(plan)),
  ]);
  const caption = "Predicted figures and multipliers, per unit";
  return fold(caption, table({ caption, hideCaption: true, columns: [{ title: "Budget per unit" }, { title: "Model", kind: "text" }, ...columns], rows }));
}

function valuesTable(view: View, which: Which, caption: string): HTMLElement {
  const entries = entriesOf(view, which);
  if (entries.length === 0) return h("p", { class: "empty" }, "No model is switched on.");
  const columns: (Column & { cell: (entry: Entry) => Child; shown: boolean })[] = [];
  const add = (title: string, shown: boolean, cell: (entry: Entry) => Child, kind: Column["kind"] = "number") =>
    columns.push({ title, shown, cell, kind });
  const addInterval = (title: string, pick: (plan: PlanValue) => Maybe<Interval>, signed = false) => {
    const decimals = decimalsOfIntervals(entries.map((entry) => pick(entry.plan)));
    const any = entries.some((entry) => isNumber(pick(entry.plan)?.value));
    add(title, any, (entry) => intervalCell(view, pick(entry.plan), decimals, 1, signed));
  };
  let last: Maybe<number> = null;
  add("Budget per unit", true, ({ plan }) => {
    const repeated = plan.budget_per_unit === last;
    last = plan.budget_per_unit;
    if (!repeated) return budgetCell(view, plan.budget_per_unit, budgetDecimals(view));
    return h("span", { class: "repeated" }, view.format.money(plan.budget_per_unit, budgetDecimals(view)));
  });
  add("Model", true, ({ name, plan }) => modelCell(view, name, plan.feasible === false ? "budget cannot be met" : ""), "text");
  addInterval(view.revenueName, (plan) => plan.revenue);
  addInterval("over control", (plan) => plan.incremental_revenue);
  addInterval("by Hajek", (plan) => plan.hajek_incremental_revenue, true);
  addInterval(view.costName, (plan) => plan.cost);
  addInterval("profit over control", (plan) => plan.incremental_profit, true);
  const hasRoi = entries.some((entry) => isNumber(entry.plan.roi?.value));
  add("ROI", hasRoi, ({ plan }) => percentCell(view, plan.roi));
  addInterval("over budget", (plan) => plan.spend_over_budget, true);
  addInterval(`${view.revenueName} per ${view.costName}`, (plan) => plan.return_per_cost);
  const ofOracle = entries.some((entry) => isNumber(entry.plan.share_of_oracle));
  add("of the best possible", ofOracle, ({ plan }) => view.format.percent(plan.share_of_oracle));
  const used = columns.filter((column) => column.shown);
  const unit = view.format.currency ? ` (${view.format.currency} per unit)` : " (per unit)";
  return table({
    caption: caption + unit,
    columns: used,
    rows: entries.map((entry) => used.map((column) => column.cell(entry))),
  });
}

interface Ranked {
  name: string;
  arm: string;
  area?: Maybe<Interval>;
  published?: Maybe<Interval>;
  plain?: Maybe<Interval>;
  qini?: Maybe<Interval>;
  auuc?: Maybe<Interval>;
  note?: Maybe<string>;
}

function rankedOf(shown: ShownModel): Ranked[] {
  const arms = new Map<string, Ranked>();
  for (const { arm, published, area, unnormalised_area: plain, note: remark } of list(shown.model.aucc)) {
    // A share of a gain that may be zero means nothing: it has no interval although the area itself has one.
    const means = isNumber(area?.low) || !isNumber(plain?.low);
    arms.set(arm ?? "", { name: shown.name, arm: arm ?? "", ...(means ? { published, area } : {}), plain, note: remark });
  }
  for (const { arm, qini, auuc } of list(shown.model.qini)) {
    arms.set(arm ?? "", { name: shown.name, arm: arm ?? "", ...arms.get(arm ?? ""), qini, auuc });
  }
  return [...arms.values()];
}

export function ranking(view: View): Child {
  if (view.models.every((shown) => rankedOf(shown).length === 0)) return null;
  const shown = h("div", {});
  const redraw = () => {
    const rows = view.activeModels.flatMap(rankedOf);
    replaceChildren(shown, rows.length > 0 ? rankingTable(view, rows) : h("p", { class: "empty" }, "No model is switched on."), remarks(view, rows), areaDifferences(view));
  };
  view.onChange(redraw);
  redraw();
  return section("ranking", "How well units are ranked", scope(view.scope), shown, note("A ranking at random has an AUCC of 0.5."));
}

function rankingTable(view: View, rows: Ranked[]): HTMLElement {
  const figures: [string, (row: Ranked) => Maybe<Interval>][] = [
    ["AUCC, published", (row) => row.published],
    ["AUCC, exact area", (row) => row.area],
    ["area, not normalised", (row) => row.plain],
    ["Qini", (row) => row.qini],
    ["AUUC", (row) => row.auuc],
  ];
  const places = figures.map(([, pick]) => decimalsOfIntervals(rows.map(pick)));
  return table({
    caption: "Area under the cost curve and uplift measures, one arm against control",
    columns: [{ title: "Model", kind: "text" }, { title: "Arm", kind: "text" }, ...figures.map(([title]) => ({ title }))],
    rows: rows.map((row) => [modelCell(view, row.name), row.arm, ...figures.map(([, pick], place) => intervalCell(view, pick(row), places[place] ?? 0))]),
  });
}

function remarks(view: View, rows: Ranked[]): Child {
  const noted = rows.filter((row) => row.note);
  if (noted.length === 0) return null;
  const missing = rows.some((row) => isNumber(row.plain?.value) && !isNumber(row.area?.value));
  const title = missing ? "Remarks on the areas, and why some have no AUCC" : "Remarks on the areas";
  const columns = [{ title: "Model", kind: "text" as const }, { title: "Arm", kind: "text" as const }, { title: "Remark", kind: "wide" as const }];
  return fold(title, table({ caption: title, hideCaption: true, columns, rows: noted.map((row) => [modelCell(view, row.name), row.arm, row.note ?? ""]) }));
}

function areaDifferences(view: View): Child {
  const unreliable = view.models.flatMap(rankedOf).filter((row) => !row.area);
  const rows = list(view.results.aucc_differences)
    .filter((row) => view.isActive(row.model ?? ""))
    .map((row) => (unreliable.some((one) => one.name === row.model && one.arm === row.arm) ? { ...row, published: null, area: null } : row));
  if (rows.length === 0) return null;
  const published = decimalsOfIntervals(rows.map((row) => row.published));
  const area = decimalsOfIntervals(rows.map((row) => row.area));
  return table({
    caption: "Differences in AUCC on the same resamples",
    columns: [{ title: "Model", kind: "text" }, { title: "Arm", kind: "text" }, { title: "published" }, { title: "exact area" }, { title: "p" }, { title: "In words", kind: "wide" }],
    rows: rows.map((row) => [
      modelCell(view, row.model ?? ""),
      row.arm ?? "",
      intervalCell(view, row.published, published, 1, true),
      intervalCell(view, row.area, area, 1, true),
      view.format.pValue(row.p_value),
      row.sentence ?? "",
    ]),
  });
}

export function fit(view: View): Child {
  const models = view.models.filter((shown) => shown.model.fit && (!shown.swept || view.isActive(shown.name)));
  if (models.length === 0) return null;
  const numbers = (pick: (shown: (typeof models)[number]) => Maybe<number>) => {
    const decimals = decimalsOf(models.map(pick).filter(isNumber), 4);
    return (shown: (typeof models)[number]) => view.format.fixed(pick(shown), decimals);
  };
  const cells = [
    numbers((shown) => shown.model.fit?.revenue?.mse),
    numbers((shown) => shown.model.fit?.revenue?.log_loss),
    numbers((shown) => shown.model.fit?.cost?.mse),
    numbers((shown) => shown.model.fit?.cost?.log_loss),
  ];
  const titles = [`${view.revenueName}: squared error`, `${view.revenueName}: log loss`, `${view.costName}: squared error`, `${view.costName}: log loss`];
  const kept = cells.map((cell, index) => ({ cell, title: titles[index] ?? "" })).filter(({ cell }) => models.some((shown) => cell(shown) !== kMissing));
  return table({
    caption: "Error of the predictions for the arm each unit got",
    columns: [{ title: "Model", kind: "text" }, ...kept.map(({ title }) => ({ title }))],
    rows: models.map((shown) => [modelCell(view, shown.name), ...kept.map(({ cell }) => cell(shown))]),
  });
}


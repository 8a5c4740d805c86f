// SPDX-License-Identifier: Apache-2.0
//
// All models side by side at the chosen budget: which method, and by how much.
import { intervalCell, modelCell, moneyCell, percentCell } from "../cells";
import { isSame } from "../curve";
import { h, note, replaceChildren, section, table, type Child } from "../dom";
import { figuresOf } from "../figures";
import { decimalsOfIntervals } from "../format";
import { list, type Interval } from "../results";
import type { View } from "../view";
import { budgetWords } from "./controls";

export function sideBySide(view: View): Child {
  if (view.models.length < 2 || view.stops.length === 0) return null;
  const figures = h("div", {});
  const redraw = () => replaceChildren(figures, modelsTable(view));
  view.onChange(redraw);
  redraw();
  return section("models", "Which method", figures, note("Differences are on the same resamples, at the budgets of the study; their sentences say what is shown."));
}

function modelsTable(view: View): Child {
  const reference = view.models.find((shown) => shown.model.reference) ?? view.models[0];
  const rows = view.activeModels.flatMap((shown) => {
    const point = view.pointOf(shown);
    if (!point) return [];
    const difference = list(view.results.differences).find((row) => row.model === shown.name && isSame(row.budget_per_unit, view.budget));
    return [{ shown, figures: figuresOf(view, point), difference }];
  });
  if (rows.length === 0) return h("p", { class: "empty" }, "No model is switched on.");
  const places = (pick: (row: (typeof rows)[number]) => Interval | null) => decimalsOfIntervals(rows.map((row) => view.scaled(pick(row))));
  const [spend, revenue, profit, gap] = [places((row) => row.figures.spend), places((row) => row.figures.revenue), places((row) => row.figures.profit), places((row) => row.difference?.revenue ?? null)];
  const hasProfit = rows.some((row) => row.figures.profit);
  const hasGap = rows.some((row) => row.difference);
  return table({
    caption: `At a budget of ${budgetWords(view, view.budget)}, figures ${view.basis}`,
    columns: [
      { title: "Method", kind: "text" },
      { title: view.spendName },
      { title: `extra ${view.revenueName}` },
      ...(hasProfit ? [{ title: "profit" }, { title: "ROI" }] : []),
      ...(hasGap ? [{ title: `${view.revenueName}, difference from ${reference?.name ?? "the reference"}` }, { title: "In words", kind: "wide" as const }] : []),
    ],
    rows: rows.map(({ shown, figures, difference }) => [
      modelCell(view, shown.name),
      moneyCell(view, view.scaled(figures.spend), spend),
      intervalCell(view, view.scaled(figures.revenue), revenue, 1, true),
      ...(hasProfit ? [moneyCell(view, view.scaled(figures.profit), profit, true), percentCell(view, figures.roi)] : []),
      ...(hasGap ? [difference ? intervalCell(view, view.scaled(difference.revenue), gap, 1, true) : "", difference?.sentence ?? (shown === reference ? "the reference" : "")] : []),
    ]),
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// Predicted against observed, by tenths of the units: points on the diagonal mean predictions that can be taken at
// their word.
import { dot, link, pointer, ruleX, tip } from "@observablehq/plot";
import { intervalText, modelKey, modelScales } from "../cells";
import { chart, extent, tickFormat } from "../chart";
import { h, note, scope, section, type Child } from "../dom";
import { decimalsOfIntervals } from "../format";
import { isNumber, list } from "../results";
import type { View } from "../view";
import { fit } from "./values";

type Outcome = "revenue" | "cost";

export function calibration(view: View): Child {
  const has = (outcome: Outcome) => view.models.some((shown) => list(shown.model.calibration?.[outcome]).length > 0);
  const errors = fit(view);
  if (!has("revenue") && !has("cost") && !errors) return null;
  const charts = (["revenue", "cost"] as const).filter(has).map((outcome) => {
    const name = outcome === "revenue" ? view.revenueName : view.costName;
    const drawn = chart(view, `Calibration of ${name}: observed against predicted, by tenths of the units`, (width) => draw(view, outcome, name, width));
    return h("figure", {}, h("figcaption", {}, name), drawn);
  });
  const indexed = view.models.filter((shown) => shown.model.index).map((shown) => shown.name);
  return section(
    "calibration",
    "Can the predictions be taken at their word?",
    scope(view.scope),
    charts.length > 0 ? modelKey(view) : null,
    charts.length > 0 ? h("div", { class: "side-by-side" }, ...charts) : null,
    charts.length > 0 ? note("Each point is a tenth of the units. On the diagonal, what was predicted is what was observed.") : null,
    indexed.length > 0 ? note(`${indexed.join(", ")}: predicts a ranking, not outcomes, and is not shown here.`) : null,
    errors,
  );
}

function draw(view: View, outcome: Outcome, name: string, width: number) {
  const models = view.activeModels;
  const decimals = decimalsOfIntervals(models.flatMap((shown) => list(shown.model.calibration?.[outcome]).map((point) => point.observed)));
  const points = models.flatMap((shown) =>
    list(shown.model.calibration?.[outcome]).flatMap((point) => {
      const observed = point.observed?.value;
      if (!isNumber(point.predicted) || !isNumber(observed)) return [];
      const units = isNumber(point.units) ? `\n${view.format.count(point.units)} units` : "";
      return [
        {
          name: shown.name,
          predicted: point.predicted,
          observed,
          low: point.observed?.low ?? observed,
          high: point.observed?.high ?? observed,
          text: `${shown.name}\npredicted ${view.format.fixed(point.predicted, decimals)}\nobserved ${intervalText(view, point.observed, decimals)}${units}`,
        },
      ];
    }),
  );
  if (points.length === 0) return "No model is switched on.";
  const reach = extent(points.flatMap((point) => [point.predicted, point.observed, point.low, point.high]));
  const predicted = extent(points.map((point) => point.predicted));
  const unit = view.format.currency ? `, ${view.format.currency}` : "";
  return {
    height: Math.max(260, Math.min(340, width * 0.8)),
    marginLeft: 54,
    grid: true,
    x: { label: `predicted ${name} per unit${unit}`, tickFormat: tickFormat(view.format, ...predicted), ticks: 5, nice: true },
    y: { label: `observed${unit}`, tickFormat: tickFormat(view.format, ...reach), ticks: 6, nice: true },
    ...modelScales(view),
    marks: [
      link([predicted], { x1: (d) => d[0], y1: (d) => d[0], x2: (d) => d[1], y2: (d) => d[1], stroke: "var(--oracle)", strokeDasharray: "5 4" }),
      ruleX(points, { x: "predicted", y1: "low", y2: "high", stroke: "name", strokeWidth: 1.3 }),
      dot(points, { x: "predicted", y: "observed", fill: "name", symbol: "name", r: 4, stroke: "var(--paper)", strokeWidth: 0.8 }),
      tip(points, pointer({ x: "predicted", y: "observed", title: "text", maxRadius: 50 })),
    ],
  };
}

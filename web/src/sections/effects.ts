// SPDX-License-Identifier: Apache-2.0
//
// For whom the arms work: effects by segment, with intervals that hold for all of them at once.
import { dot, pointer, ruleX, ruleY, tip } from "@observablehq/plot";
import { intervalCell } from "../cells";
import { chart, extent, labelWidth, shortNames, tickFormat } from "../chart";
import { fold, h, note, table, type Child } from "../dom";
import { decimalsOfIntervals } from "../format";
import { isNumber, list, type SegmentEffects } from "../results";
import type { View } from "../view";

const kAnswers: Record<string, string> = { yes: "earns more", no: "earns less", not_shown: "not shown", too_few: "too few" };

// More than fill a screen are folded.
const kMostRows = 40;

export function effectsParts(view: View): Child[] {
  return list(view.results.effects)
    .filter((effects) => effects.found !== "all" && list(effects.values).length > 0)
    .map((effects) => effectsPart(view, effects));
}

function titleOf(effects: SegmentEffects): string {
  return effects.found === "tree" ? "Effects in groups that a tree found" : `Effects by ${effects.column ?? "segment"}`;
}

function rowsOf(effects: SegmentEffects) {
  return list(effects.values).flatMap((segment) => list(segment.arms).map((arm) => ({ segment, arm, name: segment.value ?? "" })));
}

function effectsPart(view: View, effects: SegmentEffects): Child {
  const title = titleOf(effects);
  const drawn = chart(view, title, (width) => draw(view, effects, width));
  const isLong = rowsOf(effects).length > kMostRows;
  return h(
    "figure",
    {},
    h("figcaption", {}, title),
    isLong ? fold(`Chart of ${view.arms.length - 1} arms in ${list(effects.values).length} groups`, drawn) : drawn,
    note(`Extra ${view.revenueName} per ${view.unitName} against control. Thick: ${view.levelText} intervals of single effects; thin: of all segments and arms at once. Segments with too few units have none.`),
    fold(`${title} as a table`, effectsTable(view, effects, title)),
  );
}

function draw(view: View, effects: SegmentEffects, width: number) {
  const all = rowsOf(effects);
  const names = [...new Set(all.map((row) => row.name))];
  const rows = all.flatMap(({ arm, name }) => {
    const value = arm.revenue?.value;
    if (!isNumber(value)) return [];
    const decimals = decimalsOfIntervals([arm.revenue]);
    const [low, high] = [arm.revenue?.low ?? value, arm.revenue?.high ?? value];
    const text = `${name}, \u201c${arm.arm ?? ""}\u201d\n${view.format.signed(value, decimals)} (${view.format.range(low, high, decimals)})`;
    return [{ name, arm: arm.arm ?? "", value, low, high, farLow: arm.simultaneous?.low ?? low, farHigh: arm.simultaneous?.high ?? high, text }];
  });
  if (rows.length === 0) return "There are too few units in every segment.";
  const arms = [...new Set(rows.map((row) => row.arm))];
  const most = width < 500 ? 20 : 40;
  const short = shortNames(names, most);
  const range = extent([0, ...rows.flatMap((row) => [row.farLow, row.farHigh])]);
  const look = (row: { arm: string }) => view.armColor(view.arms.indexOf(row.arm));
  return {
    height: 50 + arms.length * (18 + 22 * names.length),
    marginLeft: labelWidth(names, most),
    marginRight: width < 500 ? labelWidth(arms, 9) : 130,
    x: { label: `extra ${view.revenueName} per ${view.unitName}`, grid: true, tickFormat: tickFormat(view.format, ...range), ticks: width < 500 ? 3 : 8, domain: range, nice: true },
    y: { label: null, domain: names, tickFormat: (name: string) => short.get(name) ?? name, padding: 0.3 },
    fy: { label: null, domain: arms, padding: 0.12, tickFormat: (arm: string) => shortNames(arms, width < 500 ? 9 : 16).get(arm) ?? arm },
    marks: [
      ruleX([0], { stroke: "var(--axis)" }),
      ruleY(rows, { fy: "arm", y: "name", x1: "farLow", x2: "farHigh", stroke: "var(--muted)", strokeWidth: 1 }),
      ruleY(rows, { fy: "arm", y: "name", x1: "low", x2: "high", stroke: look, strokeWidth: 3.5 }),
      dot(rows, { fy: "arm", y: "name", x: "value", r: 4.5, fill: look, stroke: "var(--ink)", strokeWidth: 0.8 }),
      tip(rows, pointer({ fy: "arm", y: "name", x: "value", title: "text", maxRadius: 60 })),
    ],
  };
}

function effectsTable(view: View, effects: SegmentEffects, title: string): HTMLElement {
  const rows = rowsOf(effects);
  const revenue = decimalsOfIntervals(rows.map((row) => row.arm.revenue));
  const cost = decimalsOfIntervals(rows.map((row) => row.arm.cost));
  return table({
    caption: title,
    hideCaption: true,
    columns: [{ title: "segment", kind: "wide" }, { title: "units" }, { title: "arm", kind: "text" }, { title: "got it" }, { title: "got control" }, { title: `extra ${view.revenueName}` }, { title: "all at once" }, { title: `extra ${view.costName}` }, { title: "shown", kind: "text" }],
    rows: rows.map(({ segment, arm, name }) => [
      name,
      view.format.count(segment.units),
      arm.arm ?? "",
      view.format.count(arm.treated),
      view.format.count(arm.controls),
      intervalCell(view, arm.revenue, revenue, 1, true),
      view.format.range(arm.simultaneous?.low, arm.simultaneous?.high, revenue),
      intervalCell(view, arm.cost, cost, 1, true),
      Object.hasOwn(kAnswers, arm.answer ?? "") ? (kAnswers[arm.answer ?? ""] ?? "") : (arm.answer ?? ""),
    ]),
  });
}

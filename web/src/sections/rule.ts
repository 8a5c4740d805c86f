// SPDX-License-Identifier: Apache-2.0
//
// The plan as a short rule: a tree of yes-or-no questions, drawn as nested lists, with who gets what at its ends.
import { intervalCell } from "../cells";
import { fold, h, note, replaceChildren, table, type Child } from "../dom";
import { decimalsOfIntervals } from "../format";
import { isNumber, list, type PolicyLeaf, type PolicyTree } from "../results";
import type { ShownModel, View } from "../view";
import { budgetDecimals } from "./controls";

const kMostLevels = 12; // deeper trees are not drawn: none of ours are

export function rulePart(view: View, shown: ShownModel): Child {
  const trees = list(shown.model.policy_trees).filter((tree) => list(tree.nodes).length > 0 && list(tree.leaves).length > 0);
  if (trees.length === 0) return null;
  const caption = h("figcaption", {});
  const body = h("div", {});
  const redraw = () => {
    if (view.model !== shown) return;
    const tree = nearest(view, trees);
    caption.textContent = `The plan as a rule, at the study's budget of ${view.format.trimmedMoney(tree.budget_per_unit, budgetDecimals(view))} per ${view.unitName}`;
    replaceChildren(body, h("ul", { class: "tree", "aria-label": "Rule" }, nodeOf(view, tree, 0, "", kMostLevels)), tree.sentence ? note(tree.sentence) : null, fold("The rule as a table", leavesTable(view, tree)));
  };
  view.onChange(redraw);
  redraw();
  return h("figure", {}, caption, body);
}

function nearest(view: View, trees: PolicyTree[]): PolicyTree {
  const away = (tree: PolicyTree) => Math.abs((tree.budget_per_unit ?? Infinity) - (view.budget ?? 0));
  return trees.reduce((best, tree) => (away(tree) < away(best) ? tree : best));
}

// One node with what follows it; `answer` is how it was reached.
function nodeOf(view: View, tree: PolicyTree, place: number, answer: string, levels: number): Child {
  const node = tree.nodes?.[place];
  if (!node || levels === 0) return null;
  const reached = answer ? h("span", { class: "answer-word" }, `${answer}: `) : null;
  const leaf = isNumber(node.leaf) ? tree.leaves?.[node.leaf] : null;
  if (leaf) return h("li", { class: "leaf" }, reached, leafText(view, leaf));
  const follow = (next: number | null | undefined, word: string) => (isNumber(next) && next > place ? nodeOf(view, tree, next, word, levels - 1) : null);
  return h("li", {}, reached, h("span", { class: "question" }, `${node.question ?? ""}?`), h("ul", {}, follow(node.yes, "yes"), follow(node.no, "no")));
}

function leafText(view: View, leaf: PolicyLeaf): HTMLElement {
  const arm = view.arms.indexOf(leaf.arm ?? "");
  const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
  if (arm >= 0) swatch.style.background = view.armColor(arm);
  const share = isNumber(leaf.share) ? ` ${view.format.percent(leaf.share, leaf.share < 0.1 ? 1 : 0)} of all` : "";
  const nothing = arm >= 0 && arm === view.control ? " (control)" : "";
  return h("span", { class: "gets" }, swatch, h("strong", {}, (leaf.arm ?? "") + nothing), h("small", {}, share));
}

function leavesTable(view: View, tree: PolicyTree): HTMLElement {
  const leaves = list(tree.leaves);
  const revenue = decimalsOfIntervals(leaves.map((leaf) => leaf.revenue));
  const cost = decimalsOfIntervals(leaves.map((leaf) => leaf.cost));
  return table({
    caption: "The rule",
    hideCaption: true,
    columns: [{ title: "who", kind: "wide" }, { title: "gets", kind: "text" }, { title: "units" }, { title: "share" }, { title: `extra ${view.revenueName} per ${view.unitName}` }, { title: `extra ${view.costName} per ${view.unitName}` }],
    rows: leaves.map((leaf) => [leaf.units ?? "", leaf.arm ?? "", view.format.count(leaf.num_units), view.format.percent(leaf.share), intervalCell(view, leaf.revenue, revenue, 1, true), intervalCell(view, leaf.cost, cost)]),
  });
}

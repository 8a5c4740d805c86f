// SPDX-License-Identifier: Apache-2.0
//
// How the results were made, limits included.
import { h, section, table, type Child } from "../dom";
import { isNumber, list } from "../results";
import type { View } from "../view";

export function how(view: View): Child {
  const results = view.results;
  const sentences = list(results.how);
  const rows: Child[][] = [];
  if (results.made_by?.version) rows.push(["dfcl version", results.made_by.version]);
  if (results.made_by?.verb) rows.push(["made by", `dfcl ${results.made_by.verb}`]);
  if (results.estimator) rows.push(["estimator", results.estimator]);
  if (results.nuisance) rows.push(["nuisance prediction", results.nuisance]);
  if (results.intervals) rows.push(["intervals", results.intervals]);
  if (isNumber(results.resamples)) rows.push(["resamples", view.format.count(results.resamples)]);
  for (const option of list(results.made_by?.options)) rows.push([option[0] ?? "", option[1] ?? ""]);
  for (const shown of view.models) {
    if (shown.model.method) rows.push([`method of ${shown.name}`, shown.model.method]);
  }
  if (sentences.length === 0 && rows.length === 0) return null;
  return section(
    "how",
    "How this was made",
    sentences.length > 0 ? h("ul", {}, ...sentences.map((sentence) => h("li", {}, sentence))) : null,
    rows.length > 0
      ? table({ caption: "What the results depend on", columns: [{ title: "What", kind: "text" }, { title: "Value", kind: "wide" }], rows })
      : null,
  );
}

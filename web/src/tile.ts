// SPDX-License-Identifier: Apache-2.0
//
// One figure of a plan: its name, the number, its interval, and a few words.
import { h } from "./dom";
import { kMissing } from "./format";
import { isNumber, type Interval, type Maybe } from "./results";

export interface TileText {
  big: string;
  range: string; // "" for none
}

// An interval as a tile shows it: the value as `write` has it, the ends as `plain` has them.
export function tileText(interval: Maybe<Interval>, write: (value: number) => string, plain: (value: number) => string): TileText {
  if (!isNumber(interval?.value)) return { big: kMissing, range: "" };
  const { low, high } = interval;
  return { big: write(interval.value), range: isNumber(low) && isNumber(high) ? `${plain(low)} to ${plain(high)}` : "" };
}

// Good where the whole interval is above zero, bad where it is below.
export function toneOf(interval: Maybe<Interval>): string {
  if (isNumber(interval?.low) && interval.low > 0) return "good";
  return isNumber(interval?.high) && interval.high < 0 ? "bad" : "";
}

export function tile(name: string, text: TileText, words: string, tone = ""): HTMLElement {
  const range = text.range ? h("span", { class: "range" }, text.range) : null;
  const big = h("span", { class: "big" }, text.big);
  big.style.setProperty("--letters", String(text.big.length)); // the letters shrink until they fit
  return h("div", { class: "tile", "data-tone": tone }, h("dt", {}, name), h("dd", {}, big, range, h("small", {}, words)));
}

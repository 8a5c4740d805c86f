// SPDX-License-Identifier: Apache-2.0
//
// Numbers as the study's [report] section wants them written. Everything the page shows goes through here.
import { isNumber, type Interval, type Maybe, type Results } from "./results";

const kMinus = "\u2212";
const kThinSpace = "\u202f";
const kHardSpace = "\u00a0";
export const kMissing = "\u2013";

export class NumberFormat {
  readonly currency: string;
  private readonly decimal: string;
  private readonly thousands: string;

  constructor(report: Results["report"]) {
    this.currency = report?.currency ?? "";
    this.decimal = report?.decimal || ".";
    this.thousands = report?.thousands ?? ",";
  }

  // With a fixed number of decimals, so that the numbers of a column stand below each other.
  fixed(value: Maybe<number>, decimals: number): string {
    if (!isNumber(value)) return kMissing;
    const text = Math.abs(value).toFixed(decimals);
    if (text.includes("e")) return (value < 0 ? kMinus : "") + text;
    const [whole = "0", fraction] = text.split(".");
    const grouped = whole.length > 3 ? whole.replace(/\B(?=(\d{3})+(?!\d))/g, () => this.thousands) : whole;
    const sign = value < 0 && Number(text) !== 0 ? kMinus : "";
    return sign + grouped + (fraction ? this.decimal + fraction : "");
  }

  // Without zeros at the end of the fraction, for the ticks of axes.
  trimmed(value: number, decimals: number): string {
    const zeros = decimals > 0 ? (value.toFixed(decimals).match(/\.?0+$/)?.[0].replace(".", "").length ?? 0) : 0;
    return this.fixed(value, Math.max(decimals - zeros, 0));
  }

  signed(value: Maybe<number>, decimals: number): string {
    const text = this.fixed(value, decimals);
    return isNumber(value) && value > 0 ? "+" + text : text;
  }

  count(value: Maybe<number>): string {
    return this.fixed(value, 0);
  }

  // Four significant digits.
  plain(value: Maybe<number>): string {
    return this.fixed(value, isNumber(value) ? decimalsOf([value], 4) : 0);
  }

  money(value: Maybe<number>, decimals?: number): string {
    return this.withCurrency(this.fixed(value, decimals ?? (isNumber(value) ? decimalsOf([value], 4) : 0)));
  }

  // Large figures as they are read aloud: four digits of millions or billions. Tables beside them have all digits.
  short(value: Maybe<number>, decimals: number): string {
    if (!isNumber(value) || Math.abs(value) < 1e6) return this.fixed(value, decimals);
    const [unit, letters] = largeUnit(Math.abs(value));
    return this.fixed(value / unit, decimalsOf([value / unit], 4)) + kHardSpace + letters;
  }

  shortMoney(value: Maybe<number>, decimals?: number): string {
    return this.withCurrency(this.short(value, decimals ?? (isNumber(value) ? decimalsOf([value], 4) : 0)));
  }

  // "+" before what is above zero.
  plus(value: Maybe<number>, text: string): string {
    return isNumber(value) && value > 0 ? "+" + text : text;
  }

  // The currency stands before the number, a code with a blank between.
  withCurrency(text: string): string {
    if (!this.currency || text === kMissing) return text;
    const [, sign = "", digits = text] = /^([+\u2212]?)(.*)$/.exec(text) ?? [];
    return sign + this.currency + (/[\p{L}\p{N}]$/u.test(this.currency) ? kHardSpace : "") + digits;
  }

  // Without zeros at its end, for budgets in running text.
  trimmedMoney(value: Maybe<number>, decimals: number): string {
    return this.withCurrency(isNumber(value) ? this.trimmed(value, decimals) : kMissing);
  }

  signedMoney(value: Maybe<number>, decimals: number): string {
    return this.withCurrency(this.signed(value, decimals));
  }

  percent(share: Maybe<number>, decimals = 1): string {
    return isNumber(share) ? this.fixed(100 * share, decimals) + kThinSpace + "%" : kMissing;
  }

  pValue(p: Maybe<number>): string {
    if (!isNumber(p)) return kMissing;
    return p < 0.0001 ? "< " + this.fixed(0.0001, 4) : this.fixed(p, p < 0.01 ? 4 : 3);
  }

  range(low: Maybe<number>, high: Maybe<number>, decimals: number): string {
    if (!isNumber(low) || !isNumber(high)) return "";
    return `${this.fixed(low, decimals)} to ${this.fixed(high, decimals)}`;
  }
}

// The unit that a figure of at least a million is written in, and its letters.
export function largeUnit(size: number): [number, string] {
  return size < 1e9 ? [1e6, "M"] : [1e9, "bn"];
}

// Decimals that show `digits` significant digits of the largest of the values.
export function decimalsOf(values: number[], digits: number): number {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (!(largest > 0)) return 0;
  return clampDecimals(digits - 1 - Math.floor(Math.log10(largest)));
}

// One number of decimals for a column of intervals: two digits of the typical half width, and no fewer than three
// significant digits of the values.
export function decimalsOfIntervals(intervals: Maybe<Interval>[]): number {
  const values: number[] = [];
  const halves: number[] = [];
  for (const interval of intervals) {
    if (isNumber(interval?.value)) values.push(interval.value);
    if (isNumber(interval?.low) && isNumber(interval.high) && interval.high > interval.low) {
      halves.push((interval.high - interval.low) / 2);
    }
  }
  if (halves.length === 0) return decimalsOf(values, 4);
  halves.sort((a, b) => a - b);
  const typical = halves[Math.floor(halves.length / 2)] ?? 1;
  return Math.max(clampDecimals(1 - Math.floor(Math.log10(typical))), Math.min(decimalsOf(values, 3), 3));
}

function clampDecimals(decimals: number): number {
  return Math.min(Math.max(decimals, 0), 8);
}

// SPDX-License-Identifier: Apache-2.0
//
// What the page reads, and how: the program has checked the types of the keys before it embeds them, but every key may be
// absent or null.

export * from "./results_format";
import type { Maybe } from "./results_format";

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

// The list without its nulls; empty where there is none.
export function list<T>(values: Maybe<Maybe<T>[]>): T[] {
  return (values ?? []).filter((value): value is T => value !== null && value !== undefined);
}

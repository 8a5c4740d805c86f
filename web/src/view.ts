// SPDX-License-Identifier: Apache-2.0
//
// What the reader has chosen (which model, which budget, totals or figures per unit), and what every section needs to
// draw: the results, the number format, the names and colours. Sections subscribe and redraw when a choice changes.
import { atBudget, curveOf, placeOf, type CurvePoint } from "./curve";
import { NumberFormat } from "./format";
import { plainName } from "./names";
import { isNumber, list, type Interval, type Maybe, type Model, type Results } from "./results";

export interface ShownModel {
  name: string;
  title: string; // in plain words, with the name beside
  model: Model;
  curve: CurvePoint[];
  look: Look;
  swept: boolean; // one of several values tried for a setting
}

// How a series is drawn: colour, symbol and dashes, so that it can be told apart without colour.
export interface Look {
  color: string;
  symbol: Symbol;
  dash?: string;
}

const kSymbols = ["circle", "square", "triangle", "diamond", "cross", "star", "wye", "hexagon"] as const;
type Symbol = (typeof kSymbols)[number];

// No two alike: after every eight, other dashes, and the symbols move on by three.
export function lookOf(index: number): Look {
  const place = index % kSymbols.length;
  const round = Math.floor(index / kSymbols.length);
  const symbol = kSymbols[(place + 3 * round) % kSymbols.length] ?? "circle";
  return { color: `var(--series-${place})`, symbol, ...(round > 0 ? { dash: `${3 * round - 1} 3` } : {}) };
}

export class View {
  readonly format: NumberFormat;
  readonly models: ShownModel[];
  readonly arms: string[];
  readonly control: number; // index of the control arm; -1 where none is named
  readonly budgets: number[]; // per unit, as the study declares them
  readonly units: number | null;
  readonly unitName: string; // what a unit is called
  readonly revenueName: string;
  readonly costName: string;
  readonly spendName: string; // what is spent; "cost" where the revenue is called "spend"
  readonly valuePerRevenue: number | null; // what one unit of revenue is worth
  readonly controlCost: number; // per unit
  readonly levelText: string; // "95 %"
  readonly scope: string; // what the intervals of models are over
  readonly recommended: { model: ShownModel; budget: number } | null;

  private readonly active: Set<string>;
  private chosenModel: ShownModel | null;
  private chosenBudget: number | null;
  private showTotals: boolean;
  private readonly listeners: (() => void)[] = [];

  constructor(readonly results: Results) {
    this.format = new NumberFormat(results.report);
    this.models = shownModels(results);
    const arms = list(results.trial?.arms);
    this.arms = arms.map((arm, index) => arm.label ?? String(index));
    this.control = arms.findIndex((arm) => arm.control === true);
    this.budgets = list(results.budgets)
      .map((budget) => budget.per_unit)
      .filter(isNumber);
    this.units = isNumber(results.trial?.units) && results.trial.units > 0 ? results.trial.units : null;
    this.unitName = results.report?.unit || "unit";
    this.revenueName = results.report?.revenue_name || "revenue";
    this.costName = results.report?.cost_name || "cost";
    this.spendName = /\bspend/i.test(this.revenueName) ? "cost" : "spend";
    this.valuePerRevenue = isNumber(results.value_per_revenue) && results.value_per_revenue > 0 ? results.value_per_revenue : null;
    this.controlCost = results.control?.cost?.value ?? 0;
    this.levelText = this.format.percent(results.level ?? 0.95, 0);
    this.scope = scopeOf(results);
    this.active = new Set(this.models.filter((shown) => !shown.swept || shown.model.reference).map((shown) => shown.name));
    this.showTotals = this.units !== null;
    this.recommended = this.findRecommended();
    this.chosenModel = this.recommended?.model ?? this.models.find((shown) => shown.curve.length > 0) ?? this.models[0] ?? null;
    this.chosenBudget = this.startBudget();
  }

  // The model that all figures above the appendix are about.
  get model(): ShownModel | null {
    return this.chosenModel;
  }

  set model(model: ShownModel | null) {
    this.chosenModel = model;
    this.budget = this.chosenBudget;
  }

  // Budgets at which the chosen model was evaluated, rising; the slider stops nowhere else.
  get stops(): number[] {
    return this.chosenModel?.curve.map((point) => point.budget_per_unit) ?? [];
  }

  // One of the stops; null without any.
  get budget(): number | null {
    return this.chosenBudget;
  }

  set budget(budget: number | null) {
    this.chosenBudget = this.nearestStop(budget);
    this.tell();
  }

  // What was found for a model at the chosen budget; null where it was not evaluated there.
  pointOf(shown: Maybe<ShownModel>): CurvePoint | null {
    return shown && this.chosenBudget !== null ? atBudget(shown.curve, this.chosenBudget) : null;
  }

  get isRecommended(): boolean {
    return this.recommended !== null && this.chosenModel === this.recommended.model && this.chosenBudget === this.nearestStop(this.recommended.budget);
  }

  get totals(): boolean {
    return this.showTotals;
  }

  set totals(on: boolean) {
    this.showTotals = on && this.units !== null;
    this.tell();
  }

  // What figures per unit are multiplied by.
  get scale(): number {
    return this.showTotals && this.units !== null ? this.units : 1;
  }

  scaled(interval: Maybe<Interval>): Interval | null {
    if (!interval || !isNumber(interval.value)) return null;
    const times = (value: Maybe<number>) => (isNumber(value) ? value * this.scale : null);
    return { value: times(interval.value), low: times(interval.low), high: times(interval.high) };
  }

  // "per customer", or "for 19,172 customers".
  get basis(): string {
    return this.showTotals ? `for ${this.unitCount(this.units)}` : `per ${this.unitName}`;
  }

  unitCount(units: Maybe<number>): string {
    return `${this.format.count(units)} ${units === 1 ? this.unitName : plural(this.unitName)}`;
  }

  get activeModels(): ShownModel[] {
    return this.models.filter((shown) => this.active.has(shown.name));
  }

  isActive(name: string): boolean {
    return this.active.has(name);
  }

  setActive(name: string, on: boolean): void {
    if (on) this.active.add(name);
    else this.active.delete(name);
    this.tell();
  }

  titleOf(name: string): string {
    return this.models.find((shown) => shown.name === name)?.title ?? name;
  }

  // The look of a series in a free figure: that of the model of this name, else by its place.
  lookOfSeries(name: string, index: number): Look {
    return this.models.find((shown) => shown.name === name)?.look ?? lookOf(index);
  }

  // The range of all curves' budgets; null where there is no curve to slide along.
  budgetRange(): [number, number] | null {
    const ends = this.models.flatMap((shown) => shown.curve.map((point) => point.budget_per_unit));
    const low = Math.min(...ends);
    const high = Math.max(...ends);
    return high > low ? [low, high] : null;
  }

  totalOf(budget: number | null | undefined): number | null {
    return isNumber(budget) && this.units !== null ? budget * this.units : null;
  }

  // The declared budget nearest to the chosen one.
  nearestBudget(): number {
    const chosen = this.chosenBudget ?? this.budgets[0] ?? 0;
    let nearest = 0;
    this.budgets.forEach((budget, index) => {
      if (Math.abs(budget - chosen) < Math.abs((this.budgets[nearest] ?? 0) - chosen)) nearest = index;
    });
    return nearest;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  // Graded arms are shades of one hue, the control is grey.
  armColor(arm: number): string {
    if (arm === this.control) return "var(--arm-control)";
    const treated = this.arms.map((_, index) => index).filter((index) => index !== this.control);
    const place = treated.indexOf(arm);
    const share = treated.length > 1 ? place / (treated.length - 1) : 0.6;
    return `color-mix(in oklab, var(--arm-high) ${Math.round(100 * share)}%, var(--arm-low))`;
  }

  // Draws anew what does not depend on a choice kept here.
  refresh(): void {
    this.tell();
  }

  private nearestStop(budget: number | null): number | null {
    const stops = this.stops;
    if (budget === null || stops.length === 0) return stops[0] ?? null;
    return stops.reduce((best, stop) => (Math.abs(stop - budget) < Math.abs(best - budget) ? stop : best));
  }

  // The plan that the answer is about.
  private findRecommended() {
    const verdict = this.results.verdict;
    const model = this.models.find((shown) => shown.name === verdict?.model);
    const budget = verdict?.budget_per_unit;
    return model && isNumber(budget) && placeOf(model.curve, budget) >= 0 ? { model, budget } : null;
  }

  private startBudget(): number | null {
    return this.nearestStop(this.recommended?.budget ?? this.budgets[Math.floor((this.budgets.length - 1) / 2)] ?? null);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

// Values tried for a setting come after the methods themselves, so that these have the plainest looks.
function shownModels(results: Results): ShownModel[] {
  const tried = new Set(list(results.entries).flatMap((entry) => (entry.swept && entry.name ? [entry.name] : [])));
  const models = list(results.models).map((model, index) => {
    const name = model.name || `model ${index + 1}`;
    return { name, title: titleOf(name, model.method), model, curve: curveOf(model), swept: tried.has(name) };
  });
  const order = [...models.filter((shown) => !shown.swept), ...models.filter((shown) => shown.swept)];
  return models.map((shown) => ({ ...shown, look: lookOf(order.indexOf(shown)) }));
}

// "boosted trees (tsm-boost)"; with the name of the file where that is another than the method's.
function titleOf(name: string, method: Maybe<string>): string {
  const plain = plainName(method ?? name);
  return plain ? `${plain} (${name})` : name;
}

// Enough for what units are called in studies.
export function plural(word: string): string {
  if (/(s|x|ch|sh)$/i.test(word)) return `${word}es`;
  return /[^aeiou]y$/i.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}

function scopeOf(results: Results): string {
  const units = `Intervals over ${results.trial?.split ? `${results.trial.split} ` : ""}units`;
  const seeds = list(results.made_by?.options).find((option) => option[0] === "training seeds")?.[1]?.split(", ");
  if (!seeds) return `${units}.`;
  return seeds.length > 1 ? `${units}, models of the first training seed (${seeds[0]}).` : `${units}, one training seed.`;
}

// SPDX-License-Identifier: Apache-2.0
//
// What the reader has chosen (which models, which budget), and what every section needs to draw: the results, the
// number format, the names and colours. Sections subscribe and redraw when a choice changes.
import { curveOf, type CurvePoint } from "./curve";
import { NumberFormat } from "./format";
import { isNumber, list, type Model, type Results } from "./results";

export interface ShownModel {
  name: string;
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
  readonly revenueName: string;
  readonly costName: string;
  readonly levelText: string; // "95 %"
  readonly scope: string; // what the intervals of models are over

  private readonly active: Set<string>;
  private chosenBudget: number | null;
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
    this.units = isNumber(results.trial?.units) ? results.trial.units : null;
    this.revenueName = results.report?.revenue_name || "revenue";
    this.costName = results.report?.cost_name || "cost";
    this.levelText = this.format.percent(results.level ?? 0.95, 0);
    this.scope = scopeOf(results);
    this.active = new Set(this.models.filter((shown) => !shown.swept || shown.model.reference).map((shown) => shown.name));
    this.chosenBudget = this.startBudget();
  }

  get budget(): number | null {
    return this.chosenBudget;
  }

  set budget(budget: number | null) {
    this.chosenBudget = budget;
    this.tell();
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

  private startBudget(): number | null {
    const range = this.budgetRange();
    if (!range) return this.budgets[0] ?? null;
    const declared = this.budgets[Math.floor((this.budgets.length - 1) / 2)];
    return Math.min(Math.max(declared ?? (range[0] + range[1]) / 2, range[0]), range[1]);
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
    return { name, model, curve: curveOf(model), swept: tried.has(name) };
  });
  const order = [...models.filter((shown) => !shown.swept), ...models.filter((shown) => shown.swept)];
  return models.map((shown) => ({ ...shown, look: lookOf(order.indexOf(shown)) }));
}

function scopeOf(results: Results): string {
  const units = `Intervals over ${results.trial?.split ? `${results.trial.split} ` : ""}units`;
  const seeds = list(results.made_by?.options).find((option) => option[0] === "training seeds")?.[1]?.split(", ");
  if (!seeds) return `${units}.`;
  return seeds.length > 1 ? `${units}, models of the first training seed (${seeds[0]}).` : `${units}, one training seed.`;
}

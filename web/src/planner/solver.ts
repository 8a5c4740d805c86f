// SPDX-License-Identifier: Apache-2.0
//
// What the reader asks for and what the program answers. At most two requests are under way, the newest settings win, and
// an answer that is older than one already shown is dropped.
import { isNumber } from "../results";

export interface Facts {
  source: string;
  arms: string[];
  control: number;
  units: number;
  is_index: boolean;
  control_revenue: number;
  control_cost: number;
  most_spend: number;
  segments: string[];
  units_per_segment: number[];
  has_eligibility: boolean;
  has_second: boolean;
  most_second: number;
  worth: number | null;
  currency: string; // "": plain numbers
  unit: string; // what a unit is called
  unit_plural: string;
  revenue_is_money: boolean;
  warnings: string[];
  has_report: boolean;
}

export interface Settings {
  budget: number | null; // above everyone in control; null: no limit
  objective: "revenue" | "profit";
  worth: number;
  min_roi: number;
  min_units: (number | null)[];
  max_units: (number | null)[];
  segment_budgets: (number | null)[];
  second_budget: number | null;
  keep_eligibility: boolean;
}

// The keys of `dfcl allocate --json` that the page shows.
export interface Plan {
  status: string;
  units: number;
  budget: number | null;
  least_spend: number;
  spend?: number;
  binding?: string;
  value?: number;
  revenue?: number;
  incremental_revenue?: number;
  incremental_cost?: number;
  incremental_profit?: number;
  roi?: number;
  bound?: number;
  gap?: number;
  multiplier?: number;
  units_per_arm?: Record<string, number>;
  second?: { spend: number; multiplier: number };
  segments?: Record<string, { spend: number; multiplier: number }>;
}

export interface Answer {
  id: number;
  plan: Plan;
  moves: number[][]; // units by the arm in the plan compared with and the arm now
  settings: Settings;
  milliseconds: number; // from the move to the answer
}

const kMostUnderWay = 2;
const kRetryMilliseconds = 80;

export class Solver {
  answer: Answer | null = null;
  trouble = "";
  private readonly listeners: (() => void)[] = [];
  private asked = 0; // the newest move
  private shown = 0; // the move that is shown
  private underWay = 0;
  private waits = false; // a move is not sent yet
  private movedAt = 0;
  private pins = false;

  constructor(
    readonly facts: Facts,
    readonly settings: Settings,
  ) {}

  get isBusy(): boolean {
    return this.shown < this.asked && this.trouble === "";
  }

  // Since the newest move.
  get secondsWaited(): number {
    return (performance.now() - this.movedAt) / 1000;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  // Solves for the settings as they are now; `pin` makes the answer what later ones are compared with.
  move(pin = false): void {
    ++this.asked;
    this.movedAt = performance.now();
    this.pins ||= pin;
    this.trouble = "";
    this.send();
    this.tell();
  }

  private send(): void {
    if (this.underWay >= kMostUnderWay) {
      this.waits = true;
      return;
    }
    this.waits = false;
    const move = this.asked;
    const settings = structuredClone(this.settings);
    const pin = this.pins;
    this.pins = false;
    ++this.underWay;
    void this.ask(move, settings, pin).finally(() => {
      --this.underWay;
      if (this.waits) this.send();
    });
  }

  private async ask(move: number, settings: Settings, pin: boolean): Promise<void> {
    const { second_budget, ...others } = settings;
    const body = JSON.stringify({ ...others, ...(this.facts.has_second ? { second_budget } : {}), pin });
    const from = this.movedAt;
    try {
      const reply = await fetch("solve", { method: "POST", headers: { "Content-Type": "application/json" }, body });
      const found = (await reply.json()) as Partial<Answer> & { error?: string; stale?: boolean };
      if (found.stale) {
        // Given up for a newer move: of this page, or of another one; then it is asked again.
        this.pins ||= pin;
        if (move === this.asked) setTimeout(() => move === this.asked && this.send(), kRetryMilliseconds);
        return;
      }
      if (move < this.shown) return; // a newer one is shown already
      this.shown = move;
      if (!reply.ok || !found.plan || !isNumber(found.id)) this.trouble = found.error ?? `The program answered ${reply.status}.`;
      else this.answer = { id: found.id, plan: found.plan, moves: found.moves ?? [], settings, milliseconds: performance.now() - from };
    } catch {
      if (move < this.shown) return;
      this.shown = move;
      this.trouble = "The program does not answer. Is dfcl serve still running?";
    }
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

export function startSettings(facts: Facts): Settings {
  return {
    budget: Number((0.5 * Math.max(facts.most_spend, 0)).toPrecision(6)),
    objective: "revenue",
    worth: facts.worth ?? 1,
    min_roi: 0,
    min_units: facts.arms.map(() => null),
    max_units: facts.arms.map(() => null),
    segment_budgets: facts.segments.map(() => null),
    second_budget: null,
    keep_eligibility: true,
  };
}

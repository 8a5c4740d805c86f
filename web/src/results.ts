// SPDX-License-Identifier: Apache-2.0
//
// What the page reads: the results file of dfcl, version 1 (docs/report.md). The program has checked the types of the
// keys before it embeds them; every key but the first two may be absent or null.

export type Maybe<T> = T | null | undefined;

export interface Interval {
  value: Maybe<number>;
  low?: Maybe<number>;
  high?: Maybe<number>;
}

export interface PlanValue {
  budget_per_unit?: Maybe<number>;
  multiplier?: Maybe<number>;
  feasible?: Maybe<boolean>;
  revenue?: Maybe<Interval>;
  incremental_revenue?: Maybe<Interval>;
  cost?: Maybe<Interval>;
  return_per_cost?: Maybe<Interval>;
  spend_over_budget?: Maybe<Interval>;
  predicted_revenue?: Maybe<number>;
  predicted_cost?: Maybe<number>;
  share_per_arm?: Maybe<Maybe<number>[]>;
  true_revenue?: Maybe<number>;
  true_cost?: Maybe<number>;
  share_of_oracle?: Maybe<number>;
}

export interface CalibrationPoint {
  predicted?: Maybe<number>;
  observed?: Maybe<Interval>;
  units?: Maybe<number>;
}

export interface SegmentValue {
  value?: Maybe<string>;
  units?: Maybe<number>;
  share_per_arm?: Maybe<Maybe<Maybe<number>[]>[]>; // budgets x arms
  cost_per_unit?: Maybe<Maybe<number>[]>;
  revenue_per_unit?: Maybe<Maybe<number>[]>;
}

export interface Segment {
  column?: Maybe<string>;
  values?: Maybe<SegmentValue[]>;
  values_left_out?: Maybe<number>; // set by the program where a column has too many values to show
}

export interface ArmArea {
  arm?: Maybe<string>;
  published?: Maybe<Interval>;
  levels?: Maybe<number>;
  area?: Maybe<Interval>;
  unnormalised_area?: Maybe<Interval>;
  note?: Maybe<string>;
}

export interface ArmUplift {
  arm?: Maybe<string>;
  qini?: Maybe<Interval>;
  auuc?: Maybe<Interval>;
}

export interface FitError {
  mse?: Maybe<number>;
  log_loss?: Maybe<number>;
}

export interface Model {
  name?: Maybe<string>;
  method?: Maybe<string>;
  reference?: Maybe<boolean>;
  index?: Maybe<boolean>;
  deployed?: Maybe<PlanValue[]>;
  matched?: Maybe<PlanValue[]>;
  curve?: Maybe<PlanValue[]>;
  aucc?: Maybe<ArmArea[]>;
  qini?: Maybe<ArmUplift[]>;
  fit?: Maybe<{ revenue?: Maybe<FitError>; cost?: Maybe<FitError> }>;
  calibration?: Maybe<{ revenue?: Maybe<CalibrationPoint[]>; cost?: Maybe<CalibrationPoint[]> }>;
  segments?: Maybe<Segment[]>;
  importance?: Maybe<{ feature?: Maybe<string>; share?: Maybe<number> }[]>;
}

export interface Difference {
  model?: Maybe<string>;
  reference?: Maybe<string>;
  budget_per_unit?: Maybe<number>;
  revenue?: Maybe<Interval>;
  simultaneous?: Maybe<{ low?: Maybe<number>; high?: Maybe<number> }>;
  relative?: Maybe<Interval>;
  cost?: Maybe<Interval>; // how much more it spends
  p_value?: Maybe<number>;
  sentence?: Maybe<string>;
}

export interface AreaDifference {
  model?: Maybe<string>;
  reference?: Maybe<string>;
  arm?: Maybe<string>;
  published?: Maybe<Interval>;
  area?: Maybe<Interval>;
  p_value?: Maybe<number>;
  sentence?: Maybe<string>;
}

export interface OraclePoint {
  budget_per_unit?: Maybe<number>;
  cost?: Maybe<number>;
  revenue?: Maybe<number>;
  incremental_revenue?: Maybe<number>;
}

export interface Finding {
  kind?: Maybe<string>;
  text?: Maybe<string>;
  hint?: Maybe<string>;
}

export interface CheckArm {
  arm?: Maybe<string>;
  control?: Maybe<boolean>;
  units?: Maybe<number>;
  share?: Maybe<number>;
  designed_share?: Maybe<number>;
  revenue?: Maybe<Interval>;
  cost?: Maybe<Interval>;
  revenue_difference?: Maybe<Interval & { p?: Maybe<number> }>;
  cost_difference?: Maybe<Interval & { p?: Maybe<number> }>;
}

export interface Check {
  verdict?: Maybe<string>;
  problems?: Maybe<Finding[]>;
  warnings?: Maybe<Finding[]>;
  arms?: Maybe<CheckArm[]>;
  sample_ratio?: Maybe<{ run?: Maybe<boolean>; why_not?: Maybe<string>; chi_square?: Maybe<number>; degrees?: Maybe<number>; p?: Maybe<number> }>;
  balance?: Maybe<{
    run?: Maybe<boolean>;
    why_not?: Maybe<string>;
    p?: Maybe<number>;
    columns?: Maybe<number>;
    features?: Maybe<{ name?: Maybe<string>; difference?: Maybe<number>; arm?: Maybe<string>; p?: Maybe<number> }[]>;
  }>;
  notes?: Maybe<string[]>;
}

export interface FigurePoint {
  x?: Maybe<number | string>;
  y?: Maybe<number>;
  low?: Maybe<number>;
  high?: Maybe<number>;
}

export interface Figure {
  id?: Maybe<string>;
  title?: Maybe<string>;
  note?: Maybe<string>;
  x_label?: Maybe<string>;
  y_label?: Maybe<string>;
  x_scale?: Maybe<string>;
  kind?: Maybe<string>;
  panels?: Maybe<boolean>; // the first series beside each of the others
  series?: Maybe<{ name?: Maybe<string>; points?: Maybe<FigurePoint[]> }[]>;
}

export interface Table {
  id?: Maybe<string>;
  title?: Maybe<string>;
  note?: Maybe<string>;
  columns?: Maybe<string[]>;
  rows?: Maybe<Maybe<string | number>[][]>;
}

export interface Results {
  format: string;
  format_version: number;
  kind?: Maybe<string>;
  made_by?: Maybe<{ version?: Maybe<string>; verb?: Maybe<string>; options?: Maybe<Maybe<string>[][]> }>;
  report?: Maybe<{
    title?: Maybe<string>;
    currency?: Maybe<string>;
    revenue_name?: Maybe<string>;
    cost_name?: Maybe<string>;
    decimal?: Maybe<string>;
    thousands?: Maybe<string>;
  }>;
  verdict?: Maybe<{ status?: Maybe<string>; sentence?: Maybe<string>; details?: Maybe<string[]> }>;
  trial?: Maybe<{
    split?: Maybe<string>;
    units?: Maybe<number>;
    clusters?: Maybe<number>;
    arms?: Maybe<{ label?: Maybe<string>; control?: Maybe<boolean>; units?: Maybe<number>; share?: Maybe<number> }[]>;
  }>;
  estimator?: Maybe<string>;
  nuisance?: Maybe<string>;
  intervals?: Maybe<string>;
  resamples?: Maybe<number>;
  level?: Maybe<number>;
  control?: Maybe<{ revenue?: Maybe<Interval>; cost?: Maybe<Interval> }>;
  budgets?: Maybe<{ per_unit?: Maybe<number>; total?: Maybe<number> }[]>;
  models?: Maybe<Model[]>;
  differences?: Maybe<Difference[]>;
  aucc_differences?: Maybe<AreaDifference[]>;
  oracle?: Maybe<{ curve?: Maybe<OraclePoint[]>; at_budgets?: Maybe<OraclePoint[]> }>;
  check?: Maybe<Check>;
  entries?: Maybe<{ name?: Maybe<string>; swept?: Maybe<string> }[]>; // of a comparison; swept: the key whose value was tried
  figures?: Maybe<Figure[]>;
  tables?: Maybe<Table[]>;
  how?: Maybe<string[]>;
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

// The list without its nulls; empty where there is none.
export function list<T>(values: Maybe<Maybe<T>[]>): T[] {
  return (values ?? []).filter((value): value is T => value !== null && value !== undefined);
}

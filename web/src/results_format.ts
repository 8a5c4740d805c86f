// SPDX-License-Identifier: Apache-2.0
//
// The keys of a results file that reach the page, made from their one description in dfcl/report; a test of that
// room compares this file with it (docs/architecture.md). Do not edit it.

export type Maybe<T> = T | null | undefined;

// How the results were made: all that changes them.
export interface MadeBy {
  version?: Maybe<string>;
  verb?: Maybe<string>;
  options?: Maybe<Maybe<Maybe<string>[]>[]>;
}

// Words and marks for whoever shows the results; `[report]` of the study.
export interface ReportWords {
  title?: Maybe<string>;
  currency?: Maybe<string>;
  revenue_name?: Maybe<string>;
  cost_name?: Maybe<string>;
  unit?: Maybe<string>;
  revenue_is_money?: Maybe<boolean>;
  decimal?: Maybe<string>;
  thousands?: Maybe<string>;
}

// The answer in words.
export interface Verdict {
  status?: Maybe<string>;
  sentence?: Maybe<string>;
  details?: Maybe<Maybe<string>[]>;
  pays_back?: Maybe<string>;
  beats_random?: Maybe<string>;
  model?: Maybe<string>;
  budget_per_unit?: Maybe<number>; // per unit
  not_pre_declared?: Maybe<string>;
}

// An arm among the rows that were looked at.
export interface TrialArm {
  label?: Maybe<string>;
  control?: Maybe<boolean>;
  units?: Maybe<number>; // units
  share?: Maybe<number>; // share
}

// The rows that were looked at.
export interface TrialRows {
  split?: Maybe<string>;
  units?: Maybe<number>; // units
  clusters?: Maybe<number>;
  arms?: Maybe<Maybe<TrialArm>[]>;
}

// An estimate with its interval; the ends are null where no interval is claimed.
export interface Interval {
  value?: Maybe<number>;
  low?: Maybe<number>;
  high?: Maybe<number>;
}

// Everyone in control.
export interface Control {
  revenue?: Maybe<Interval>; // per unit
  cost?: Maybe<Interval>; // per unit
}

// A budget at which plans are judged.
export interface Budget {
  per_unit?: Maybe<number>; // per unit
  total?: Maybe<number>; // total
}

// What a plan does to a further outcome, of which more is worse.
export interface Guardrail {
  name?: Maybe<string>;
  control?: Maybe<Interval>; // per unit
  increment?: Maybe<Interval>; // per unit
  relative?: Maybe<Interval>; // share
  simultaneous_low?: Maybe<number>; // per unit
  simultaneous_high?: Maybe<number>; // per unit
  harmed?: Maybe<string>;
  sentence?: Maybe<string>;
}

// A plan at a budget, and what it is worth.
export interface PlanValue {
  budget_per_unit?: Maybe<number>; // per unit
  multiplier?: Maybe<number>;
  feasible?: Maybe<boolean>;
  revenue?: Maybe<Interval>; // per unit
  incremental_revenue?: Maybe<Interval>; // per unit
  cost?: Maybe<Interval>; // per unit
  incremental_cost?: Maybe<Interval>; // per unit
  return_per_cost?: Maybe<Interval>;
  incremental_profit?: Maybe<Interval>; // per unit
  roi?: Maybe<Interval>;
  hajek_incremental_revenue?: Maybe<Interval>; // per unit
  hajek_incremental_cost?: Maybe<Interval>; // per unit
  simultaneous_incremental_revenue?: Maybe<Interval>; // per unit
  simultaneous_incremental_profit?: Maybe<Interval>; // per unit
  pays_back?: Maybe<string>;
  note?: Maybe<string>;
  spend_over_budget?: Maybe<Interval>; // per unit
  predicted_revenue?: Maybe<number>; // per unit
  predicted_cost?: Maybe<number>; // per unit
  share_per_arm?: Maybe<Maybe<number>[]>; // share
  guardrails?: Maybe<Maybe<Guardrail>[]>;
  true_revenue?: Maybe<number>; // per unit
  true_cost?: Maybe<number>; // per unit
  share_of_oracle?: Maybe<number>; // share
}

// A plan on the cost curve.
export interface CurvePoint {
  budget_per_unit?: Maybe<number>; // per unit
  multiplier?: Maybe<number>;
  cost?: Maybe<Interval>; // per unit
  revenue?: Maybe<Interval>; // per unit
  incremental_revenue?: Maybe<Interval>; // per unit
  incremental_profit?: Maybe<Interval>; // per unit
  share_per_arm?: Maybe<Maybe<number>[]>; // share
}

// Area under the cost curve (AUCC) of one arm against control; 0.5 is random.
export interface ArmArea {
  arm?: Maybe<string>;
  published?: Maybe<Interval>;
  levels?: Maybe<number>;
  area?: Maybe<Interval>;
  unnormalised_area?: Maybe<Interval>;
  note?: Maybe<string>;
}

// Uplift measures of one arm against control.
export interface ArmUplift {
  arm?: Maybe<string>;
  qini?: Maybe<Interval>;
  qini_area?: Maybe<Interval>; // per unit
  auuc?: Maybe<Interval>; // per unit
}

// How far predictions are from one outcome.
export interface FitError {
  mse?: Maybe<number>;
  log_loss?: Maybe<number>;
}

// How far predictions are from the outcomes.
export interface Fit {
  revenue?: Maybe<FitError>;
  cost?: Maybe<FitError>;
}

// A tenth of the units, by their prediction.
export interface CalibrationPoint {
  predicted?: Maybe<number>; // per unit
  observed?: Maybe<Interval>; // per unit
  units?: Maybe<number>; // units
}

// Predicted and observed means, by tenths of the prediction.
export interface Calibration {
  revenue?: Maybe<Maybe<CalibrationPoint>[]>;
  cost?: Maybe<Maybe<CalibrationPoint>[]>;
}

// The units with one value of a segment column, under the deployed plans.
export interface SegmentValue {
  value?: Maybe<string>;
  units?: Maybe<number>; // units
  share_per_arm?: Maybe<Maybe<Maybe<number>[]>[]>; // share
  cost_per_unit?: Maybe<Maybe<number>[]>; // per unit
  revenue_per_unit?: Maybe<Maybe<number>[]>; // per unit
}

// A segment column.
export interface Segment {
  column?: Maybe<string>;
  values?: Maybe<Maybe<SegmentValue>[]>;
  values_left_out?: Maybe<number>;
}

// A tenth of the units, by predicted uplift.
export interface UpliftDecile {
  units?: Maybe<number>; // units
  predicted?: Maybe<number>; // per unit
  uplift?: Maybe<Interval>; // per unit
  difference_in_means?: Maybe<Interval>; // per unit
  predicted_cost?: Maybe<number>; // per unit
  cost?: Maybe<Interval>; // per unit
  planned?: Maybe<number>; // share
}

// A point of a curve along a ranking of the units.
export interface RankedPoint {
  x?: Maybe<number>;
  value?: Maybe<number>; // per unit
  random?: Maybe<number>; // per unit
}

// One ranking of the units: by predicted uplift of an arm over control, or by the net score of the best treated arm, which the plan at a budget goes by.
export interface Uplift {
  arm?: Maybe<string>;
  budget_per_unit?: Maybe<number>; // per unit
  deciles?: Maybe<Maybe<UpliftDecile>[]>;
  predicted?: Maybe<number>; // per unit
  uplift?: Maybe<Interval>; // per unit
  calibration_slope?: Maybe<Interval>;
  sentence?: Maybe<string>;
  qini_curve?: Maybe<Maybe<RankedPoint>[]>;
  cost_curve?: Maybe<Maybe<RankedPoint>[]>;
}

// A yes-or-no question of a tree, or a leaf. The root comes first.
export interface QuestionNode {
  question?: Maybe<string>;
  yes?: Maybe<number>;
  no?: Maybe<number>;
  leaf?: Maybe<number>;
}

// Units that get the same arm.
export interface PolicyLeaf {
  units?: Maybe<string>;
  arm?: Maybe<string>;
  num_units?: Maybe<number>; // units
  share?: Maybe<number>; // share
  predicted_revenue?: Maybe<number>; // per unit
  predicted_cost?: Maybe<number>; // per unit
  revenue?: Maybe<Interval>; // per unit
  cost?: Maybe<Interval>; // per unit
}

// The plan at a budget as a short rule, fitted to predictions for rows that are not evaluated.
export interface PolicyTree {
  budget_per_unit?: Maybe<number>; // per unit
  multiplier?: Maybe<number>;
  nodes?: Maybe<Maybe<QuestionNode>[]>;
  leaves?: Maybe<Maybe<PolicyLeaf>[]>;
  incremental_revenue?: Maybe<Interval>; // per unit
  incremental_cost?: Maybe<Interval>; // per unit
  spend_over_budget?: Maybe<Interval>; // per unit
  predicted_cost?: Maybe<number>; // per unit
  price?: Maybe<number>;
  net_difference?: Maybe<Interval>; // per unit
  revenue_difference?: Maybe<Interval>; // per unit
  cost_difference?: Maybe<Interval>; // per unit
  answer?: Maybe<string>;
  sentence?: Maybe<string>;
}

// How much a feature decides.
export interface Importance {
  feature?: Maybe<string>;
  share?: Maybe<number>; // share
}

// A model, or predictions from elsewhere.
export interface Model {
  name?: Maybe<string>;
  method?: Maybe<string>;
  reference?: Maybe<boolean>;
  index?: Maybe<boolean>;
  deployed?: Maybe<Maybe<PlanValue>[]>;
  matched?: Maybe<Maybe<PlanValue>[]>;
  curve?: Maybe<Maybe<CurvePoint>[]>;
  aucc?: Maybe<Maybe<ArmArea>[]>;
  qini?: Maybe<Maybe<ArmUplift>[]>;
  fit?: Maybe<Fit>;
  calibration?: Maybe<Calibration>;
  segments?: Maybe<Maybe<Segment>[]>;
  uplift?: Maybe<Maybe<Uplift>[]>;
  policy_trees?: Maybe<Maybe<PolicyTree>[]>;
  importance?: Maybe<Maybe<Importance>[]>;
}

// An interval without its estimate.
export interface Ends {
  low?: Maybe<number>;
  high?: Maybe<number>;
}

// A model's deployed plan minus the reference's, at one budget, on the same resamples.
export interface Difference {
  model?: Maybe<string>;
  reference?: Maybe<string>;
  budget_per_unit?: Maybe<number>; // per unit
  revenue?: Maybe<Interval>; // per unit
  simultaneous?: Maybe<Ends>; // per unit
  relative?: Maybe<Interval>; // share
  cost?: Maybe<Interval>; // per unit
  p_value?: Maybe<number>;
  sentence?: Maybe<string>;
}

// A model's AUCC minus the reference's, for one arm, on the same resamples.
export interface AreaDifference {
  model?: Maybe<string>;
  reference?: Maybe<string>;
  arm?: Maybe<string>;
  published?: Maybe<Interval>;
  area?: Maybe<Interval>;
  p_value?: Maybe<number>;
  sentence?: Maybe<string>;
}

// Plans that need no model, made from rows that are not evaluated.
export interface Baseline {
  kind?: Maybe<string>;
  names?: Maybe<Maybe<string>[]>;
  plans?: Maybe<Maybe<PlanValue>[]>;
  curve?: Maybe<Maybe<CurvePoint>[]>;
}

// An interval without its estimate.
export interface BaselineEnds {
  low?: Maybe<number>;
  high?: Maybe<number>;
}

// A model's deployed plan minus a baseline's, at one budget, on the same resamples, at a common price.
export interface BaselineDifference {
  model?: Maybe<string>;
  baseline?: Maybe<string>;
  budget_per_unit?: Maybe<number>; // per unit
  price?: Maybe<number>;
  net?: Maybe<Interval>; // per unit
  simultaneous?: Maybe<BaselineEnds>; // per unit
  revenue?: Maybe<Interval>; // per unit
  cost?: Maybe<Interval>; // per unit
  plan_cost?: Maybe<number>; // per unit
  baseline_cost?: Maybe<number>; // per unit
  profit?: Maybe<Interval>; // per unit
  answer?: Maybe<string>;
  sentence?: Maybe<string>;
}

// The best possible plan at a budget, by the truth.
export interface OraclePoint {
  budget_per_unit?: Maybe<number>; // per unit
  cost?: Maybe<number>; // per unit
  revenue?: Maybe<number>; // per unit
  incremental_revenue?: Maybe<number>; // per unit
}

// What a plan that knows the truth would do.
export interface Oracle {
  curve?: Maybe<Maybe<OraclePoint>[]>;
  at_budgets?: Maybe<Maybe<OraclePoint>[]>;
}

// One arm against control in one segment.
export interface ArmEffect {
  arm?: Maybe<string>;
  treated?: Maybe<number>; // units
  controls?: Maybe<number>; // units
  revenue?: Maybe<Interval>; // per unit
  simultaneous?: Maybe<Ends>; // per unit
  cost?: Maybe<Interval>; // per unit
  answer?: Maybe<string>;
}

// The effects of the arms in one segment.
export interface SegmentEffect {
  value?: Maybe<string>;
  units?: Maybe<number>; // units
  share?: Maybe<number>; // share
  arms?: Maybe<Maybe<ArmEffect>[]>;
}

// The effects of the arms, segment by segment.
export interface SegmentEffects {
  column?: Maybe<string>;
  found?: Maybe<string>;
  values?: Maybe<Maybe<SegmentEffect>[]>;
  nodes?: Maybe<Maybe<QuestionNode>[]>;
}

// A problem or a warning.
export interface Finding {
  kind?: Maybe<string>;
  text?: Maybe<string>;
  hint?: Maybe<string>;
}

// An arm's mean minus control's.
export interface ArmDifference {
  value?: Maybe<number>; // per unit
  low?: Maybe<number>; // per unit
  high?: Maybe<number>; // per unit
  p?: Maybe<number>;
}

// An arm of the trial.
export interface CheckArm {
  arm?: Maybe<string>;
  control?: Maybe<boolean>;
  units?: Maybe<number>; // units
  share?: Maybe<number>; // share
  designed_share?: Maybe<number>; // share
  revenue?: Maybe<Interval>; // per unit
  cost?: Maybe<Interval>; // per unit
  revenue_difference?: Maybe<ArmDifference>; // per unit
  cost_difference?: Maybe<ArmDifference>; // per unit
}

// Are the arms as large as designed?
export interface SampleRatio {
  run?: Maybe<boolean>;
  why_not?: Maybe<string>;
  chi_square?: Maybe<number>;
  degrees?: Maybe<number>;
  p?: Maybe<number>;
}

// A feature, compared between arms.
export interface FeatureBalance {
  name?: Maybe<string>;
  difference?: Maybe<number>;
  arm?: Maybe<string>;
  p?: Maybe<number>;
}

// Are the features alike in all arms?
export interface Balance {
  run?: Maybe<boolean>;
  why_not?: Maybe<string>;
  p?: Maybe<number>;
  columns?: Maybe<number>;
  features?: Maybe<Maybe<FeatureBalance>[]>;
}

// Is the trial fit to learn from? The whole of what `dfcl check --json` prints.
export interface Check {
  verdict?: Maybe<"fit" | "unfit">;
  problems?: Maybe<Maybe<Finding>[]>;
  warnings?: Maybe<Maybe<Finding>[]>;
  arms?: Maybe<Maybe<CheckArm>[]>;
  sample_ratio?: Maybe<SampleRatio>;
  balance?: Maybe<Balance>;
  notes?: Maybe<Maybe<string>[]>;
}

// A method, or one of the settings that were tried beside it.
export interface Entry {
  name?: Maybe<string>;
  swept?: Maybe<string>;
}

// A point of a series.
export interface FigurePoint {
  x?: Maybe<number | string>;
  y?: Maybe<number>;
  low?: Maybe<number>;
  high?: Maybe<number>;
}

// A line of points, or bars.
export interface FigureSeries {
  name?: Maybe<string>;
  points?: Maybe<Maybe<FigurePoint>[]>;
}

// A chart that is drawn as it stands.
export interface Figure {
  id?: Maybe<string>;
  title?: Maybe<string>;
  note?: Maybe<string>;
  x_label?: Maybe<string>;
  y_label?: Maybe<string>;
  x_scale?: Maybe<"linear" | "log" | "category">;
  kind?: Maybe<"line" | "bar" | "points">;
  series?: Maybe<Maybe<FigureSeries>[]>;
  panels?: Maybe<boolean>;
}

// A table that is shown as it stands.
export interface Table {
  id?: Maybe<string>;
  title?: Maybe<string>;
  note?: Maybe<string>;
  columns?: Maybe<Maybe<string>[]>;
  rows?: Maybe<Maybe<Maybe<number | string>[]>[]>;
}

// The units that were held out.
export interface Holdout {
  units?: Maybe<number>; // units
  share?: Maybe<number>; // share
  designed_share?: Maybe<number>; // share
  p_value?: Maybe<number>;
  treated?: Maybe<number>; // units
}

// What the plan predicted for units of role plan.
export interface Planned {
  revenue?: Maybe<number>; // total
  spend?: Maybe<number>; // total
  incremental_revenue?: Maybe<number>; // total
  evaluated_revenue?: Maybe<Interval>; // total
  incremental_cost?: Maybe<number>; // total
  return_per_cost?: Maybe<number>;
}

// What came of the units of role plan.
export interface Realised {
  revenue?: Maybe<number>; // total
  spend?: Maybe<number>; // total
  incremental_revenue?: Maybe<Interval>; // total
  incremental_cost?: Maybe<Interval>; // total
  return_per_cost?: Maybe<Interval>;
  incremental_profit?: Maybe<Interval>; // total
  roi?: Maybe<Interval>;
}

// The plan over the hold-out.
export interface PerUnit {
  incremental_revenue?: Maybe<Interval>; // per unit
  incremental_cost?: Maybe<Interval>; // per unit
  variance_removed?: Maybe<number>; // share
}

// What the plan did to a further outcome, of which more is worse.
export interface LaunchedGuardrail {
  name?: Maybe<string>;
  holdout?: Maybe<number>; // per unit
  increment?: Maybe<Interval>; // per unit
  harmed?: Maybe<string>;
}

// One launch of several, or all of them.
export interface LaunchLine {
  name?: Maybe<string>;
  units?: Maybe<number>; // units
  spend?: Maybe<number>; // total
  revenue?: Maybe<Interval>; // total
  cost?: Maybe<Interval>; // total
  profit?: Maybe<Interval>; // total
}

// The units for which the plan chose one arm; role plan only.
export interface ReadoutArm {
  arm?: Maybe<string>;
  units?: Maybe<number>; // units
  received?: Maybe<number>; // units
  planned_cost?: Maybe<number>; // total
  realised_cost?: Maybe<number>; // total
  overspend?: Maybe<number>; // total
  planned_revenue?: Maybe<number>; // total
  realised_revenue?: Maybe<number>; // total
}

// Units that got another arm than planned.
export interface Crossing {
  planned?: Maybe<string>;
  received?: Maybe<string>;
  units?: Maybe<number>; // units
}

// An arm among the explored units, over the hold-out.
export interface ExploredArm {
  arm?: Maybe<string>;
  units?: Maybe<number>; // units
  revenue?: Maybe<Interval>; // per unit
  cost?: Maybe<Interval>; // per unit
}

// A launched plan against its hold-out.
export interface Readout {
  units?: Maybe<number>; // units
  level?: Maybe<number>; // share
  holdout?: Maybe<Holdout>;
  planned?: Maybe<Planned>;
  realised?: Maybe<Realised>;
  per_unit?: Maybe<PerUnit>;
  budget?: Maybe<number>; // total
  budget_of_all?: Maybe<number>; // total
  spend?: Maybe<number>; // total
  not_as_planned?: Maybe<number>; // units
  multiplier?: Maybe<number>;
  next_multiplier?: Maybe<Interval>;
  warnings?: Maybe<Maybe<string>[]>;
  guardrails?: Maybe<Maybe<LaunchedGuardrail>[]>;
  sample_weights?: Maybe<boolean>;
  launches?: Maybe<Maybe<LaunchLine>[]>;
  all_launches?: Maybe<LaunchLine>;
  units_per_role?: Maybe<Record<string, Maybe<number>>>; // units
  arms?: Maybe<Maybe<ReadoutArm>[]>;
  crossings?: Maybe<Maybe<Crossing>[]>;
  explored?: Maybe<Maybe<ExploredArm>[]>;
}

// A results file, of any kind.
export interface Results {
  format: string;
  format_version: number;
  kind?: Maybe<string>;
  made_by?: Maybe<MadeBy>;
  report?: Maybe<ReportWords>;
  verdict?: Maybe<Verdict>;
  trial?: Maybe<TrialRows>;
  estimator?: Maybe<string>;
  nuisance?: Maybe<string>;
  intervals?: Maybe<string>;
  resamples?: Maybe<number>;
  level?: Maybe<number>; // share
  control?: Maybe<Control>;
  budget_basis?: Maybe<"incremental" | "total">;
  value_per_revenue?: Maybe<number>;
  budgets?: Maybe<Maybe<Budget>[]>;
  models?: Maybe<Maybe<Model>[]>;
  differences?: Maybe<Maybe<Difference>[]>;
  aucc_differences?: Maybe<Maybe<AreaDifference>[]>;
  baselines?: Maybe<Maybe<Baseline>[]>;
  baseline_differences?: Maybe<Maybe<BaselineDifference>[]>;
  oracle?: Maybe<Oracle>;
  effects?: Maybe<Maybe<SegmentEffects>[]>;
  check?: Maybe<Check>;
  how?: Maybe<Maybe<string>[]>;
  entries?: Maybe<Maybe<Entry>[]>;
  figures?: Maybe<Maybe<Figure>[]>;
  tables?: Maybe<Maybe<Table>[]>;
  readout?: Maybe<Readout>;
}

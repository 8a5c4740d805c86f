// SPDX-License-Identifier: Apache-2.0
//
// Results made by a formula, of the shape that dfcl evaluate writes: for tests of the page that need no trial.
//   node sample_results.mjs three|one|hostile|bare|nulls|free|many|budget > results.json

const arms = ["0", "5", "10", "15", "20"];
const budgets = [0.1, 0.2, 0.4];
const around = (value, half) => ({ value, low: value - half, high: value + half });

// Revenue that rises and flattens; `skill` is how well the model picks.
const gain = (spend, skill) => 1.9 * skill * (1 - Math.exp(-2.2 * spend));

function shares(budget) {
  const weights = arms.map((_, arm) => Math.exp(-((arm - 8 * budget) ** 2) / 1.8));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

function planValue(budget, skill, half) {
  const cost = budget * (1.02 + 0.01 * skill);
  return {
    budget_per_unit: budget,
    multiplier: 3 / (1 + 4 * budget),
    feasible: true,
    revenue: around(11.4 + gain(cost, skill), half),
    incremental_revenue: around(gain(cost, skill), half),
    cost: around(cost, 0.004 + 0.01 * budget),
    return_per_cost: around(gain(cost, skill) / cost, half / cost),
    spend_over_budget: around(cost - budget, 0.004 + 0.01 * budget),
    predicted_revenue: 11.4 + 1.05 * gain(budget, skill),
    predicted_cost: budget,
    share_per_arm: shares(budget),
    incremental_cost: around(cost, 0.004 + 0.01 * budget),
    incremental_profit: around(0.4 * gain(cost, skill) - cost, half),
    roi: around((0.4 * gain(cost, skill)) / cost - 1, half / cost),
    pays_back: "yes",
  };
}

// Plans that need no model: a little worse than any.
function baseline(kind, name, skill) {
  return { kind, names: budgets.map(() => name), plans: budgets.map((budget) => planValue(budget, skill, 0.03)), curve: kind === "random" ? budgets.map((budget) => planValue(budget, skill, 0.03)) : [] };
}

function baselineDifference(model, kind, skill, budget) {
  const value = gain(budget, skill) - gain(budget, 0.8);
  return {
    model,
    baseline: kind,
    budget_per_unit: budget,
    price: 2.1,
    net: around(value, 0.03),
    simultaneous: { low: value - 0.05, high: value + 0.05 },
    revenue: around(value, 0.03),
    cost: around(0.001, 0.002),
    plan_cost: budget,
    baseline_cost: budget,
    profit: around(0.4 * value, 0.02),
    answer: "yes",
    sentence: `${model} beats ${kind}.`,
  };
}

function calibration(from, to, bias) {
  return Array.from({ length: 10 }, (_, tenth) => {
    const predicted = from + ((to - from) * (tenth + 0.5)) / 10;
    return { predicted, observed: around(predicted * bias, 0.03 * (to - from)), units: 3000 };
  });
}

function segment(column, names, skill) {
  return {
    column,
    values: names.map((value, place) => ({
      value,
      units: Math.round(30000 / (place + 2)),
      share_per_arm: budgets.map((budget) => shares(budget * (0.7 + 0.15 * place))),
      cost_per_unit: budgets.map((budget) => budget * (0.7 + 0.15 * place)),
      revenue_per_unit: budgets.map((budget) => 11.4 + gain(budget * (0.7 + 0.15 * place), skill)),
    })),
  };
}

function model(name, method, skill, reference) {
  const curve = Array.from({ length: 41 }, (_, place) => {
    const { revenue, incremental_revenue, incremental_profit, cost, share_per_arm, budget_per_unit, multiplier } = planValue((0.8 * place) / 40, skill, 0.02 + 0.0012 * place);
    return { budget_per_unit, multiplier, cost, revenue, incremental_revenue, incremental_profit, share_per_arm };
  });
  return {
    name,
    method,
    reference,
    index: false,
    deployed: budgets.map((budget) => planValue(budget, skill, 0.03)),
    matched: budgets.map((budget) => planValue(budget, 1.01 * skill, 0.03)),
    curve,
    aucc: arms.slice(1).map((arm, place) => ({ arm, published: around(0.55 + 0.03 * place * skill, 0.02), levels: 200, area: around(0.552 + 0.03 * place * skill, 0.02), unnormalised_area: around(0.11 + 0.02 * place, 0.008), note: "" })),
    qini: arms.slice(1).map((arm, place) => ({ arm, qini: around(0.06 + 0.01 * place, 0.01), qini_area: around(0.03, 0.005), auuc: around(0.31 + 0.01 * place, 0.02) })),
    fit: { revenue: { mse: 25.31 / skill, log_loss: null }, cost: { mse: 0.0412 / skill, log_loss: null } },
    calibration: { revenue: calibration(8, 16, 1 + 0.03 * (1 - skill)), cost: calibration(0.05, 0.7, 1.02) },
    uplift: [...budgets.map((budget) => uplift("", budget, skill)), ...arms.slice(1, 3).map((arm) => uplift(arm, null, skill))],
    policy_trees: budgets.map(policyTree),
    segments: [segment("city", ["Paris", "Lyon", "Marseille", "Saint-Germain-en-Laye"], skill), segment("age_group", ["under 30", "30 to 59", "60 and over"], skill)],
  };
}

// Tenths of the units by predicted uplift: those of an arm, or of the plan's own ranking at a budget.
function uplift(arm, budget, skill) {
  const deciles = Array.from({ length: 10 }, (_, tenth) => {
    const predicted = skill * (1.6 - 0.2 * tenth);
    return { units: 3003, predicted, uplift: around(0.8 * predicted, 0.35), difference_in_means: arm ? around(0.78 * predicted, 0.5) : null, predicted_cost: 0.3, cost: around(0.31, 0.02), ...(arm ? {} : { planned: Math.max(0, 1 - tenth / (10 * budget + 2)) }) };
  });
  const curve = (random) => Array.from({ length: 11 }, (_, place) => ({ x: place / 10, value: 1.4 * skill * (1 - (1 - place / 10) ** 2), random: random * place }));
  return { arm, ...(arm ? {} : { budget_per_unit: budget }), deciles, predicted: 0.7, uplift: around(0.56, 0.1), calibration_slope: around(0.8, 0.2), sentence: "The best tenth earns more than the worst.", qini_curve: arm ? curve(0.14) : [], cost_curve: arm ? curve(0.14) : [] };
}

function policyTree(budget) {
  const leaf = (units, arm, share) => ({ units, arm, num_units: Math.round(30035 * share), share, predicted_revenue: 0.5, predicted_cost: 0.2, revenue: around(0.45, 0.1), cost: around(0.21, 0.01) });
  return {
    budget_per_unit: budget,
    multiplier: 2,
    nodes: [{ question: "orders more than 2", yes: 1, no: 4 }, { question: "city is Paris", yes: 2, no: 3 }, { question: "", leaf: 0 }, { question: "", leaf: 1 }, { question: "", leaf: 2 }],
    leaves: [leaf("orders more than 2 and city is Paris", "10", 0.2), leaf("orders more than 2 and city is not Paris", "5", 0.35), leaf("orders at most 2", "0", 0.45)],
    incremental_revenue: around(0.4, 0.1),
    incremental_cost: around(budget, 0.01),
    net_difference: around(-0.01, 0.02),
    answer: "not_shown",
    sentence: `At a budget of ${budget}, the rule is not shown to differ from the plan.`,
  };
}

function effects() {
  const arm = (label, value, few) => ({ arm: label, treated: few ? 12 : 1200, controls: 1300, revenue: few ? null : around(value, 0.2), simultaneous: few ? null : { low: value - 0.35, high: value + 0.35 }, cost: around(0.3, 0.02), answer: few ? "too_few" : value > 0.35 ? "yes" : "not_shown" });
  const segment = (value, base, few = false) => ({ value, units: 5000, share: 0.17, arms: arms.slice(1).map((label, place) => arm(label, base + 0.1 * place, few)) });
  return [
    { column: "city", found: "column", values: [segment("Paris", 0.5), segment("Lyon", 0.1), segment("Marseille", -0.1, true)], nodes: [] },
    { column: "", found: "tree", values: [segment("orders more than 2", 0.6), segment("orders at most 2", 0)], nodes: [{ question: "orders more than 2", yes: 1, no: 2 }, { question: "", leaf: 0 }, { question: "", leaf: 1 }] },
  ];
}

function difference(name, skill, budget) {
  const value = gain(budget, skill) - gain(budget, 1);
  return {
    model: name,
    reference: "tsm",
    budget_per_unit: budget,
    revenue: around(value, 0.022),
    simultaneous: { low: value - 0.034, high: value + 0.034 },
    relative: around(value / (11.4 + gain(budget, 1)), 0.0019),
    p_value: value > 0.034 ? 0.0004 : 0.21,
    sentence: value > 0.034 ? `${name} earns ${(100 * value / 11.9).toFixed(1)} % more than tsm at this budget.` : `No difference between ${name} and tsm can be shown at this budget.`,
  };
}

function check() {
  return {
    verdict: "fit",
    problems: [],
    warnings: [{ kind: "missing", text: "column 'rating' is missing in 12.4 % of the rows", hint: "it is kept; missing is treated as information" }],
    arms: arms.map((arm, place) => ({
      arm,
      control: place === 0,
      units: 6000 + 7 * place,
      share: 0.2 + 0.0001 * place,
      designed_share: 0.2,
      revenue: around(11.4 + 0.3 * place, 0.06),
      cost: around(0.16 * place, 0.004),
      revenue_difference: place === 0 ? null : { ...around(0.3 * place, 0.09), p: 0.00001 },
      cost_difference: place === 0 ? null : { ...around(0.16 * place, 0.005), p: 0.00001 },
    })),
    sample_ratio: { run: true, chi_square: 3.1, degrees: 4, p: 0.54 },
    balance: {
      run: true,
      method: "joint",
      p: 0.37,
      columns: 24,
      features: Array.from({ length: 24 }, (_, place) => ({ name: `feature_${place + 1}`, tested: true, difference: 0.02 * Math.sin(place), arm: arms[1 + (place % 4)], p: 0.1 + 0.03 * place })),
    },
    notes: ["Units were drawn one by one."],
  };
}

export function threeModels() {
  const models = [model("tsm", "tsm", 1, true), model("dfcl-ifd", "dfcl-ifd", 1.12, false), model("drp", "drp", 1.01, false)];
  return {
    format: "dfcl-results",
    format_version: 1,
    kind: "evaluation",
    made_by: { version: "0.1.0", verb: "evaluate", options: [["seed", "1"], ["split", "test"], ["levels", "200"]] },
    report: { title: "Shop discounts, spring trial", currency: "EUR", revenue_name: "orders", cost_name: "subsidy", decimal: ".", thousands: "," },
    verdict: {
      model: "dfcl-ifd",
      budget_per_unit: 0.2,
      status: "launch",
      sentence: "Launch dfcl-ifd: at a budget of 0.20 EUR per unit it earns 0.083 EUR more per unit than tsm, 95 % interval 0.049 to 0.117.",
      details: ["On the 30,035 units of the test split that is 2,493 EUR, 95 % interval 1,472 to 3,514.", "It spends 0.206 EUR per unit, 3.1 % over the budget."],
      pays_back: "yes",
      beats_random: "not_shown",
    },
    trial: { split: "test", units: 30035, clusters: null, arms: arms.map((label, place) => ({ label, control: place === 0, units: 6000 + 7 * place, share: 0.2 })) },
    estimator: "doubly-robust",
    nuisance: "the reference model's predictions",
    resamples: 1000,
    level: 0.95,
    control: { revenue: around(11.4, 0.04), cost: around(0, 0) },
    budgets: budgets.map((per_unit) => ({ per_unit, total: per_unit * 30035 })),
    models,
    differences: budgets.flatMap((budget) => [difference("dfcl-ifd", 1.12, budget), difference("drp", 1.01, budget)]),
    value_per_revenue: 0.4,
    baselines: [baseline("random", "arm '5' for a random 40 % of the units", 0.8), baseline("single_arm", "arm '5' for everyone", 0.7), baseline("control", "control for everyone", 0)],
    baseline_differences: ["tsm", "dfcl-ifd", "drp"].flatMap((name) => ["random", "single_arm", "control"].flatMap((kind) => budgets.map((budget) => baselineDifference(name, kind, 1.05, budget)))),
    aucc_differences: [{ model: "dfcl-ifd", reference: "tsm", arm: "5", published: around(0.012, 0.009), area: around(0.012, 0.009), p_value: 0.009, sentence: "dfcl-ifd ranks better than tsm for arm 5." }],
    oracle: { curve: Array.from({ length: 41 }, (_, place) => ({ budget_per_unit: (0.8 * place) / 40, cost: (0.8 * place) / 40, revenue: 11.4 + gain((0.8 * place) / 40, 1.25), incremental_revenue: gain((0.8 * place) / 40, 1.25) })) },
    effects: effects(),
    check: check(),
    how: [
      "Intervals are for these trained models on new units of the same kind; training again with another seed would change the models.",
      "Units were resampled 1,000 times within each arm; all models were judged on the same resamples.",
    ],
  };
}

export function oneModel() {
  const results = threeModels();
  results.models = [results.models[0]];
  results.report = { ...results.report, currency: "€", decimal: ",", thousands: " " };
  results.verdict = { status: "not_shown", sentence: "Not shown: there is nothing to compare tsm with but control.", details: [] };
  delete results.differences;
  delete results.aucc_differences;
  results.oracle = null;
  results.check = null;
  return results;
}

// Labels that would do harm as markup, as code or by their length.
export function hostile() {
  const results = threeModels();
  const evil = '</script><script>window.harmed=1</script><img src=x onerror="window.harmed=2">';
  const rename = { tsm: `tsm ${evil}`, "dfcl-ifd": "<b>bold</b> & \"quoted\" 'name' \u2028 \u202e txt.exe", drp: "W".repeat(300) };
  results.models.forEach((one) => {
    one.name = rename[one.name];
    one.segments[0].column = evil;
    one.policy_trees[0].nodes[0].question = evil;
    one.policy_trees[1].nodes[0].yes = 0; // a tree that never ends
    one.uplift[0].sentence = evil;
    one.segments[0].values[0].value = `${evil} `.repeat(20);
  });
  results.differences.forEach((one) => {
    one.model = rename[one.model];
    one.reference = rename[one.reference];
    one.sentence = evil;
  });
  results.trial.arms[1].label = evil;
  results.report = { title: `%RESULTS% %TEXT% ${evil}`, currency: "<i>$</i>", revenue_name: evil, cost_name: "__proto__", decimal: "<", thousands: "$&" };
  results.verdict = { status: "constructor", sentence: evil, details: [evil, "x".repeat(2000)] };
  results.check.warnings[0].text = evil;
  results.figures = [{ title: evil, note: evil, x_label: evil, y_label: evil, x_scale: "category", kind: "bar", series: [{ name: evil, points: [{ x: evil, y: 1 }, { x: "b", y: null }] }] }];
  results.tables = [{ title: evil, columns: [evil, "b"], rows: [[evil, null], [1, "x".repeat(500)], []] }];
  results.how = [evil, "javascript:alert(1)"];
  return results;
}

// Nothing but the two keys that must be there, or with everything null.
export function bare() {
  return { format: "dfcl-results", format_version: 1 };
}

export function nulls() {
  const results = threeModels();
  const empty = { format: "dfcl-results", format_version: 1, kind: "evaluation" };
  for (const key of Object.keys(results)) if (!(key in empty)) empty[key] = null;
  empty.budgets = [{ per_unit: 0.1, total: null }];
  const nothing = { value: null, low: null, high: null };
  empty.models = [
    { name: "a", deployed: [{ budget_per_unit: 0.1, revenue: nothing, cost: null, share_per_arm: null }], curve: [{ budget_per_unit: 0.1, cost: nothing, revenue: nothing }, { budget_per_unit: 0.2 }], segments: [{ column: "c", values: null }], calibration: { revenue: null } },
    { name: null, reference: true, curve: [], aucc: null },
  ];
  empty.differences = [{ model: "a", reference: null, budget_per_unit: null, revenue: nothing, simultaneous: null, p_value: null }];
  empty.figures = [{ title: "t", kind: "line", series: [{ name: "s", points: [] }] }, { series: null }];
  empty.tables = [{ columns: ["a"], rows: null }];
  return empty;
}

// What the other verbs write: figures and tables of their own.
export function freeFigures() {
  const names = ["tsm", "drp", "dfcl-ifd"];
  const series = (points) => names.map((name, place) => ({ name, points: points(place) }));
  return {
    format: "dfcl-results",
    format_version: 1,
    kind: "comparison",
    made_by: { version: "0.1.0", verb: "compare", options: [["seeds", "5"]] },
    report: { title: "Methods compared", currency: "", revenue_name: "orders", cost_name: "subsidy", decimal: ".", thousands: "," },
    verdict: { status: "not_shown", sentence: "No method is shown to be better than tsm.", details: [] },
    figures: [
      { id: "alpha", title: "Weight of the prediction loss", note: "Mean of five seeds.", x_label: "alpha", y_label: "orders per unit", x_scale: "log", kind: "line", series: series((place) => [0.01, 0.1, 1, 10, 100].map((x) => ({ x, y: 1 + 0.02 * place - 0.01 * Math.log10(x) ** 2, low: 0.99 + 0.02 * place - 0.01 * Math.log10(x) ** 2, high: 1.01 + 0.02 * place - 0.01 * Math.log10(x) ** 2 }))) },
      { id: "weeks", title: "Spend by week", note: "", x_label: "week", y_label: "spend against budget", x_scale: "category", kind: "bar", series: series((place) => ["week 1", "week 2", "week 3", "week 4"].map((x, week) => ({ x, y: 1 + 0.01 * (place - week), low: 0.98 + 0.01 * (place - week), high: 1.02 + 0.01 * (place - week) }))) },
      { id: "methods", title: "Gain by method", note: "", x_label: "method", y_label: "gain, %", x_scale: "category", kind: "points", series: [{ name: "gain", points: names.map((x, place) => ({ x, y: place - 0.4, low: place - 1, high: place + 0.2 })) }] },
      { id: "linear", title: "Orders by budget", x_label: "budget per unit", y_label: "orders per unit", x_scale: "linear", kind: "line", series: series((place) => [0, 1, 2, 3].map((x) => ({ x, y: Math.sqrt(x) * (1 + 0.1 * place) }))) },
    ],
    tables: [{ id: "weeks", title: "Weeks", note: "Relative to tsm.", columns: ["week", ...names], rows: [["1", "1.000", "1.012", "1.034"], ["2", "1.000", "0.998", "1.021"]] }],
    how: ["Five seeds; intervals over test units and over seeds are kept apart."],
  };
}

// A comparison with sweeps: three methods, and eight values of two settings for two of them, over five seeds.
export function manyEntries() {
  const results = threeModels();
  const values = [...["0.1", "0.5", "1", "2", "10"].map((value) => ["alpha", value]), ...["[0.1]", "[0.1, 0.5]", "[0.1, 0.5, 1]"].map((value) => ["multipliers", value])];
  const methods = [["tsm", 1, []], ["dfcl-mer", 1.08, values], ["dfcl-ifd", 1.12, values]];
  const entries = methods.flatMap(([method, skill, tried]) => [
    { name: method, method, swept: "", value: "", skill },
    ...tried.map(([swept, value], place) => ({ name: `${method} ${swept}=${value}`, method, swept, value, skill: skill - 0.02 * place })),
  ]);
  const share = (entry) => ({ y: 0.4 * entry.skill, low: 0.4 * entry.skill - 0.03, high: 0.4 * entry.skill + 0.03 });
  const tried = (key, x) =>
    ["tsm", "dfcl-mer", "dfcl-ifd"].map((name, place) => ({
      name,
      points: entries.filter((one) => one.swept === key && one.method === (place === 0 ? "dfcl-mer" : name)).map((one) => ({ x: x(one.value), ...share(place === 0 ? entries[0] : one) })),
    }));
  const sweep = { y_label: "share of the best possible increment", note: "Mean over the budgets. The line across is tsm.", panels: true };
  return {
    ...results,
    kind: "comparison",
    made_by: { version: "0.1.0", verb: "compare", options: [["training seeds", "1, 2, 3, 4, 5"]] },
    models: entries.map((one) => ({ ...model(one.name, one.method, one.skill, one.name === "tsm"), ...(one.swept ? { uplift: [], policy_trees: [] } : {}) })),
    differences: budgets.flatMap((budget) => entries.slice(1).map((one) => difference(one.name, one.skill, budget))),
    entries: entries.map(({ name, method, swept, value }) => ({ name, method, swept, value })),
    figures: [
      { id: "revenue-by-budget", title: "Over test units: orders at each budget, models of the first seed", x_label: "budget per unit", y_label: "orders, relative", x_scale: "linear", kind: "line", series: entries.map((one) => ({ name: one.name, points: budgets.map((x) => ({ x, y: one.skill + x, low: one.skill + x - 0.05, high: one.skill + x + 0.05 })) })) },
      { id: "sweep-alpha", title: "Over training seeds (mean of 5): values of alpha tried", x_label: "alpha", x_scale: "log", kind: "line", series: tried("alpha", Number), ...sweep },
      { id: "sweep-multipliers", title: "Over training seeds (mean of 5): values of multipliers tried", x_label: "multipliers", x_scale: "category", kind: "points", series: tried("multipliers", String), ...sweep },
    ],
    tables: [
      {
        id: "seeds-revenue",
        title: "Over training seeds (mean of 5): orders at each budget, relative to tsm at the first",
        columns: ["method", ..."123456".split("").map((place) => `budget 0.${place}`), "gain over tsm"],
        rows: entries.map((one) => [one.name, ..."123456".split("").map(() => "1.0051 (0.0044)"), "+12.34 % [-10.02, +34.56]"]),
      },
    ],
  };
}

// One budget, and that beyond the curves; a share of a gain that may be zero.
export function oneBudget() {
  const results = threeModels();
  results.budgets = [{ per_unit: 0.9, total: 0.9 * 30035 }];
  results.models.forEach((one) => {
    one.aucc[0] = { ...one.aucc[0], published: { value: -15.262, low: null, high: null }, area: { value: -12.75, low: null, high: null }, note: "The arm's gain over control is not away from zero." };
  });
  const point = (place) => [{ x: 0.9, y: 1 + 0.1 * place, low: 0.9 + 0.1 * place, high: 1.1 + 0.1 * place }];
  results.figures = [{ id: "revenue-by-budget", title: "Over test units: orders at a budget of 0.9 a unit", x_label: "budget per unit", y_label: "orders, relative", x_scale: "linear", kind: "points", series: results.models.map((one, place) => ({ name: one.name, points: point(place) })) }];
  return results;
}

export const samples = { three: threeModels, one: oneModel, hostile, bare, nulls, free: freeFigures, many: manyEntries, budget: oneBudget };

if (process.argv[1]?.endsWith("sample_results.mjs")) {
  const make = samples[process.argv[2]];
  if (!make) {
    console.error(`usage: node sample_results.mjs ${Object.keys(samples).join("|")}`);
    process.exit(2);
  }
  process.stdout.write(JSON.stringify(make(), null, 1) + "\n");
}

# SPDX-License-Identifier: Apache-2.0
"""Real trials, for quality.py: does a method predict better than the arms' means, and is what its plan promises there?

No truth is known here. For each trial and method: the test loss beside that of the arms' means, with the standard error of
the paired difference; the total increment that the plan's own predictions promise beside its doubly robust estimate on test
units, with an interval. Losses: log loss for 0/1, Poisson deviance for money and counts. Sums go by cluster where there is one.
"""

import json
import statistics
import sys
import time

import numpy as np
import pyarrow as arrow
import pyarrow.csv as csv
import pyarrow.parquet as parquet
from quality_runner import Job, chosen_by, outcomes

SHARES = {"train": 0.6, "validation": 0.1, "test": 0.3}
PLAN_BUDGET = 0.3  # of the way from control's cost to the costliest arm's
SPLITS = range(1, 8)

# For each: the study without [data] and [split], control, cluster and whether revenue is 0/1.
TRIALS = {
    "criteo_200k.parquet": {
        "study": '[columns]\narm = "treatment"\nrevenue = "conversion"\ncost = "visit"\n[arms]\ncontrol = "0"\n'
        "[cost]\nnon_negative = true\n",
        "arm": "treatment", "revenue": "conversion", "control": "0", "binary": True,
    },
    "hillstrom.csv.gz": {
        "study": '[columns]\narm = "segment"\nrevenue = "spend"\nexclude = ["visit", "conversion"]\n[arms]\ncontrol = "No E-Mail"\n'
        'cost = { "Mens E-Mail" = 0.1, "Womens E-Mail" = 0.1 }\n',
        "arm": "segment", "revenue": "spend", "control": "No E-Mail", "binary": False,
    },
    "charitable_match.csv.gz": {
        "study": '[columns]\narm = "match_ratio"\nrevenue = "out_amountgive"\nexclude = ["out_*", "state*response*", "treat*"]\n'
        'missing = [-999]\n[arms]\norder = ["0", "1", "2", "3"]\ncost_per_revenue = { "1" = 1.0, "2" = 2.0, "3" = 3.0 }\n',
        "arm": "match_ratio", "revenue": "out_amountgive", "control": "0", "binary": False,
    },
    "social_pressure.csv.gz": {
        "study": '[columns]\narm = "treatment"\nrevenue = "voted"\ncluster = "hh_id"\nexclude = ["cluster"]\n[arms]\n'
        'control = "Control"\ncost = { "Civic Duty" = 0.4, "Hawthorne" = 0.4, "Self" = 0.4, "Neighbors" = 0.4 }\n',
        "arm": "treatment", "revenue": "voted", "control": "Control", "binary": True, "cluster": "hh_id",
    },
}  # fmt: skip


class RealTrial:
    """A trial as read, with a column `unit_number` and, for each split, `split`: drawn by cluster."""

    def __init__(self, path, facts):
        table = parquet.read_table(path) if path.suffix == ".parquet" else csv.read_csv(path)
        table = table.filter(table[facts["revenue"]].is_valid())
        self.table = table.append_column("unit_number", arrow.array(np.arange(table.num_rows)))
        self.arm = np.asarray([str(value).strip() for value in table[facts["arm"]].to_pylist()])
        revenue = table[facts["revenue"]]
        if arrow.types.is_string(revenue.type):
            self.revenue = np.asarray([1.0 if value.strip().lower() in ("yes", "1", "true") else 0.0 for value in revenue.to_pylist()])
        else:
            self.revenue = revenue.cast(arrow.float64()).to_numpy()
        clusters = table[facts["cluster"]].to_numpy() if "cluster" in facts else np.arange(table.num_rows)
        _, self.cluster = np.unique(clusters, return_inverse=True)

    def split(self, seed):
        draw = np.random.default_rng(seed).random(self.cluster.max() + 1)[self.cluster]
        return np.select([draw < SHARES["train"], draw < SHARES["train"] + SHARES["validation"]], ["train", "validation"], "test")


def losses(binary, outcome, expected):
    expected = np.maximum(expected.astype(np.float64), 1e-9)
    if binary:
        expected = np.minimum(expected, 1.0 - 1e-9)
        return -(outcome * np.log(expected) + (1.0 - outcome) * np.log1p(-expected))
    ratio = np.where(outcome > 0.0, outcome * np.log(np.maximum(outcome, 1e-300) / expected), 0.0)
    return 2.0 * (ratio - (outcome - expected))


def mean_and_error(values, cluster):
    """Mean of a value per unit, and its standard error over clusters."""
    sums = np.bincount(cluster, weights=values - values.mean())
    sums = sums[np.bincount(cluster) > 0]
    return float(values.mean()), float(np.sqrt((sums**2).sum()) / len(values))


def doubly_robust_increment(trial, test, arms, control, revenue, plan):
    """Per test unit: what the planned arm adds to control, by the model's predictions corrected by what was seen."""
    given = np.searchsorted(arms, trial.arm[test], sorter=np.argsort(arms))
    given = np.argsort(arms)[given]
    share = np.bincount(given, minlength=len(arms)) / len(given)
    rows = np.arange(len(given))

    def corrected(arm):
        seen = (given == arm) / share[arm]
        return revenue[rows, arm] + seen * (trial.revenue[test] - revenue[rows, arm])

    return corrected(plan) - corrected(np.full(len(given), arms.index(control)))


def run_real(runner, data, trial_name, method, split):
    facts = TRIALS[trial_name]
    job = Job("real", trial_name.split(".")[0], "real/", 0, 1, split, method)
    if job.key in runner.results.found:
        return
    with runner.lock_of(("real", trial_name)):
        cache = runner.__dict__.setdefault("real_trials", {})
        if trial_name not in cache:
            cache[trial_name] = RealTrial(data / trial_name, facts)
        trial = cache[trial_name]
        split_words = trial.split(split)
        stem = runner.folder / "trials" / f"{job.cell}-{split}"
        if not stem.with_suffix(".toml").exists():
            stem.parent.mkdir(exist_ok=True)
            test_rows = np.flatnonzero(split_words == "test")
            parquet.write_table(trial.table.append_column("split", arrow.array(split_words)), f"{stem}.parquet")
            parquet.write_table(trial.table.take(arrow.array(test_rows)), f"{stem}.test.parquet")
            text = facts["study"].replace("[columns]\n", '[columns]\nid = "unit_number"\n')
            by = '[split]\nby = "split"\n[budgets]\nshare_of_max = [0.1, 0.3, 0.6]\n'
            stem.with_suffix(".toml").write_text(f'format = 2\n[data]\ntrial = "{stem.name}.parquet"\n{text}{by}')
    start = time.monotonic()
    try:
        result = judge(runner, facts, trial, split_words, stem, job)
        result["seconds"] = round(time.monotonic() - start, 2)
    except RuntimeError as error:
        result = {"error": str(error)}
    named = {"part": job.part, "cell": job.cell, "seed": split, "method": method, "setting": ""}
    runner.results.append({**named, "rows": trial.table.num_rows, **result})
    print(f"real {job.cell}, split {split}, {method}: {result.get('loss', result.get('error'))}", file=sys.stderr, flush=True)


def judge(runner, facts, trial, split_words, stem, job):
    name = f"real-{job.cell}-{job.seed}-{job.method}"
    model, predictions = runner.folder / f"{name}.safetensors", runner.folder / f"{name}.parquet"
    plan_file = runner.folder / f"{name}.plan.parquet"
    runner.dfcl("train", f"{stem}.toml", "--method", job.method, "--seed", job.seed, "-o", model)
    described = json.loads(runner.dfcl("info", model, "--json"))
    runner.dfcl("predict", model, f"{stem}.test.parquet", "-o", predictions)
    arms, revenue, _ = outcomes(predictions)
    made = json.loads(runner.dfcl("allocate", predictions, "--share-of-max", PLAN_BUDGET, "-o", plan_file, "--json"))
    plan = np.asarray([arms.index(label) for label in parquet.read_table(plan_file)["arm"].to_pylist()])
    for file in (model, predictions, plan_file):
        file.unlink()

    test = np.flatnonzero(split_words == "test")
    learned = split_words != "test"
    given = np.asarray([arms.index(label) for label in trial.arm[test]])
    means = np.asarray([trial.revenue[learned & (trial.arm == arm)].mean() for arm in arms])
    rows = np.arange(len(test))
    _, cluster = np.unique(trial.cluster[test], return_inverse=True)
    own = losses(facts["binary"], trial.revenue[test], revenue[rows, given])
    base = losses(facts["binary"], trial.revenue[test], means[given])
    difference, error = mean_and_error(own - base, cluster)
    control = arms.index(facts["control"])
    promised = float((revenue[rows, plan] - revenue[:, control]).sum(dtype=np.float64))
    increment, increment_error = mean_and_error(doubly_robust_increment(trial, test, arms, facts["control"], revenue, plan), cluster)
    units = len(test)
    return {"loss": float(own.mean()), "loss_of_means": float(base.mean()), "difference": difference, "difference_error": error,
            "promised": promised, "increment": units * increment, "increment_error": units * increment_error,
            "spend": made["spend"], **chosen_by(described)}  # fmt: skip


def real_lines(found, methods):
    """Of the results of part `real`: a table of losses, one of plans, and what `auto` chose in every split."""
    lines = ["| trial | method | test loss | of the arms' means | difference (standard error) | plan promises | doubly robust, 95 % interval |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    cells = sorted({result["cell"] for result in found})
    for cell in cells:
        for method in methods:
            first = next((r for r in found if (r["cell"], r["method"], r["seed"]) == (cell, method, 1) and "loss" in r), None)
            if first is None:
                continue
            half = 1.96 * first["increment_error"]
            lines.append(
                f"| {cell} | `{method}` | {first['loss']:.5g} | {first['loss_of_means']:.5g} | {first['difference']:+.2g} "
                f"({first['difference_error']:.1g}) | {first['promised']:,.0f} | {first['increment']:,.0f} "
                f"({first['increment'] - half:,.0f} to {first['increment'] + half:,.0f}) |"
            )
    lines += ["", "| `auto` | " + " | ".join(f"split {split}" for split in SPLITS) + " |", "|---" * (len(SPLITS) + 1) + "|"]
    for cell in cells:
        by_split = {r["seed"]: r for r in found if r["cell"] == cell and r["method"] == "auto" and "loss" in r}
        lines.append(f"| {cell} | " + " | ".join(split_text(by_split.get(split)) for split in SPLITS) + " |")
    return lines


def split_text(result):
    """Weights, the z of the loss against the arms' means, and whether the plan's promise lies inside the interval."""
    if result is None:
        return ""
    weights = result.get("weights", {})
    text = ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items() if weight >= 0.005)
    z = result["difference"] / max(result["difference_error"], 1e-30)
    inside = abs(result["promised"] - result["increment"]) <= 1.96 * result["increment_error"]
    return f"{text}; z {z:+.1f}; {'inside' if inside else 'OUTSIDE'}".lstrip("; ")


def summary(found):
    """How many of the promises lie inside their interval, and how many losses are worse than the means' beyond noise."""
    good = [r for r in found if "loss" in r]
    if not good:
        return []
    worse = sum(r["difference"] > 1.96 * r["difference_error"] for r in good)
    inside = sum(abs(r["promised"] - r["increment"]) <= 1.96 * r["increment_error"] for r in good)
    ratio = statistics.median(r["promised"] / r["increment"] for r in good if r["increment"] != 0.0)
    return [f"{worse} of {len(good)} models have a test loss above that of the arms' means by more than 1.96 standard errors; "
            f"{inside} of {len(good)} promises lie inside the interval; the median of promise / estimate is {ratio:.2f}."]  # fmt: skip

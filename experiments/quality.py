#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well does each method decide? Simulated trials whose truth is known, every method, several seeds: one table.

A cell is a family of responses, a number of rows and a noise. In every cell each method is tuned on a trial of its own
(at most four settings, the best by the truth), then trained with that setting on trials of other seeds. The figure is
the share of the best possible plan's incremental revenue that a model's plan gets at equal true spend, the mean of six
budgets. Trials, models and predictions go to a folder, every result to results.jsonl there, and what is there is not
done again: stop it at any moment and run it again.

  experiments/quality.py -o quality                         all of it: hours on two cores
  experiments/quality.py -o quality --cells smooth-60k --methods tsm,dfcl-mer --seeds 1
  experiments/quality.py -o quality --table                 no training: the table of what is there
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow.parquet as parquet

from quality_table import choice_lines, quality_lines
from results_page import replace_block

ARMS = ("0", "5", "10", "15", "20")
BUDGETS = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6)  # of the most that can be spent
DEPLOYED = (0.05, 0.2, 0.6)  # of them, where the plan is also made as users make it
TEST_ROWS, TEST_SEED = 60_000, 1_000  # seeds are samples of one world: one test sample for each family of responses
TUNING_SEED = 100

CELLS = {
    f"{response}-{name}": (response, rows, noise)
    for response in ("smooth", "tree", "sparse")
    for name, rows, noise in (("60k", 60_000, 1), ("400k", 400_000, 1), ("400k-noisy", 400_000, 6))
}

# At most four settings each. Two-stage learners: how long, how much decay. Decision losses: how much prediction loss
# beside them, how soft. Efficiencies: as two-stage learners.
PLAIN = ("", "method.weight_decay=0.4")
DECIDES = ("", "method.alpha=0.3")
SETTINGS = {
    "tsm": PLAIN,
    "dfcl-mer": DECIDES,
    "auto": ("",),
    "tsm-forest": ("",),
    "dfcl-ifd": DECIDES,
    "dfcl-pl": DECIDES,
    "dfcl-ifd-softmax": DECIDES,
    "cn": PLAIN,
    "dpm": PLAIN,
    "drm": PLAIN,
}
LIGHTGBM = [f"lightgbm {learner}, {objective}" for learner in ("S", "T") for objective in ("squared", "poisson")]


class Truth:
    """True expected outcomes of the test units, and the best plan's increment at each budget."""

    def __init__(self, path):
        self.revenue, self.cost = outcomes(path)
        most = float(self.cost.mean(axis=0, dtype=np.float64).max())
        self.budgets = [share * most for share in BUDGETS]
        self.best = [self.increment_at(self.revenue, self.cost, budget) for budget in self.budgets]

    def plan(self, revenue, cost, multiplier):
        return np.argmax(revenue - np.float32(multiplier) * cost, axis=1)[:, None]

    def increment_at(self, revenue, cost, budget):
        """Incremental revenue per unit of the plan by these predictions whose true spend just keeps to the budget."""

        def outcome(multiplier):
            arms = self.plan(revenue, cost, multiplier)
            spend = np.take_along_axis(self.cost, arms, 1).mean(dtype=np.float64)
            gain = (np.take_along_axis(self.revenue, arms, 1)[:, 0] - self.revenue[:, 0]).mean(dtype=np.float64)
            return spend, gain

        spend, gain = outcome(0.0)
        if spend <= budget:
            return gain
        low, high = 0.0, 1.0
        while outcome(high)[0] > budget and high < 1e9:
            low, high = high, 4.0 * high
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if outcome(middle)[0] > budget else (low, middle)
        return outcome(high)[1]

    def shares(self, revenue, cost):
        return [float(self.increment_at(revenue, cost, b) / best) for b, best in zip(self.budgets, self.best)]


def outcomes(path):
    table = parquet.read_table(path)
    stack = lambda kind: np.stack([table[f"{kind}_{arm}"].to_numpy().astype(np.float32) for arm in ARMS], 1)
    return stack("revenue"), stack("cost")


class Runner:
    def __init__(self, options):
        self.folder = pathlib.Path(options.output)
        self.program = os.environ.get("DFCL_BINARY", str(pathlib.Path(__file__).parents[1] / "build/release/bin/dfcl"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.scale = options.scale
        self.lock = threading.Lock()
        self.file_locks = {}
        self.truths = {}
        self.results = {}
        path = self.folder / "results.jsonl"
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                result = json.loads(line)
            except json.JSONDecodeError:  # the line at which it was killed
                continue
            self.results[self.key(result)] = result

    @staticmethod
    def key(result):
        return tuple(result[name] for name in ("cell", "seed", "method", "setting"))

    def dfcl(self, *arguments):
        run = subprocess.run([self.program, *map(str, arguments), "--threads", "1", "--quiet"],
                             capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        if run.returncode:
            raise RuntimeError(run.stderr.strip() or f"exit {run.returncode}")
        return run.stdout

    def simulated(self, stem, response, rows, noise, seed):
        """The stem of files `stem`.{parquet,truth.parquet,toml}, made once."""
        stem = self.folder / "trials" / stem
        with self.lock:
            lock = self.file_locks.setdefault(stem, threading.Lock())
        with lock:
            if not stem.with_suffix(".toml").exists():
                stem.parent.mkdir(exist_ok=True)
                self.dfcl("simulate", "--preset", "marketing", "--response", response, "--rows",
                          max(2_000, int(rows * self.scale)), "--noise", noise, "--seed", seed, "-o", f"{stem}.parquet",
                          "--truth", f"{stem}.truth.parquet", "--study", f"{stem}.toml")
        return stem

    def test_units(self, response):
        stem = self.simulated(f"test-{response}", response, TEST_ROWS, 1, TEST_SEED)
        with self.lock:
            if response not in self.truths:
                self.truths[response] = Truth(f"{stem}.truth.parquet")
        return stem, self.truths[response]

    def one(self, cell, seed, method, setting):
        key = (cell, seed, method, setting)
        if key in self.results:
            return self.results[key]
        response, rows, noise = CELLS[cell]
        trial = self.simulated(f"{cell}-{seed}", response, rows, noise, seed)
        test, truth = self.test_units(response)
        start = time.monotonic()
        name = f"{cell}-{seed}-{method}-{setting}".replace(" ", "").replace(",", "-")
        try:
            if method.startswith("lightgbm"):
                revenue, cost = lightgbm_predictions(method, f"{trial}.parquet", f"{test}.parquet")
                predictions = None
            else:
                model, predictions = self.folder / f"{name}.safetensors", self.folder / f"{name}.parquet"
                overrides = [part for text in setting.split() for part in ("--set", text)]
                self.dfcl("train", f"{trial}.toml", "--method", method, "--seed", seed, "-o", model, *overrides)
                self.dfcl("predict", model, f"{test}.parquet", "-o", predictions)
                revenue, cost = outcomes(predictions)
            result = {"shares": truth.shares(revenue, cost), "seconds": time.monotonic() - start}
            result["finite"] = bool(np.isfinite(revenue).all() and np.isfinite(cost).all())
            if predictions is not None:
                result.update(self.deployed(predictions, truth))
                predictions.unlink()
                model.unlink()
        except RuntimeError as error:
            result = {"error": str(error)}
        result = {"cell": cell, "seed": seed, "method": method, "setting": setting, **result}
        with self.lock:
            with open(self.folder / "results.jsonl", "a") as file:
                file.write(json.dumps(result) + "\n")
            self.results[key] = result
            share = f"{100 * statistics.mean(result['shares']):.1f} %" if "shares" in result else result["error"]
            print(f"{cell}, seed {seed}, {method} {setting}: {share}", file=sys.stderr, flush=True)
        return result

    def deployed(self, predictions, truth):
        """As users make plans: predicted spend keeps to the budget; what is the true spend?"""
        predicted, true = [], []
        plan = predictions.with_suffix(".plan.parquet")
        for share in DEPLOYED:
            budget = truth.budgets[BUDGETS.index(share)] * len(truth.cost)
            made = json.loads(self.dfcl("allocate", predictions, "--budget", budget, "-o", plan, "--json"))
            arm = np.asarray([ARMS.index(label) for label in parquet.read_table(plan)["arm"].to_pylist()])
            predicted.append(made["spend"] / budget - 1.0)
            true.append(float(truth.cost[np.arange(len(arm)), arm].sum(dtype=np.float64) / budget - 1.0))
        plan.unlink()
        return {"predicted_overspend": predicted, "true_overspend": true}

    def tuned(self, cell, method):
        """The setting of this method that did best on the tuning trial."""
        settings = SETTINGS.get(method, ("",))
        if len(settings) == 1:
            return settings[0]
        with self.lock:
            lock = self.file_locks.setdefault((cell, method), threading.Lock())
        with lock:
            tried = [self.one(cell, TUNING_SEED, method, setting) for setting in settings]
        good = [result for result in tried if "shares" in result]
        return max(good, key=lambda result: statistics.mean(result["shares"]))["setting"] if good else settings[0]

    def chosen(self, cells, methods, seeds):
        """The results of each cell and method, tuned, one for each seed that is there."""
        found = {(cell, method): [] for cell in cells for method in methods}
        for (cell, seed, method, _), result in sorted(self.results.items()):
            if (cell, method) in found and seed <= seeds and "shares" in result:
                found[cell, method].append(result)
        return found


def lightgbm_predictions(method, trial, test):
    """S- and T-learners of revenue and cost, with early stopping: what a practitioner would try first."""
    import lightgbm
    from pandas.api.types import is_numeric_dtype

    table, units = parquet.read_table(trial).to_pandas(), parquet.read_table(test).to_pandas()
    arm = np.searchsorted([float(label) for label in ARMS], table["discount"].astype(float).to_numpy())
    names = [c for c in table.columns if c not in ("shop_id", "discount", "orders", "subsidy", "day")]
    for name in names:
        if not is_numeric_dtype(table[name]):
            levels = {level: code for code, level in enumerate(sorted(table[name].dropna().unique()))}
            for frame in (table, units):
                frame[name] = frame[name].map(levels).astype(float)
    x, z = table[names].to_numpy(np.float32), units[names].to_numpy(np.float32)
    held = np.random.default_rng(0).random(len(x)) < 0.15
    objective = "poisson" if method.endswith("poisson") else "regression"
    parameters = {"objective": objective, "learning_rate": 0.1, "num_leaves": 63, "min_data_in_leaf": 100,
                  "feature_fraction": 0.6, "bagging_fraction": 0.8, "bagging_freq": 1, "verbose": -1, "num_threads": 1}

    def fit(inputs, outcome, rows):
        train = lightgbm.Dataset(inputs[rows & ~held], outcome[rows & ~held])
        valid = lightgbm.Dataset(inputs[rows & held], outcome[rows & held], reference=train)
        return lightgbm.train(parameters, train, 400, valid_sets=[valid],
                              callbacks=[lightgbm.early_stopping(20, verbose=False)])

    predictions = []
    for outcome in (table["orders"].to_numpy(np.float64), table["subsidy"].to_numpy(np.float64)):
        everyone = np.ones(len(x), bool)
        if method.startswith("lightgbm S"):
            model = fit(np.c_[x, arm], outcome, everyone)
            columns = [model.predict(np.c_[z, np.full(len(z), j)]) for j in range(len(ARMS))]
        elif outcome.any():
            columns = [fit(x, outcome, arm == j).predict(z) if outcome[arm == j].any() else np.zeros(len(z))
                       for j in range(len(ARMS))]
        predictions.append(np.stack(columns, 1).astype(np.float32))
    return predictions


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, help="folder of trials and results")
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--methods", default=",".join(SETTINGS), help="and lightgbm, for its four learners")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows, for a quick look")
    parser.add_argument("--table", action="store_true", help="only print the table of what is there")
    parser.add_argument("--results", help="a Markdown file whose block `quality` to replace, docs/results.md")
    parser.add_argument("--guide", help="a Markdown file whose block `choice` to replace, docs/guide-methods.md")
    options = parser.parse_args()
    cells = options.cells.split(",")
    methods = [m for name in options.methods.split(",") for m in (LIGHTGBM if name == "lightgbm" else [name])]
    for cell in cells:
        if cell not in CELLS:
            parser.error(f"no cell '{cell}'; there are {', '.join(CELLS)}")
    runner = Runner(options)
    if not options.table:
        # Seed after seed, so that what is there when it is stopped is a table already.
        jobs = [(cell, seed, method) for seed in range(1, options.seeds + 1) for method in methods for cell in cells
                if seed == 1 or method not in LIGHTGBM]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(lambda job: runner.one(*job, runner.tuned(job[0], job[2])), jobs))
    chosen = runner.chosen(cells, methods, options.seeds)
    lines = quality_lines(chosen, cells, methods, options.seeds)
    print("\n".join(lines))
    if options.results:
        made = subprocess.run([runner.program, "--version"], capture_output=True, text=True).stdout.strip()
        stamp = f"{datetime.date.today()}, {made}, {os.cpu_count()} cores, seeds 1 to {options.seeds}, tuned on seed {TUNING_SEED}."
        replace_block(pathlib.Path(options.results), "quality", [stamp, "", *lines])
    if options.guide:
        replace_block(pathlib.Path(options.guide), "choice", choice_lines(chosen, cells, methods))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What quality.py runs: trials made on the fly, methods trained on them, plans judged by the truth.

Every result is a line of results.jsonl, written when it is there and never changed; a job whose line is there is not done
again. Stop it at any moment, or give it a time: what was running then is begun anew by the next call.
"""

import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

import kinds
import lightgbm_learners
import numpy as np
import pyarrow.parquet as parquet

BUDGETS = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6)  # of the way from control's cost to the costliest arm's
DEPLOYED = (0.05, 0.2, 0.6)  # of them, where the plan is also made as users make it
TEST_ROWS, TEST_SEED = 60_000, 1_000  # seeds are samples of one world: one test sample for each kind of truth
TUNING_SEED = 100
ROLES = {"marketing": ("shop_id", "discount", "orders", "subsidy"),
         "varied": ("customer_id", "offer", "spending", "offer_cost"), "kinds": kinds.ROLES}  # fmt: skip
MOST_WASTE = 1.3  # a job is not begun where this times its expected seconds are not left


def outcomes(path):
    """Arms, and revenue and cost as units x arms, of a table of predictions or of the truth."""
    table = parquet.read_table(path)
    arms = [name.removeprefix("revenue_") for name in table.column_names if name.startswith("revenue_")]
    stack = lambda kind: np.stack([table[f"{kind}_{arm}"].to_numpy().astype(np.float32) for arm in arms], 1)
    return arms, stack("revenue"), stack("cost")


class Truth:
    """True expected outcomes of the test units, and the best plan's increment at each budget. Control is the first arm."""

    def __init__(self, path):
        self.arms, self.revenue, self.cost = outcomes(path)
        self.extra_cost = self.cost - self.cost[:, :1]
        most = float(self.extra_cost.mean(axis=0, dtype=np.float64).max())
        self.budgets = [share * most for share in BUDGETS]
        self.best = [self.increment_at(self.revenue, self.cost, budget) for budget in self.budgets]

    def increment_at(self, revenue, cost, budget):
        """Incremental revenue per unit of the plan by these predictions whose true spend just keeps to the budget."""

        def outcome(multiplier):
            arms = np.argmax(revenue - np.float32(multiplier) * cost, axis=1)[:, None]
            spend = np.take_along_axis(self.extra_cost, arms, 1).mean(dtype=np.float64)
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

    def judged(self, revenue, cost):
        """Shares of the best possible, and how far the effects are from the truth, in standard deviations of the effects."""
        effect = self.revenue[:, 1:] - self.revenue[:, :1]
        error = revenue[:, 1:] - revenue[:, :1] - effect
        return {
            "shares": [float(self.increment_at(revenue, cost, b) / best) for b, best in zip(self.budgets, self.best)],
            "effect_error": float(np.sqrt((error.astype(np.float64) ** 2).mean()) / effect.std(dtype=np.float64)),
            "finite": bool(np.isfinite(revenue).all() and np.isfinite(cost).all()),
        }


class Job:
    """One training: on which trial, by what. part: a section of the page. cell: names kind of truth and size."""

    def __init__(self, part, cell, world, rows, noise, seed, method, setting=""):
        self.part, self.cell, self.world, self.rows, self.noise = part, cell, world, rows, noise
        self.seed, self.method, self.setting = seed, method, setting

    @property
    def key(self):
        return (self.part, self.cell, self.seed, self.method, self.setting)

    @property
    def preset(self):
        return self.world.split("/")[0]


class OutOfTime(Exception):
    """The slice is over: what runs is given up."""


class Results:
    """A file of lines, append only; failures, and a line that was cut when it was written, do not count."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        self.found = {}
        text = self.path.read_text() if self.path.exists() else ""
        for line in text.splitlines():
            try:
                result = json.loads(line)
            except json.JSONDecodeError:
                continue
            if "error" not in result:  # what failed is tried again
                self.add(result)
        if text and not text.endswith("\n"):
            with open(self.path, "a") as file:
                file.write("\n")

    @staticmethod
    def key(result):
        return tuple(result[name] for name in ("part", "cell", "seed", "method", "setting"))

    def add(self, result):
        self.found[self.key(result)] = result

    def append(self, result):
        with self.lock:
            with open(self.path, "a") as file:
                file.write(json.dumps(result) + "\n")
            self.add(result)

    def expected_seconds(self, job):
        same = [r["seconds"] for r in self.found.values()
                if "seconds" in r and (r["method"], r.get("rows")) == (job.method, job.rows)]  # fmt: skip
        return statistics.median(same) if same else 0.0


class Runner:
    def __init__(self, folder, jobs, threads, seconds, scale=1.0, keep=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program = os.environ.get("DFCL_BINARY", str(pathlib.Path(__file__).parents[1] / "build/release/bin/dfcl"))
        self.jobs, self.threads, self.scale = jobs, threads, scale
        self.deadline = time.monotonic() + seconds if seconds else None
        self.results = Results(keep or self.folder / "results.jsonl")
        self.lock = threading.Lock()
        self.locks, self.truths = {}, {}

    def left(self):
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def lock_of(self, key):
        with self.lock:
            return self.locks.setdefault(key, threading.Lock())

    def dfcl(self, *arguments):
        command = [self.program, *map(str, arguments), "--threads", str(self.threads), "--quiet", "--overwrite"]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        try:
            output, errors = child.communicate(timeout=None if self.deadline is None else max(1.0, self.left()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            raise OutOfTime from None
        if child.returncode:
            raise RuntimeError(errors.strip() or f"exit {child.returncode}")
        return output

    def simulated(self, stem, world, rows, noise, seed):
        """The stem of files `stem`.{parquet,truth.parquet,toml}, made once."""
        stem = self.folder / "trials" / stem.replace("/", "-")
        with self.lock_of(stem):
            if not stem.with_suffix(".toml").exists():
                stem.parent.mkdir(exist_ok=True)
                preset, response = world.split("/")
                if preset == "kinds":
                    kinds.write(stem, response, max(2_000, int(rows * self.scale)), seed)
                    return stem
                noisy = ["--noise", noise] if noise != 1 else []
                self.dfcl("simulate", "--preset", preset, "--response", response, "--rows", max(2_000, int(rows * self.scale)),
                          *noisy, "--seed", seed, "-o", f"{stem}.parquet", "--truth", f"{stem}.truth.parquet",
                          "--study", f"{stem}.toml")  # fmt: skip
        return stem

    def test_units(self, world):
        stem = self.simulated(f"test-{world}", world, TEST_ROWS, 1, TEST_SEED)
        with self.lock_of((world, "truth")):
            if world not in self.truths:
                self.truths[world] = Truth(f"{stem}.truth.parquet")
        return stem, self.truths[world]

    def run(self, job):
        """The job's result, from the file or made now. Threads may share a runner."""
        if job.key in self.results.found:
            return self.results.found[job.key]
        if self.left() < MOST_WASTE * self.results.expected_seconds(job):
            raise OutOfTime
        start = time.monotonic()
        try:
            result = self.lightgbm(job) if job.method.startswith("lightgbm") else self.trained(job)
            result["seconds"] = round(time.monotonic() - start, 2)
        except RuntimeError as error:
            result = {"error": str(error)}
        named = {"part": job.part, "cell": job.cell, "seed": job.seed, "method": job.method, "setting": job.setting}
        self.results.append({**named, "rows": job.rows, **result})
        share = f"{100 * statistics.mean(result['shares']):.1f} %" if "shares" in result else result["error"]
        print(f"{job.part} {job.cell}, seed {job.seed}, {job.method} {job.setting}: {share}", file=sys.stderr, flush=True)
        return self.results.found[job.key]

    def trial_of(self, job):
        return self.simulated(f"{job.world}-{job.rows}-{job.noise}-{job.seed}", job.world, job.rows, job.noise, job.seed)

    @staticmethod
    def split_of(job):
        """All rows train, 15 % of them to stop by. marketing: as version 0.1 had it, 60 and 10 %."""
        parts = {} if job.preset == "marketing" else {"train": 0.85, "validation": 0.15, "test": 0.0}
        return [word for name, share in parts.items() for word in ("--set", f"split.{name}={share}")]

    def trained(self, job):
        trial = self.trial_of(job)
        test, truth = self.test_units(job.world)
        name = "-".join(map(str, job.key)).replace(" ", "-").replace("/", "-")
        model, predictions = self.folder / f"{name}.safetensors", self.folder / f"{name}.parquet"
        overrides = [word for text in job.setting.split() for word in ("--set", text)]
        self.dfcl("train", f"{trial}.toml", "--method", job.method, "--seed", job.seed, "-o", model, "--overwrite", *self.split_of(job),
                  *overrides)  # fmt: skip
        described = json.loads(self.dfcl("info", model, "--json"))
        self.dfcl("predict", model, f"{test}.parquet", "-o", predictions, "--overwrite")
        _, revenue, cost = outcomes(predictions)
        result = {**truth.judged(revenue, cost), **self.deployed(predictions, truth), **chosen_by(described)}
        predictions.unlink()
        model.unlink()
        return result

    def lightgbm(self, job):
        """The same rows as ours: all, of `marketing` 70 %, 15 % of them to stop by. Prices that are the same for all units are known."""
        trial = self.trial_of(job)
        test, truth = self.test_units(job.world)
        share = 0.7 if job.preset == "marketing" else 1.0
        revenue, cost = lightgbm_learners.predictions(job.method.split()[1], job.setting, f"{trial}.parquet", f"{test}.parquet",
                                                      ROLES[job.preset], truth.arms, share, job.seed, self.threads)  # fmt: skip
        known = (truth.cost == truth.cost[:1]).all()
        return truth.judged(revenue, truth.cost if known else cost)

    def deployed(self, predictions, truth):
        """As users make plans: predicted spend keeps to the budget; what is the true spend?"""
        predicted, true = [], []
        plan = predictions.with_suffix(".plan.parquet")
        places = {arm: place for place, arm in enumerate(truth.arms)}
        for share in DEPLOYED:
            budget = truth.budgets[BUDGETS.index(share)] * len(truth.cost)
            made = json.loads(self.dfcl("allocate", predictions, "--budget", budget, "-o", plan, "--overwrite", "--json"))
            arm = np.asarray([places[label] for label in parquet.read_table(plan)["arm"].to_pylist()])
            predicted.append(made["spend"] / budget - 1.0)
            true.append(float(truth.extra_cost[np.arange(len(arm)), arm].sum(dtype=np.float64) / budget - 1.0))
        plan.unlink()
        return {"predicted_overspend": predicted, "true_overspend": true}

    def tuned(self, job, settings):
        """The job with the setting that did best, by the truth, on a trial of its own."""
        if len(settings) == 1:
            job.setting = settings[0]
            return job
        with self.lock_of((job.part, job.cell, job.method)):
            tried = [self.run(Job(job.part, job.cell, job.world, job.rows, job.noise, TUNING_SEED, job.method, setting))
                     for setting in settings]  # fmt: skip
        good = [result for result in tried if "shares" in result]
        job.setting = max(good, key=lambda result: statistics.mean(result["shares"]))["setting"] if good else settings[0]
        return job

    def run_all(self, tasks):
        """tasks: functions of this runner. False where time ran out before all were done."""

        def guarded(task):
            try:
                if self.left() <= 0:
                    raise OutOfTime
                task(self)
                return True
            except OutOfTime:
                return False

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return all(list(pool.map(guarded, tasks)))


def chosen_by(described):
    """What `dfcl info` says of a stack: the weights of its members, and of any model: what does not bear out."""
    members = (described.get("stack") or {}).get("members", [])
    result = {"weights": {member["method"]: member["weight"] for member in members}} if members else {}
    return {**result, **({"remarks": described["remarks"]} if described.get("remarks") else {})}

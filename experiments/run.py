#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Redoes the published study, table by table, and writes docs/results.md: what `make experiments` calls.

Trials are simulated at a reduced size, so that all of it takes less than an hour on two cores; `--scale 10` is ten times
the rows. Where the public Criteo file or the sample criteo_200k.parquet lies in the folder that DFCL_DATA names (else in a
folder called data next to the checkout), the Criteo table is made of it too. Everything goes to one folder, and what is
there is not done again: stop it at any moment and run it again. Remove the folder after a change of the program itself.

  experiments/run.py -o experiments-out                       all experiments, two at a time, then docs/results.md
  experiments/run.py -o experiments-out --only alpha,measures
  experiments/run.py -o experiments-out --pages               no training: docs/results.md from what is there
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import threading
import time

import results_page

ROOT = pathlib.Path(__file__).resolve().parents[1]
STUDIES = ROOT / "experiments"
SAMPLE_FILES = ("criteo-uplift-v2.1.csv.gz", "criteo-uplift-v2.1.parquet", "criteo_200k.parquet", "criteo_200k.csv.gz")
SEED = 1
# The longest first, so that two at a time end together. Rows at scale 1.
EXPERIMENTS = {
    "measures": {"preset": "marketing", "rows": 200_000},
    "marketing": {"preset": "marketing", "rows": 280_000, "days": 14},
    "alpha": {"preset": "marketing", "rows": 200_000},
    "criteo": {"preset": "criteo", "rows": 400_000},
    "online": {"units": 200_000, "trial_units": 20_000},
    "multipliers": {"preset": "marketing", "rows": 200_000},
    "criteo-data": {"study": "criteo"},
    "speed": {"rows": 1_000},
}


class Runner:
    def __init__(self, options):
        self.folder = pathlib.Path(options.output).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program = os.environ.get("DFCL_BINARY", str(ROOT / "build/release/bin/dfcl"))
        self.scale = options.scale
        self.threads = options.threads
        self.extra = [part for setting in options.set for part in ("--set", setting)]
        self.resamples = options.resamples
        self.lock = threading.Lock()

    def dfcl(self, *words, log=None, good=(0,)):
        command = [self.program, *map(str, words), "--threads", str(self.threads)]
        with open(log or os.devnull, "a") as messages:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=messages if log else subprocess.PIPE, text=True, check=False
            )
        if done.returncode not in good:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}; {done.stderr or f'see {log}'}")
        return done.stdout

    def simulated(self, preset, rows, days=0):
        rows = round(rows * self.scale)
        rows -= rows % days if days else 0
        stem = self.folder / "trials" / f"{preset}-{rows}{f'-{days}' if days else ''}"
        with self.lock:
            if not stem.with_suffix(".done").exists():
                stem.parent.mkdir(exist_ok=True)
                flags = ["--days", days] if days else []
                self.dfcl(
                    "simulate",
                    "--preset",
                    preset,
                    "--rows",
                    rows,
                    "--seed",
                    SEED,
                    *flags,
                    "-o",
                    f"{stem}.parquet",
                    "--truth",
                    f"{stem}.truth.parquet",
                    "--overwrite",
                )
                stem.with_suffix(".done").touch()
        source = f"simulated ({preset}, {rows:,} rows" + (f", {days} days)" if days else ")")
        return f"{stem}.parquet", f"{stem}.truth.parquet", source

    def compare(self, name, study, trial, truth, source):
        out = self.folder / name
        stamp, wanted = self.folder / f"{name}.json", self.stamp(study, source)
        kept = json.loads(stamp.read_text()) if stamp.exists() else {}
        if {key: kept.get(key) for key in wanted} == wanted:
            return kept
        # Criteo's arms are not quite alike (`dfcl check`: unfit, exit code 7); the published study used them all the same.
        flags, good = (["--truth", truth], (0,)) if truth else (["--force"], (0, 7))
        start = time.monotonic()
        self.dfcl(
            "compare",
            study,
            "--set",
            f'data.trial="{trial}"',
            *self.extra,
            "--seed",
            SEED,
            "--resamples",
            self.resamples,
            *flags,
            "-o",
            out,
            log=self.folder / f"{name}.log",
            good=good,
        )
        return self.finish(stamp, wanted, time.monotonic() - start)

    def stamp(self, study, source):
        """What an experiment's results depend on: with the same stamp they are not made again."""
        return {
            "study": pathlib.Path(study).read_text(),
            "source": source,
            "settings": self.extra,
            "version": self.version(),
            "seed": SEED,
        }

    def finish(self, stamp, wanted, seconds):
        made = {**wanted, "seconds": seconds, "date": datetime.date.today().isoformat(), "machine": machine()}
        stamp.write_text(json.dumps(made, indent=1))
        return made

    def version(self):
        return subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True).stdout.split()[
            -1
        ]

    def run(self, name):
        plan = dict(EXPERIMENTS[name])
        if name == "online":
            return self.online(plan)
        if name == "speed":
            return self.speed(plan)
        study = STUDIES / f"{plan.pop('study', name)}.toml"
        if name == "criteo-data":
            found = criteo_file()
            return self.compare(name, study, found, None, found.name) if found else None
        return self.compare(name, study, *self.simulated(**plan))

    def online(self, plan):
        study = STUDIES / "online.toml"
        units, trial_units = (round(plan[key] * self.scale) for key in ("units", "trial_units"))
        stamp, wanted = self.folder / "online.json", self.stamp(
            study, f"simulated ({units:,} shops, {trial_units:,} in the trial)"
        )
        kept = json.loads(stamp.read_text()) if stamp.exists() else {}
        if {key: kept.get(key) for key in wanted} == wanted:
            return kept
        start = time.monotonic()
        self.dfcl(
            "deploy",
            study,
            "--units",
            units,
            "--set",
            f"deploy.trial_units={trial_units}",
            "--methods",
            "tsm,dpm,dfcl-ifd",
            *self.extra,
            "--seed",
            SEED,
            "--checkpoint",
            self.folder / "online-models",
            "-o",
            self.folder / "online-results.json",
            log=self.folder / "online.log",
        )
        return self.finish(stamp, wanted, time.monotonic() - start)

    def speed(self, plan):
        """Seconds an epoch of plain and improved finite differences, all units as one batch, as bench_fd measures them."""
        stamp, wanted = self.folder / "speed.json", {"rows": plan["rows"], "version": self.version()}
        kept = json.loads(stamp.read_text()) if stamp.exists() else {}
        if {key: kept.get(key) for key in wanted} == wanted:
            return kept
        program = pathlib.Path(self.program).parent / "bench_fd"
        if not program.exists():
            raise RuntimeError(f"{program} is missing: build the benchmarks (make bench)")
        start, rows = time.monotonic(), str(plan["rows"])
        done = subprocess.run([program, rows, str(self.threads), rows], stdout=subprocess.PIPE, text=True, check=True)
        _, plain, improved, _ = done.stdout.splitlines()[-1].split()
        found = {"fd": float(plain), "ifd": max(float(improved), 1e-6)}
        return self.finish(stamp, {**wanted, "seconds_per_epoch": found}, time.monotonic() - start)


def criteo_file():
    folders = (
        [pathlib.Path(os.environ["DFCL_DATA"])] if "DFCL_DATA" in os.environ else sorted(ROOT.parent.glob("*/data"))
    )
    return next((folder / name for name in SAMPLE_FILES for folder in folders if (folder / name).exists()), None)


def machine():
    return f"{os.cpu_count()} cores, {platform.machine()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, help="folder of trials, models and results")
    parser.add_argument("--only", default=",".join(EXPERIMENTS), help="some of " + ",".join(EXPERIMENTS))
    parser.add_argument("--scale", type=float, default=1.0, help="times the rows; other scales need another folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="experiments at a time")
    parser.add_argument(
        "--threads", type=int, default=1, help="of each: two experiments on a thread each are faster than one on two"
    )
    parser.add_argument(
        "--set", action="append", default=[], help="section.key=value for every comparison, for a quick look"
    )
    parser.add_argument("--resamples", type=int, default=1000, help="of every comparison")
    parser.add_argument("--pages", action="store_true", help="only write docs/results.md from what is there")
    parser.add_argument("--docs", default=str(ROOT / "docs" / "results.md"), help="the page whose blocks are refreshed")
    options = parser.parse_args()
    names = options.only.split(",")
    for name in names:
        if name not in EXPERIMENTS:
            parser.error(f"no experiment '{name}'; there are {', '.join(EXPERIMENTS)}")
    runner = Runner(options)

    def one(name):
        try:
            made = runner.run(name)
        except RuntimeError as error:
            print(f"{name}: failed: {error}", file=sys.stderr, flush=True)
            return False
        print(
            f"{name}: " + (f"{made['seconds']:.0f} s" if made else "left out, its data is not here"),
            file=sys.stderr,
            flush=True,
        )
        return True

    good = True
    if not options.pages:
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            good = all(list(pool.map(one, names)))
        print(f"all: {time.monotonic() - start:.0f} s", file=sys.stderr)
    results_page.refresh(pathlib.Path(options.docs), runner.folder)
    print(f"written: {options.docs}", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

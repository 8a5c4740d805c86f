#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole pipeline in every way that must not change a byte (make same-answer).

simulate, check, train (a network, boosted trees, a forest, auto), predict, allocate, evaluate and report: on 1, 2, 3 and
8 threads; with every verb killed at a random moment and run again; with training killed at chosen writes and resumed
from its checkpoint; with the trial in a cache and the plan from a stream; and, with --python, through the Python
package. Prints the hash of every output beside that on one thread, and ends with 1 where one differs.
"""

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

METHODS = ["tsm", "tsm-boost", "tsm-forest", "auto"]
OPTIONS = {"tsm": "--epochs 2", "tsm-boost": "--set boost.trees=40", "tsm-forest": "--trees 16", "auto": "--time-budget 1e9"}

THROUGH_PYTHON = """
import sys, dfcl
method = sys.argv[1]
options = {"tsm": {"epochs": 2}, "tsm-forest": {"trees": 16}, "auto": {"time_budget": 1e9}}.get(method, {})
study = dfcl.Study.read("s.toml", {"boost.trees": 40} if method == "tsm-boost" else None)
model = dfcl.train(study, method=method, seed=1, output="m.safetensors", progress=False, **options)
dfcl.predict(model, "t.parquet", output="p.parquet", progress=False)
dfcl.allocate("p.parquet", share_of_max=0.2, holdout=0.1, output="plan.parquet", seed=1, progress=False)
dfcl.evaluate(study, model, resamples=50, output="r.json", seed=1, progress=False)
"""


def pipeline(rows, method, cache="", stream=""):
    """The lines, each with what it writes. auto fits many models: fewer rows are enough."""
    return [
        (f"simulate --preset marketing --rows {rows} --seed 7 -o t.parquet --truth truth.parquet --study s.toml", ["t.parquet", "truth.parquet", "s.toml"]),
        ("check s.toml --split-out split.csv", ["split.csv"]),
        (f"train s.toml --method {method} {OPTIONS[method]} {cache} -o m.safetensors", ["m.safetensors"]),
        ("predict m.safetensors t.parquet -o p.parquet", ["p.parquet"]),
        (f"allocate p.parquet --share-of-max 0.2 --holdout 0.1 {stream} -o plan.parquet", ["plan.parquet"]),
        ("evaluate s.toml m.safetensors --resamples 50 -o r.json", ["r.json"]),
        ("report r.json -o r.html", ["r.html"]),
    ]


class Ways:
    def __init__(self, binary, work, rng):
        self.binary, self.work, self.rng = str(binary), work, rng

    def run(self, line, folder, threads=2, **environment):
        words = [*line.split(), "--seed", "1"] if "--seed" not in line else line.split()
        return subprocess.run([self.binary, *words, "--threads", str(threads), "--overwrite", "--quiet"], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True)

    def good(self, line, folder, threads=2):
        done = self.run(line, folder, threads)
        if done.returncode != 0:
            sys.exit(f"dfcl {line}: code {done.returncode}\n{done.stderr}")

    def on_threads(self, lines, folder, threads):
        for line, _ in lines:
            self.good(line, folder, threads)

    def killed(self, lines, folder):
        """Each line is killed at two random moments, then run to its end."""
        for line, _ in lines:
            for _ in range(2):
                process = subprocess.Popen([self.binary, *line.split(), "--threads", "2", "--overwrite", *([] if "--seed" in line else ["--seed", "1"])], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    process.wait(timeout=self.rng.random())
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            self.good(line, folder)

    def resumed(self, lines, folder):
        """Training ends at chosen writes and goes on from its checkpoint, on another number of threads each time."""
        died = 0
        for line, _ in lines:
            if line.startswith("train"):
                line += " --checkpoint points"
                for turn, write in enumerate((2, 4, 7)):
                    died += self.run(line, folder, 1 + turn, DFCL_FAULT=f"write:{write}:die").returncode < 0
            self.good(line, folder, 3)
        if died == 0:
            sys.exit("no run was killed: nothing was resumed")

    def through_python(self, lines, folder, python, method):
        for line, _ in lines:
            if line.split()[0] in ("simulate", "check"):
                self.good(line, folder)
        done = subprocess.run([python, "-c", THROUGH_PYTHON, method], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{python}: {done.stderr}")
        self.good(lines[-1][0], folder)


def hashes(folder, lines):
    names = [name for _, outputs in lines for name in outputs]
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16] for name in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--python", help="an interpreter that imports dfcl; without it that way is left out")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="of the moments of the kills")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    differences, compared = 0, 0
    with tempfile.TemporaryDirectory(prefix="dfcl-same-") as work:
        ways = Ways(options.binary.resolve(), Path(work), random.Random(options.seed))
        for method in options.methods.split(","):
            plain = pipeline(options.rows, method)
            apart = pipeline(options.rows, method, "--cache kept", "--stream")
            runs = {f"{threads} threads": (plain, lambda lines, folder, threads=threads: ways.on_threads(lines, folder, threads)) for threads in (1, 2, 3, 8)}
            runs |= {"killed": (plain, ways.killed), "resumed": (plain, ways.resumed), "cached, streamed": (apart, lambda lines, folder: ways.on_threads(lines, folder, 2))}
            if options.python:
                runs["Python"] = (plain, lambda lines, folder: ways.through_python(lines, folder, options.python, method))
            reference = None
            for name, (lines, go) in runs.items():
                folder = Path(work) / "run"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                go(lines, folder)
                found = hashes(folder, lines)
                reference = reference or found
                other = [file for file in found if found[file] != reference[file]]
                compared += len(found)
                differences += len(other)
                print(f"{method:12} {name:18} " + ("the same: " + " ".join(found.values()) if not other else f"DIFFERENT: {', '.join(other)}"), flush=True)
    print(f"{compared} files compared, {differences} different" + ("" if options.python else "; Python was left out"))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

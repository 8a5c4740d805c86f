#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults at every operation and kills at random moments, for every verb that writes (make torture).

Faults: the n-th open, read, write, sync, rename, map, reservation of disk or large allocation fails, for n = 1, 2, ...
until the verb ends well several times in a row; through the seam of dfcl/core (DFCL_FAULT) and, for what libraries
call, through a shim (LD_PRELOAD). After each: exit code 1 or 4, one error, the old output whole, and the same command
without a fault gives the right bytes and leaves no litter. Kills: SIGKILL at a random moment, the same after it.
Prints a table and ends with 1 where anything went wrong.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

SEAM = ["open", "read", "write", "sync", "rename", "map", "reserve", "allocate"]
SHIM = ["open", "read", "write", "sync", "rename", "map", "large"]
FILE, OUT_OF_MEMORY = 4, 1

# Verb: its arguments, and the output that is compared.
VERBS = {
    "init": ("init t.csv -o out.toml", "out.toml"),
    "simulate": ("simulate --preset marketing --rows 1500 --seed 3 -o out.csv --truth out.parquet --study out.toml", "out.csv"),
    "check": ("check s.toml --split-out out.csv", "out.csv"),
    "train": ("train s.toml --method tsm --epochs 2 --checkpoint points --cache kept --log log.txt -o out.safetensors", "out.safetensors"),
    "predict": ("predict m.safetensors t.csv -o out.parquet", "out.parquet"),
    "allocate": ("allocate truth.parquet --share-of-max 0.2 --stream -o out.csv", "out.csv"),
    "allocate model": ("allocate m.safetensors t.csv --share-of-max 0.2 -o out.arrow", "out.arrow"),
    "evaluate": ("evaluate s.toml m.safetensors --resamples 0 -o out.json", "out.json"),
    "compare": ("compare s.toml --methods tsm,tsm-boost --set method.epochs=2 --resamples 0 -o out", "out/results.json"),
    "report": ("report results.json -o out.html", "out.html"),
    "readout": ("readout plan.parquet outcomes.parquet -o out.json", "out.json"),
    "power": ("power s.toml -o out.json", "out.json"),
    "export": ("export m.safetensors -o out.onnx", "out.onnx"),
    "deploy": ("deploy s.toml --units 300 --days 7 --methods tsm,tsm-boost --set method.epochs=2 --set deploy.trial_units=300 --checkpoint points -o out.json", "out.json"),
}


class Torture:
    def __init__(self, binary, work, shim, rng):
        self.binary, self.work, self.shim, self.rng = str(binary), work, shim, rng
        self.template = work / "template"
        self.failures = []
        self.template.mkdir()
        self.make_inputs()

    def make_inputs(self):
        for line in (
            "simulate --preset marketing --rows 1500 --seed 1 -o t.csv --study s.toml --truth truth.parquet",
            "train s.toml --method tsm --epochs 1 -o m.safetensors",
            "evaluate s.toml m.safetensors --resamples 0 -o results.json",
            "allocate truth.parquet --share-of-max 0.2 --holdout 0.3 -o plan.parquet",
            "simulate --preset marketing --rows 1500 --seed 1 --outcomes-of plan.parquet -o outcomes.parquet",
        ):
            done = self.run(line.split(), self.template)
            if done.returncode != 0:
                sys.exit(f"cannot make the inputs: dfcl {line}\n{done.stderr}")

    def run(self, words, folder, **environment):
        return subprocess.run([self.binary, *words], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, errors="replace")

    def fresh(self, verb):
        """A folder with the inputs, and with an old output where the verb replaces a file."""
        folder = self.work / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.template, folder)
        if verb != "compare":
            (folder / VERBS[verb][1]).write_bytes(b"old\n")
        return folder

    def words(self, verb):
        return [*VERBS[verb][0].split(), "--overwrite", "--threads", "2"]

    def litter(self, folder):
        return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.name.endswith((".partial", ".part")) or path.name.startswith("scratch-")]

    def wrong(self, what, how, detail):
        self.failures.append(f"{what}: {how}: {detail}")
        print(f"torture: {what}: {how}: {detail}", file=sys.stderr, flush=True)

    def rerun(self, verb, folder, expected, what):
        done = self.run(self.words(verb), folder)
        if done.returncode != 0:
            return self.wrong(what, "the same command again", f"code {done.returncode}: {done.stderr[:300]}")
        if (folder / VERBS[verb][1]).read_bytes() != expected:
            self.wrong(what, "the same command again", "other bytes")
        if self.litter(folder):
            self.wrong(what, "litter after the same command again", self.litter(folder))

    def reference(self, verb):
        folder = self.fresh(verb)
        begin = time.monotonic()
        done = self.run(self.words(verb), folder)
        if done.returncode != 0:
            sys.exit(f"dfcl {VERBS[verb][0]}: {done.stderr}")
        return (folder / VERBS[verb][1]).read_bytes(), time.monotonic() - begin

    def faults(self, verb, expected, through, operation, most, step_from):
        """The faults of one operation, until the verb ends well five times in a row; beyond step_from in growing steps."""
        outcomes, good_ends, n = Counter(), 0, 0
        while good_ends < 5 and n < most:
            n += 1 if n < step_from else max(1, n // 10)
            what = f"{verb}, {through} {operation} {n}"
            folder = self.fresh(verb)
            wish = f"{operation}:{n}:fail"
            environment = {"DFCL_FAULT": wish} if through == "seam" else {"TORTURE": wish, "TORTURE_FOLDER": str(self.work), "LD_PRELOAD": str(self.shim)}
            done = self.run(self.words(verb), folder, **environment)
            output = folder / VERBS[verb][1]
            outcomes[done.returncode] += 1
            if done.returncode == 0:
                good_ends += 1
                if output.read_bytes() != expected:
                    self.wrong(what, "ended well", "wrong bytes")
                continue
            good_ends = 0
            allowed = {FILE, OUT_OF_MEMORY} if operation in ("allocate", "large", "map") else {FILE}
            if done.returncode not in allowed:
                self.wrong(what, f"code {done.returncode}", done.stderr[:300])
            if done.stderr.count("dfcl: error:") != 1:
                self.wrong(what, "not one error", done.stderr[:300])
            if verb != "compare" and output.read_bytes() not in (b"old\n", expected):
                self.wrong(what, "the old output", "is neither old nor new")
            if self.litter(folder):  # a process that was not killed takes its temporaries with it
                self.wrong(what, "litter after the fault", self.litter(folder))
            self.rerun(verb, folder, expected, what)
        return outcomes

    def kill(self, verb, expected, seconds):
        """Killed at a random moment; then the same command."""
        folder = self.fresh(verb)
        moment = self.rng.random() * seconds
        process = subprocess.Popen([self.binary, *self.words(verb)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=moment)
        except subprocess.TimeoutExpired:
            process.kill()
        code = process.wait()
        output = folder / VERBS[verb][1]
        if verb != "compare" and output.read_bytes() not in (b"old\n", expected):
            self.wrong(f"{verb}, killed after {moment:.3f} s", "the output", "is neither old nor new")
        self.rerun(verb, folder, expected, f"{verb}, killed after {moment:.3f} s")
        return "killed" if code < 0 else "ended"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--shim", type=Path, help="fault_shim.so; without it only the seam is tortured")
    parser.add_argument("--verbs", default=",".join(VERBS))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--most", type=int, default=10_000, help="faults of an operation at most")
    parser.add_argument("--step-from", type=int, default=2000, help="every operation up to this one, then in growing steps")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    verbs = options.verbs.split(",")
    with tempfile.TemporaryDirectory(prefix="dfcl-torture-") as work:
        torture = Torture(options.binary.resolve(), Path(work), options.shim.resolve() if options.shim else None, random.Random(options.seed))
        references = {verb: torture.reference(verb) for verb in verbs}
        print("| verb | operation | through | faults | ended well | refused (4) | out of memory (1) | other |\n|---|---|---|---|---|---|---|---|")
        for verb in verbs:
            for through, operations in (("seam", SEAM), ("shim", SHIM if options.shim else [])):
                for operation in operations:
                    if options.most == 0:
                        continue
                    counts = torture.faults(verb, references[verb][0], through, operation, options.most, options.step_from)
                    other = sum(counts.values()) - counts[0] - counts[FILE] - counts[OUT_OF_MEMORY]
                    print(f"| {verb} | {operation} | {through} | {sum(counts.values())} | {counts[0]} | {counts[FILE]} | {counts[OUT_OF_MEMORY]} | {other} |", flush=True)
        kills = Counter()
        for number in range(options.kills):
            verb = verbs[number % len(verbs)]
            kills[verb, torture.kill(verb, *references[verb])] += 1
        for verb in verbs if options.kills else []:
            print(f"| {verb} | SIGKILL | - | {kills[verb, 'killed'] + kills[verb, 'ended']} | {kills[verb, 'ended']} | - | - | {kills[verb, 'killed']} killed, same bytes after the rerun |")
    print(f"{len(torture.failures)} failures")
    return 1 if torture.failures else 0


if __name__ == "__main__":
    sys.exit(main())

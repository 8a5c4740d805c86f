#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well does each method decide? One command, resumable, in five parts; tables into docs/results.md.

  varied  the second family of simulated trials: 60,000 rows x 3 seeds, 240,000 x 1; `auto`, its members, LightGBM
  nine    the nine cells of version 0.1 (marketing trials), beside what 0.1 got
  real    real trials (--data FOLDER): test loss beside that of the arms' means, promises of plans beside estimates
  kinds   nine kinds of trials that no preset makes (kinds.py), 20,000 rows x 3 seeds
  pays    where a decision loss still pays: rows x size of the network x tightness of the budget

The figure of a simulated trial is the share of the best possible plan's incremental revenue that a model's plan gets at equal
true spend, the mean of six budgets. Our methods run as they come; LightGBM's S-learner is tuned: the best of four settings, by
the truth, on a trial of its own. Trials are made on the fly; every result is a line of results.jsonl in the folder (or of the file of
--keep), and what is there is not done again. Needs the dfcl program (DFCL_BINARY), numpy, pyarrow and, for its learners, lightgbm.

  experiments/quality.py -o quality                          all of it: hours on two cores
  experiments/quality.py -o quality --parts varied --jobs 8 --threads 2 --seconds 500
  experiments/quality.py -o quality --parts varied --cells rules-60k --methods auto,tsm --seeds 1 --scale 0.3
  experiments/quality.py -o quality --table                  no training: the tables of what is there

With --seconds nothing new starts when the time is up, what runs is given up, and the exit code is 3 while there is more to do.
"""

import argparse
import datetime
import os
import pathlib
import subprocess
import sys

import kinds
import quality_real
import quality_table
from lightgbm_learners import SETTINGS as LIGHTGBM_SETTINGS
from quality_runner import Job, Runner
from results_page import replace_block

PARTS = ("varied", "nine", "real", "kinds", "pays")
MEMBERS = ("auto", "tsm-boost", "tsm-forest", "tsm", "dfcl-mer", "dfcl-ifd")
PAPER = ("tsm", "cn", "drm", "dpm", "dfcl-pl", "dfcl-mer", "dfcl-ifd", "dfcl-ifd-softmax")
S_LEARNER, T_LEARNER = "lightgbm S", "lightgbm T"

# name: (world, rows, noise, seeds, methods)
CELLS = {
    "varied": {
        f"{response}-{name}": (f"varied/{response}", rows, 1, seeds, (*MEMBERS, S_LEARNER))
        for name, rows, seeds in (("60k", 60_000, 3), ("240k", 240_000, 1))
        for response in ("rules", "few", "smooth")
    },
    "nine": {
        f"{response}-{name}": (f"marketing/{response}", rows, noise, seeds, methods)
        for name, rows, noise, seeds, methods in (
            ("60k", 60_000, 1, 3, (*PAPER, "tsm-boost", "tsm-forest", "auto", S_LEARNER, T_LEARNER)),
            ("400k", 400_000, 1, 1, ("tsm", "dfcl-mer", "tsm-boost", "tsm-forest", "auto", S_LEARNER)),
            ("400k-noisy", 400_000, 6, 1, ("tsm", "dfcl-mer", "tsm-boost", "tsm-forest", "auto", S_LEARNER)),
        )
        for response in ("smooth", "tree", "sparse")
    },
    "kinds": {f"{kind}-20k": (f"kinds/{kind}", 20_000, 1, 3, (*MEMBERS, S_LEARNER)) for kind in kinds.KINDS},
    "pays": {
        f"{response}-{rows // 1000}k": (f"varied/{response}", rows, 1, 2, ("tsm", "dfcl-mer"))
        for rows in (15_000, 60_000, 240_000)
        for response in ("rules", "smooth")
    },
}
NETWORKS = {"network.hidden=[16]": "plain, 16", "network.hidden=[64,32,32]": "plain, 64-32-32", "": "for tables"}


def settings_of(part, method):
    if method == S_LEARNER:
        return LIGHTGBM_SETTINGS
    return ("leaves=31",) if method == T_LEARNER else ("",)


def simulated_tasks(part, options):
    """Functions of the runner, seed after seed, so that what is there when it is stopped is a table already."""
    tasks = []
    for seed in range(1, 4):
        for cell, (world, rows, noise, seeds, methods) in CELLS[part].items():
            if seed > min(seeds, options.seeds) or (options.cells and cell not in options.cells):
                continue
            for method in methods:
                if options.methods and method not in options.methods:
                    continue
                if part == "pays":
                    tasks += [plain_task(Job(part, cell, world, rows, noise, seed, method, network)) for network in NETWORKS]
                else:
                    tasks.append(tuned_task(Job(part, cell, world, rows, noise, seed, method), settings_of(part, method)))
    return tasks


def plain_task(job):
    return lambda runner: runner.run(job)


def tuned_task(job, settings):
    return lambda runner: runner.run(runner.tuned(job, settings))


def real_tasks(options):
    if options.data is None or not options.data.is_dir():
        print("part real is skipped: --data names no folder", file=sys.stderr)
        return []
    tasks = []
    for split in quality_real.SPLITS:
        for name in quality_real.TRIALS:
            if not (options.data / name).exists():
                if split == 1:
                    print(f"part real: {name} is not there, skipped", file=sys.stderr)
                continue
            for method in (MEMBERS if split == 1 else ("auto",)):
                if (options.methods and method not in options.methods) or (options.cells and name.split(".")[0] not in options.cells):
                    continue
                tasks.append(lambda runner, n=name, m=method, s=split: quality_real.run_real(runner, options.data, n, m, s))
    return tasks


def tables(runner, parts):
    """Block name -> lines, of what is there."""
    found = list(runner.results.found.values())
    of = lambda part: [result for result in found if result["part"] == part]
    blocks = {}
    if "varied" in parts and of("varied"):
        blocks["varied"] = quality_table.varied_lines(of("varied"), list(CELLS["varied"]), (*MEMBERS, S_LEARNER))
    if "kinds" in parts and of("kinds"):
        blocks["kinds"] = quality_table.varied_lines(of("kinds"), list(CELLS["kinds"]), (*MEMBERS, S_LEARNER))
    if "nine" in parts and of("nine"):
        methods = list(dict.fromkeys(("auto", "tsm-boost", "tsm-forest", *PAPER, S_LEARNER, T_LEARNER)))
        blocks["quality"] = quality_table.nine_lines(of("nine"), list(CELLS["nine"]), methods)
    if "real" in parts and of("real"):
        blocks["real"] = [*quality_real.real_lines(of("real"), MEMBERS), "", *quality_real.summary(of("real"))]
    if "pays" in parts and of("pays"):
        blocks["pays"] = quality_table.pays_lines(of("pays"), NETWORKS)
    return blocks


def write_pages(options, runner, blocks):
    made = subprocess.run([runner.program, "--version"], capture_output=True, text=True).stdout.strip()
    stamp = f"{datetime.date.today()}, {made}, {os.cpu_count()} cores."
    if options.results:
        for name, lines in blocks.items():
            replace_block(options.results, name, [stamp, "", *lines])
    if options.guide:
        found = [r for r in runner.results.found.values() if r["part"] in ("varied", "nine")]
        cells = [(part, cell) for part in ("varied", "nine") for cell in CELLS[part]]
        replace_block(options.guide, "choice", quality_table.choice_lines(found, cells, (*MEMBERS, *PAPER, S_LEARNER, T_LEARNER)))


def words(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, help="folder of trials and results")
    parser.add_argument("--parts", type=words, default=list(PARTS))
    parser.add_argument("--cells", type=words, help="only these")
    parser.add_argument("--methods", type=words, help="only these")
    parser.add_argument("--seeds", type=int, default=3, help="at most; cells of one seed keep to one")
    parser.add_argument("--data", type=pathlib.Path, help="folder of the real trials")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    parser.add_argument("--threads", type=int, default=2, help="of each")
    parser.add_argument("--seconds", type=float, help="a slice: stop after so long, exit code 3 if there is more to do")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows, for a quick look")
    parser.add_argument("--keep", type=pathlib.Path, help="a file of results to go on from and to add to, experiments/quality_results.jsonl")
    parser.add_argument("--table", action="store_true", help="only print the tables of what is there")
    parser.add_argument("--results", type=pathlib.Path, help="a Markdown file whose blocks to replace, docs/results.md")
    parser.add_argument("--guide", type=pathlib.Path, help="a Markdown file whose block `choice` to replace, docs/guide-methods.md")
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"no part '{part}'; there are {', '.join(PARTS)}")
    runner = Runner(options.output, options.jobs, options.threads, options.seconds, options.scale, options.keep)
    done = True
    if not options.table:
        tasks = [task for part in options.parts if part != "real" for task in simulated_tasks(part, options)]
        done = runner.run_all(tasks + (real_tasks(options) if "real" in options.parts else []))
    blocks = tables(runner, options.parts)
    for name, lines in blocks.items():
        print("\n".join([f"## {name}", "", *lines, ""]))
    write_pages(options, runner, blocks)
    return 0 if done else 3


if __name__ == "__main__":
    sys.exit(main())

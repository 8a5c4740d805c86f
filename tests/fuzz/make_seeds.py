#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_seeds.py BINARY: writes the seeds of tests/fuzz/corpus anew, with our own writers. Found cases are left alone."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
SETTINGS = ["method.epochs=3", "split.train=0.7", 'columns.features=["a", "b"]', 'arms.cost={"1" = 0.5}', "budgets.per_unit=[0.1, 0.2]", "method.name=auto"]
REQUESTS = [
    '{"budget": 120.5, "pin": true}',
    '{"budget": 10, "objective": "profit", "worth": 0.3, "min_roi": 1.5, "keep_eligibility": false}',
    '{"min_units": [0, 2, null, 4, 1], "max_units": [null, 9, 9, 9, 9], "segment_budgets": [1.5, null, 2], "second_budget": 3}',
]
ROWS = ['id,"a ""b""",c\n1,"x\ny",2\r\n\n3,"",4\n', "a;b\n'1';\"2\"\n;\"open", "a|b\tc\n1|2\t3"]
# Every learner; small, so that mutations reach every part.
MODELS = {
    "tsm": "tsm --epochs 1 --set network.hidden=[2]",
    "forest": "tsm-forest --trees 2 --depth 2 --leaf 20",
    "boost": "tsm-boost --set boost.trees=3 --set boost.leaves=3",
    "table": "tsm --epochs 1 --set network.members=1 --set network.bins=2",
}


def shortened(value):
    """Lists cut to two entries: every key stays, and mutations reach more of them."""
    if isinstance(value, list):
        return [shortened(one) for one in value[:2]]
    return {key: shortened(one) for key, one in value.items()} if isinstance(value, dict) else value


def main():
    binary = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)

        def dfcl(line):
            subprocess.run([binary, *line.split(), "--overwrite", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)

        def keep(target, name, seed):
            (CORPUS / target).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, CORPUS / target / f"seed-{seed}")

        def keep_text(target, text, seed):
            (folder / "text").write_text(text)
            keep(target, "text", seed)

        for ending, target in (("csv", "csv"), ("csv.gz", "csv"), ("parquet", "parquet"), ("arrow", "arrow")):
            dfcl(f"simulate --preset criteo --rows 60 --seed 1 -o t.{ending} --truth p.{ending} --study s.toml")
            keep(target, f"t.{ending}", ending)
            dfcl(f"allocate p.{ending} --share-of-max 0.2 --holdout 0.2 -o plan.{ending}")
            keep("prediction", f"p.{ending}", ending)
            keep("prediction", f"plan.{ending}", f"plan-{ending}")
        keep("study", "s.toml", "simulate")
        dfcl("simulate --preset criteo --rows 600 --seed 1 -o t.csv --study s.toml")
        dfcl("init t.csv -o init.toml")
        keep("study", "init.toml", "init")
        keep_text("json", '{"a": [1, 2.5e3, "x\\u00e4", null, {"b": true}]}', "small")
        dfcl("train s.toml --force --method tsm --epochs 1 --set network.hidden=[2] --cache kept -o m.safetensors")
        keep("safetensors", "m.safetensors", "model")
        header = next(folder.glob("kept/trial-*/header")).read_text()
        text = header.split("\n", 1)[1]  # under the key that the fuzzer asks for
        keep_text("cache", re.sub('"key":"[0-9a-f]{16}"', '"key":"0000000000000001"', text), "header")
        for name, arguments in MODELS.items():
            dfcl(f"train s.toml --force --method {arguments} -o m.safetensors")
            keep("model", "m.safetensors", name)
        dfcl("simulate --preset marketing --rows 600 --seed 1 -o big.parquet --truth truth.parquet --study big.toml")
        dfcl("evaluate big.toml truth.parquet --resamples 0 --levels 2 -o results.json")
        keep_text("results", json.dumps(shortened(json.loads((folder / "results.json").read_text()))), "evaluate")
        dfcl("allocate truth.parquet --share-of-max 0.2 --holdout 0.3 -o plan.parquet")
        dfcl("simulate --preset marketing --rows 600 --seed 1 --outcomes-of plan.parquet -o outcomes.parquet")
        dfcl("readout plan.parquet outcomes.parquet -o readout.json")
        keep("results", "readout.json", "readout")
        for target, texts in (("setting", SETTINGS), ("request", REQUESTS), ("rows", ROWS)):
            for number, text in enumerate(texts):
                keep_text(target, text, number)


if __name__ == "__main__":
    main()

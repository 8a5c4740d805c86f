#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dfcl predict beside PyTorch doing the same job: a Parquet file of units and a model file in, a Parquet file of predictions out.

The opponent reads the weights and scales out of the same model file and checks that both files agree. It is written for speed:
pyarrow reads the columns with all threads, they stay columns to the end (features x rows, so that nothing is transposed),
categories are rows of a table that are added to the first layer, outputs are kept in place, and its best batch counts. Both are
new processes every time. The first figure of PyTorch leaves out starting Python and importing, the second, like ours, is the
whole process. Two threads each, in turn, the best of several rounds.
Needs torch and pyarrow.

    python3 bench/predict_torch.py [--rows 1000000] [--rounds 5] [--folder FOLDER]
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

BINARY = os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")
NETWORKS = {"criteo": ["network.shared=[128]", "network.heads=[64]"], "marketing": ["network.hidden=[64,32,32]"]}
MOST_INPUT, MOST_EXPONENT = 8.0, 16.0
THREADS = 2
# Memory that PyTorch frees stays with the process, or large batches would pay for new pages every time.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000", "MALLOC_TOP_PAD_": "100000000"}
PLAIN_ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in KEEP_MEMORY}


def read_model(torch, path):
    """Tensors by name, and the header's texts."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    texts = header.pop("__metadata__")
    kinds = {"F32": torch.float32, "I64": torch.int64}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        part = bytearray(data[8 + size + begin : 8 + size + end])
        kind = kinds[entry["dtype"]]
        tensors[name] = torch.frombuffer(part, dtype=kind).reshape(entry["shape"]) if part else torch.empty(entry["shape"], dtype=kind)
    network = "predictors.0."  # the only one
    return {name.removeprefix(network): tensor for name, tensor in tensors.items()}, {name.removeprefix(network): text for name, text in texts.items()}


class Opponent:
    def __init__(self, torch, path):
        import numpy
        import pyarrow
        import pyarrow.parquet

        self.torch, self.numpy, self.arrow, self.parquet = torch, numpy, pyarrow, pyarrow.parquet
        tensors, texts = read_model(torch, path)
        self.arms = json.loads(texts["arms"])["labels"]
        self.columns = json.loads(texts["features"])
        self.id_column = texts["id_column"]
        self.outcomes = json.loads(texts["outcomes"])
        self.numbers = tensors["preprocessing.numbers.feature"].tolist()
        log, self.center, self.factor, self.missing = tensors["preprocessing.numbers.scale"].T[:, :, None].contiguous()
        self.num_plain = int((log == 0).sum())
        self.log_factor = log[self.num_plain :]
        self.indicators = tensors["preprocessing.indicators.feature"].tolist()
        self.layers = []
        for i in range(len([name for name in tensors if name.startswith("network.0.shared.") and name.endswith("weight")])):
            self.layers.append((tensors[f"network.0.shared.{i}.weight"], tensors[f"network.0.shared.{i}.bias"][:, None]))
        self.add_heads(tensors)
        self.add_categories(tensors)

    def add_heads(self, tensors):
        """Heads with a hidden layer become one layer, and one with zeros between the heads."""
        torch = self.torch
        heads = len([name for name in tensors if name.startswith("network.0.heads.") and name.endswith(".0.weight")])
        self.has_heads = heads > 1  # those of an arm are neighbours
        if self.has_heads:
            first = [tensors[f"network.0.heads.{head}.0.weight"] for head in range(heads)]
            self.layers.append((torch.cat(first), torch.cat([tensors[f"network.0.heads.{head}.0.bias"] for head in range(heads)])[:, None]))
            last = torch.block_diag(*[tensors[f"network.0.heads.{head}.1.weight"] for head in range(heads)])
            self.layers.append((last, torch.cat([tensors[f"network.0.heads.{head}.1.bias"] for head in range(heads)])[:, None]))
        else:
            self.layers.append((tensors["network.0.heads.0.0.weight"], tensors["network.0.heads.0.0.bias"][:, None]))

    def add_categories(self, tensors):
        """For every level, and last for missing, what it adds to the first layer."""
        torch, first = self.torch, len(self.numbers) + len(self.indicators)
        weight, bias = self.layers[0]
        self.tables = []
        positions, shares = tensors["preprocessing.categories.position"], tensors["preprocessing.categories.share"]
        for feature, num_positions, num_shares in tensors["preprocessing.categories.feature"].tolist():
            part, share = weight[:, first : first + num_shares], shares[:num_shares]
            rows = [part @ share if position < 0 else part[:, position] for position in positions[:num_positions].tolist()]
            self.tables.append((feature, torch.stack(rows).contiguous()))
            positions, shares, first = positions[num_positions:], shares[num_shares:], first + num_shares
        self.layers[0] = (weight[:, : len(self.numbers) + len(self.indicators)].contiguous(), bias)

    def codes(self, column, levels):
        chunk = column.combine_chunks()
        code = {level: i for i, level in enumerate(levels)}
        known = self.numpy.array([code.get(value, 0) for value in chunk.dictionary.to_pylist()] + [len(levels)], dtype=self.numpy.int64)
        indices = chunk.indices.fill_null(len(chunk.dictionary)) if chunk.null_count else chunk.indices
        return self.torch.from_numpy(known[indices.to_numpy()])

    def inputs(self, values, begin, end):
        """Numbers and marks of missing values, features x rows."""
        torch = self.torch
        x = torch.empty(len(self.numbers) + len(self.indicators), end - begin)
        numbers = x[: len(self.numbers)]
        for i, feature in enumerate(self.numbers):
            numbers[i] = values[feature][begin:end]
        for i, feature in enumerate(self.indicators):
            x[len(self.numbers) + i] = ~torch.isfinite(values[feature][begin:end])
        absent = ~torch.isfinite(numbers) if self.indicators else None
        logs = numbers[self.num_plain :]
        logs.copy_(torch.copysign(torch.log1p((logs * self.log_factor).abs_()), logs))
        numbers.sub_(self.center).mul_(self.factor).clamp_(-MOST_INPUT, MOST_INPUT)
        if absent is not None:
            torch.where(absent, self.missing, numbers, out=numbers)
        return x

    def outcome(self, which, raw, out):
        facts, torch = self.outcomes[which], self.torch
        if facts["kind"] == "binary":
            torch.sigmoid(raw.clamp_(-MOST_EXPONENT, MOST_EXPONENT), out=out)
        elif facts["arm_shape"] == "plain":
            raw[1:] += raw[:1].clone()
            torch.exp(raw.clamp_(max=MOST_EXPONENT), out=out)
        else:  # rising from a control that is free
            base = torch.exp(raw[:1].clamp(max=MOST_EXPONENT))
            out[0] = 0.0
            torch.mul(torch.cumsum(torch.nn.functional.softplus(raw[1:]), 0), base, out=out[1:])
        out.mul_(facts["scale"]).add_(facts["center"])

    def predict(self, units, output, batch):
        torch = self.torch
        names = [column["name"] for column in self.columns]
        words = [names[feature] for feature, _ in self.tables]
        wanted = names + ([self.id_column] if self.id_column else [])
        table = self.parquet.read_table(units, columns=wanted, read_dictionary=words)
        values = {f: torch.from_numpy(table[name].to_numpy()) for f, name in enumerate(names) if name not in words}
        codes = [(self.codes(table[names[f]].unify_dictionaries(), self.columns[f]["levels"]), rows) for f, rows in self.tables]
        num_arms, rows = len(self.arms), table.num_rows
        result = torch.empty(2 * num_arms, rows)
        with torch.inference_mode():
            for begin in range(0, rows, batch):
                end = min(rows, begin + batch)
                x = self.inputs(values, begin, end)
                for i, (weight, bias) in enumerate(self.layers):
                    x = torch.addmm(bias, weight, x)
                    if i == 0:
                        for code, of_level in codes:
                            x += torch.nn.functional.embedding(code[begin:end], of_level).T
                    if i + 1 < len(self.layers):
                        x.relu_()
                revenue, cost = (x[0::2], x[1::2]) if self.has_heads else (x[:num_arms], x[num_arms:])
                self.outcome("revenue", revenue, result[:num_arms, begin:end])
                self.outcome("cost", cost, result[num_arms:, begin:end])
        ids = table[self.id_column] if self.id_column else self.arrow.array(self.numpy.arange(1, rows + 1))
        labels = ["id"] + [f"{which}_{arm}" for which in ("revenue", "cost") for arm in self.arms]
        written = self.arrow.table([ids] + [self.arrow.array(column.numpy()) for column in result], names=labels)
        self.parquet.write_table(written, output, use_dictionary=False, compression="SNAPPY", write_statistics=False)


def largest_difference(ours, theirs):
    import numpy
    import pyarrow.parquet

    a, b = pyarrow.parquet.read_table(ours), pyarrow.parquet.read_table(theirs)
    if a.column_names != b.column_names or not a["id"].equals(b["id"].cast(a["id"].type)):
        sys.exit("the files are not of the same units and arms")
    worst = 0.0
    for name in a.column_names[1:]:
        x, y = a[name].to_numpy(), b[name].to_numpy()
        worst = max(worst, float(numpy.max(numpy.abs(x - y) / (numpy.abs(x) + 1e-3))))
    return worst


def run(*arguments, folder):
    subprocess.run([os.path.abspath(BINARY), *map(str, arguments), "--quiet", "--overwrite"], check=True, cwd=folder, stdout=subprocess.DEVNULL, env=PLAIN_ENVIRONMENT)


def compare(network, options, folder):
    run("simulate", "--preset", network, "--rows", 20_000, "--seed", 1, "-o", "trial.parquet", "--study", "study.toml", folder=folder)
    settings = [word for setting in NETWORKS[network] for word in ("--set", setting)]
    run("train", "study.toml", "--method", "tsm", "--epochs", 1, "--seed", 1, *settings, "-o", "model.safetensors", folder=folder)
    run("simulate", "--preset", network, "--rows", options.rows, "--seed", 2, "-o", "units.parquet", folder=folder)
    environment = PLAIN_ENVIRONMENT if options.default_memory else os.environ | KEEP_MEMORY
    best = {"ours": 0.0, "theirs": 0.0, "whole": 0.0}
    for _ in range(options.rounds):
        start = time.perf_counter()
        run("predict", "model.safetensors", "units.parquet", "-o", "ours.parquet", "--threads", THREADS, folder=folder)
        best["ours"] = max(best["ours"], options.rows / (time.perf_counter() - start))
        for batch in (4096, 16384, 65536):
            start = time.perf_counter()
            command = [sys.executable, os.path.abspath(__file__), "--opponent", str(batch)]
            answer = subprocess.run(command, check=True, cwd=folder, env=environment, capture_output=True, text=True)
            best["whole"] = max(best["whole"], options.rows / (time.perf_counter() - start))
            best["theirs"] = max(best["theirs"], options.rows / float(answer.stdout))
    difference = largest_difference(folder / "ours.parquet", folder / "theirs.parquet")
    print(
        f"{network:10} {options.rows:10,} rows   rows/s: PyTorch {best['theirs']:9,.0f} ({best['whole']:9,.0f} with its start), "
        f"dfcl predict {best['ours']:9,.0f}   ratio {best['ours'] / best['theirs']:4.2f} ({best['ours'] / best['whole']:4.1f})"
        f"   largest relative difference {difference:.0e}",
        flush=True,
    )


def be_opponent(torch, batch):
    """Prints the seconds from the files to the file."""
    start = time.perf_counter()
    Opponent(torch, pathlib.Path("model.safetensors")).predict("units.parquet", "theirs.parquet", batch)
    print(time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--networks", default="criteo,marketing")
    parser.add_argument("--folder", type=pathlib.Path, help="for the files, some 300 MB; the default is a temporary folder")
    parser.add_argument("--default-memory", action="store_true", help="PyTorch without KEEP_MEMORY, as most run it")
    parser.add_argument("--opponent", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        import numpy  # noqa: F401, so that its import is not timed
        import pyarrow.parquet
        import torch
    except ImportError as error:
        sys.exit(f"predict_torch.py: not run, {error.name} is not installed")
    torch.set_num_threads(THREADS)
    pyarrow.set_cpu_count(THREADS)
    if options.opponent:
        be_opponent(torch, options.opponent)
        return
    for network in options.networks.split(","):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            compare(network, options, pathlib.Path(folder))


main()

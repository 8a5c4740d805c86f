# SPDX-License-Identifier: Apache-2.0
"""Training steps of bench_table beside the same network in PyTorch, in turn in one run, the best of several rounds on each side.

The network for tables (eq. 15d of docs/method.md): 107 numbers in 16 bins, 5 arms, 8 members, batches of 1,024; two-stage, and with MER
at six multipliers. PyTorch encodes all units beforehand and holds them in memory; dfcl encodes each batch anew. Both draw a new order of
units every epoch. On a busy machine compare the units per second of processor time. Needs torch and numpy. Run: table_torch.py --help.
"""

import argparse
import json
import pathlib
import subprocess
import time

FEATURES, ARMS, BATCH, BINS, MEMBERS, WIDTH = 107, 5, 1024, 16, 8, 256
MULTIPLIERS = (0.1, 0.3, 0.5, 0.8, 1.0, 2.0)


def encoded(numpy, x):
    """Standardised numbers beside shares of the way through each bin."""
    edges = numpy.quantile(x, numpy.linspace(0, 1, BINS + 1), axis=0)
    parts = [numpy.clip((x - x.mean(0)) / x.std(0), -6, 6)]
    for low, high in zip(edges, edges[1:]):
        parts.append(numpy.clip((x - low) / (high - low), 0, 1))
    return numpy.concatenate(parts, 1).astype(numpy.float32)


def make_network(torch, inputs):
    nn, functional = torch.nn, torch.nn.functional

    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(inputs, WIDTH), nn.Linear(WIDTH, WIDTH, bias=False)
            self.scale1 = nn.Parameter(1 + 0.5 * torch.randn(MEMBERS, WIDTH))
            self.sign = nn.Parameter(torch.randn(MEMBERS, WIDTH).sign())
            self.scale2 = nn.Parameter(torch.ones(MEMBERS, WIDTH))
            self.bias1, self.bias2 = (nn.Parameter(torch.zeros(MEMBERS, WIDTH)) for _ in range(2))
            self.heads = nn.Parameter(0.02 * torch.randn(MEMBERS, WIDTH, 2 * ARMS))
            self.head_bias = nn.Parameter(torch.zeros(MEMBERS, 2 * ARMS))

        def forward(self, x):
            hidden = functional.dropout(torch.relu(self.first(x)[:, None] * self.scale1 + self.bias1), 0.2)
            hidden = functional.dropout(torch.relu(self.second(hidden * self.sign) * self.scale2 + self.bias2), 0.2)
            return torch.einsum("bki,kio->bko", hidden, self.heads) + self.head_bias

    return Table()


class Torch:
    """An epoch of PyTorch; times itself."""

    def __init__(self, units, threads, decides):
        import numpy
        import torch

        torch.set_num_threads(threads)
        self.torch, self.units, self.decides = torch, units, decides
        x = numpy.random.default_rng(1).normal(size=(units, FEATURES))
        self.inputs = torch.tensor(encoded(numpy, x))
        self.arm = torch.randint(0, ARMS, (units,))
        self.outcomes = torch.rand(units, 2)
        self.reward, self.costs = torch.rand(len(MULTIPLIERS), units, ARMS), torch.rand(units, ARMS)
        self.network = make_network(torch, self.inputs.shape[1])
        self.optimiser = torch.optim.AdamW(self.network.parameters(), 1e-3, weight_decay=0.05, fused=True)

    def loss(self, rows):
        out = self.network(self.inputs[rows]).unflatten(2, (2, ARMS))
        index = self.arm[rows][:, None, None, None].expand(-1, MEMBERS, 2, 1)
        own = out.gather(3, index)[..., 0]
        loss = (own.exp() - self.outcomes[rows][:, None] * own).mean((0, 1)).sum()
        if not self.decides:
            return loss
        revenue, costs = out[:, :, 0].exp(), self.costs[rows][:, None]
        for multiplier, reward in zip(MULTIPLIERS, self.reward[:, rows]):
            share = self.torch.softmax((revenue - multiplier * costs) / 0.2, 2)
            loss = loss - (share * reward[:, None]).sum(2).mean() / len(MULTIPLIERS)
        return loss

    def epoch(self):
        wall, processor = time.perf_counter(), time.process_time()
        for rows in self.torch.randperm(self.units).split(BATCH):
            self.optimiser.zero_grad(set_to_none=True)
            self.loss(rows).backward()
            self.torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimiser.step()
        return self.units / (time.perf_counter() - wall), self.units / (time.process_time() - processor)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/bench_table")
    parser.add_argument("--units", type=int, default=65_536)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    names = ("two-stage", "mer")
    best = {(side, name): (0.0, 0.0) for side in ("torch", "dfcl") for name in names}

    def keep(key, figures):
        best[key] = tuple(max(old, new) for old, new in zip(best[key], figures))

    opponents = {name: Torch(options.units, options.threads, name == "mer") for name in names}
    for opponent in opponents.values():
        opponent.epoch()
    for _ in range(options.rounds):
        command = [str(pathlib.Path(options.program)), str(options.units), str(options.threads), "1"]
        for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
            row = json.loads(line)
            keep(("dfcl", row["step"]), (row["units_per_second"], row["processor_units"]))
        for name, opponent in opponents.items():
            keep(("torch", name), opponent.epoch())
    for name in names:
        ours, theirs = best["dfcl", name], best["torch", name]
        print(f"{name:10s} units/s: dfcl {ours[0]:,.0f}, PyTorch {theirs[0]:,.0f}, ratio {ours[0] / theirs[0]:.2f}; "
              f"of processor time: {ours[1]:,.0f}, {theirs[1]:,.0f}, ratio {ours[1] / theirs[1]:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()

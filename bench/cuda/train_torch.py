#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training on one graphics card beside PyTorch, in one run: million rows a second of whole epochs, best of three.

PyTorch at its best: rows on the card, the step compiled and replayed as a CUDA graph, fused Adam, the heads of the Criteo
network as one layer, tf32 and bfloat16. Needs torch with CUDA and the program cuda_bench. Run: train_torch.py --help.
"""

import argparse
import json
import pathlib
import subprocess
import time

INPUTS = {"criteo": 12, "marketing": 107}
ARMS = {"criteo": 2, "marketing": 5}
ROWS = {"criteo": 13_980_000, "marketing": 2_800_000}
MULTIPLIERS = (0.1, 0.3, 0.5, 0.8, 1.0, 2.0)
TEMPERATURE = 0.1


def make_network(torch, name):
    linear, relu = torch.nn.Linear, torch.nn.ReLU

    class Criteo(torch.nn.Module):
        """12 -> 128 -> four heads of 64 -> 1."""

        def __init__(self):
            super().__init__()
            self.shared, self.heads = linear(12, 128), linear(128, 256)
            self.last = torch.nn.Parameter(torch.randn(4, 64) * 0.1)
            self.bias = torch.nn.Parameter(torch.zeros(4))

        def forward(self, x):
            hidden = torch.relu(self.heads(torch.relu(self.shared(x)))).view(-1, 4, 64)
            return (hidden * self.last).sum(-1) + self.bias

    if name == "criteo":
        return Criteo()
    return torch.nn.Sequential(linear(107, 64), relu(), linear(64, 32), relu(), linear(32, 32), relu(), linear(32, 10))


def mer(torch, out, arm, revenue, cost, weight, arms):
    value = 0
    for multiplier in MULTIPLIERS:
        chance = torch.softmax((out[:, :arms] - multiplier * out[:, arms:]) / TEMPERATURE, 1).gather(1, arm)
        value = value + (weight * (revenue - multiplier * cost) * chance).mean()
    return -value / len(MULTIPLIERS)


def torch_rate(torch, name, method, batch, bfloat16):
    torch._dynamo.reset()  # else the ninth function of this name is not compiled any more
    rows, arms, card = ROWS[name], ARMS[name], "cuda"
    network = make_network(torch, name).to(card)
    x = torch.rand(rows, INPUTS[name], device=card)
    arm = torch.randint(0, arms, (rows, 1), device=card)
    revenue = (torch.rand(rows, 1, device=card) < 0.05).float()
    cost = (torch.rand(rows, 1, device=card) < 0.1).float()
    weight = torch.ones(rows, 1, device=card)
    adam = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True, capturable=True)
    entropy = torch.nn.functional.binary_cross_entropy_with_logits
    chosen = torch.zeros(batch, dtype=torch.long, device=card)

    def loss_of(j):
        with torch.autocast("cuda", torch.bfloat16, enabled=bfloat16):
            out = network(x[j]).float()
        t, r, c, w = arm[j], revenue[j], cost[j], weight[j]
        value = entropy(out[:, :arms].gather(1, t), r, w) + entropy(out[:, arms:].gather(1, t), c, w)
        return value + mer(torch, torch.sigmoid(out), t, r, c, w, arms) if method == "mer" else value

    compiled = torch.compile(loss_of)

    def step():
        adam.zero_grad(set_to_none=True)
        compiled(chosen).backward()
        adam.step()

    warm = torch.cuda.Stream()
    warm.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(warm)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def epoch():
        order = torch.randperm(rows, device=card)
        for i in range(0, rows - batch + 1, batch):
            chosen.copy_(order[i : i + batch])
            graph.replay()
        torch.cuda.synchronize()

    epoch()
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        epoch()
        best = min(best, time.perf_counter() - start)
    return rows // batch * batch / best / 1e6


def our_rate(program, name, method, batch, precision):
    command = [program, name, method, str(batch), precision, "0", str(ROWS[name]), "3"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["million_rows_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/cuda/bin/cuda_bench"))
    parser.add_argument("--networks", default="criteo,marketing")
    parser.add_argument("--batches", default="8192,65536,300000")
    options = parser.parse_args()
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(0)
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}; million rows a second")
    print(f"{'network':10} {'method':6} {'batch':>7} {'tf32':>7} {'bf16':>7} {'ours, tf32':>10} {'ours, bf16':>10} {'tf32':>8} {'bf16':>8} {'best':>8}")
    for name in options.networks.split(","):
        for method in ("tsm", "mer"):
            for batch in map(int, options.batches.split(",")):
                single, half = (torch_rate(torch, name, method, batch, bfloat16) for bfloat16 in (False, True))
                ours, short = (our_rate(options.program, name, method, batch, precision) for precision in ("tf32", "bf16"))
                print(
                    f"{name:10} {method:6} {batch:7} {single:7.1f} {half:7.1f} {ours:10.1f} {short:10.1f} {ours / single:8.2f} {short / half:8.2f} {max(ours, short) / max(single, half):8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()

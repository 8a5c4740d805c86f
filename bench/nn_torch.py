# SPDX-License-Identifier: Apache-2.0
"""Training steps of bench_nn beside PyTorch, in turn in one run, the best of several rounds on each side.

PyTorch at its best: tensors in memory, no DataLoader, fused Adam, the heads of the Criteo network as one layer, memory kept
between batches, eager and compiled. Both sides draw a new order of rows every epoch and use two threads. Needs torch. On a busy machine PyTorch's
threads wait for each other and the comparison means nothing: --processor-time then compares one thread with one thread by
the processor time they used. Run: nn_torch.py --help.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

MULTIPLIERS = [0.1, 0.2, 0.4, 0.6, 0.8, 1.0]
TEMPERATURE = 0.1
ARMS = {"criteo": 2, "marketing": 5}
INPUTS = {"criteo": 12, "marketing": 107}
# Memory that PyTorch frees stays with the process, or large batches would pay for new pages every time.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000", "MALLOC_TOP_PAD_": "100000000"}
PLAIN_ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in KEEP_MEMORY}
# Operations of a prediction: two a weight.
OPERATIONS = {"criteo": 2 * (12 * 128 + 128 * 256 + 256), "marketing": 2 * (107 * 64 + 64 * 32 + 32 * 32 + 32 * 10)}


def make_network(torch, name):
    nn = torch.nn

    class Criteo(nn.Module):
        """12 -> 128 -> four heads of 64 -> 1, the heads as one layer of 256."""

        def __init__(self):
            super().__init__()
            self.shared = nn.Linear(12, 128)
            self.heads = nn.Linear(128, 256)
            self.last = nn.Parameter(torch.randn(4, 64) * 0.1)
            self.bias = nn.Parameter(torch.zeros(4))

        def forward(self, x):
            hidden = torch.relu(self.heads(torch.relu(self.shared(x)))).view(-1, 4, 64)
            return (hidden * self.last).sum(-1) + self.bias

        def for_prediction(self):
            """The last layer as a product with zeros between the heads: slower to train, faster to predict with."""
            last = nn.Linear(256, 4)
            last.weight.data, last.bias.data = torch.block_diag(*self.last.data[:, None]), self.bias.data
            return nn.Sequential(self.shared, nn.ReLU(inplace=True), self.heads, nn.ReLU(inplace=True), last)

    if name == "criteo":
        return Criteo()
    widths = [107, 64, 32, 32, 10]
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Opponent:
    def __init__(self, torch, now, network, method, batch, compiled):
        self.torch, self.now, self.batch, arms = torch, now, batch, ARMS[network]
        self.rows = max(200_000 if batch < 5000 else 400_000, batch)
        torch.manual_seed(0)
        self.net = make_network(torch, network)
        self.x = torch.rand(self.rows, INPUTS[network])
        self.arm = torch.randint(0, arms, (self.rows, 1))
        self.revenue = (torch.rand(self.rows, 1) < 0.05).float()
        self.cost = (torch.rand(self.rows, 1) < 0.1).float()
        self.weight = torch.ones(self.rows, 1)
        self.adam = torch.optim.Adam(self.net.parameters(), lr=1e-3, fused=True)
        multipliers = torch.tensor(MULTIPLIERS)
        entropy = torch.nn.functional.binary_cross_entropy_with_logits

        def loss(x, t, r, c, w):
            out = self.net(x)
            revenue, cost = out[:, :arms], out[:, arms:]
            mine_r, mine_c = revenue.gather(1, t), cost.gather(1, t)
            if network == "criteo":
                value = entropy(mine_r, r, w) + entropy(mine_c, c, w)
                revenue, cost = torch.sigmoid(revenue), torch.sigmoid(cost)
            else:
                value = (w * ((r - mine_r) ** 2 + (c - mine_c) ** 2)).mean()
            if method == "mer":
                score = revenue[:, None, :] - multipliers[None, :, None] * cost[:, None, :]
                chance = torch.softmax(score / TEMPERATURE, -1)
                mine = chance.gather(2, t[:, None, :].expand(-1, len(MULTIPLIERS), 1))[..., 0]
                value = value - (w * (r - multipliers * c - score.mean(-1).detach()) * mine).mean()
            return value

        self.loss = torch.compile(loss) if compiled else loss

    def epoch(self):
        """Rows a second."""
        start = self.now()
        order = self.torch.randperm(self.rows)
        for begin in range(0, self.rows, self.batch):
            j = order[begin : begin + self.batch]
            self.adam.zero_grad(set_to_none=True)
            self.loss(self.x[j], self.arm[j], self.revenue[j], self.cost[j], self.weight[j]).backward()
            self.adam.step()
        return self.rows / (self.now() - start)

    def predict(self):
        best = 0.0
        net = self.net.for_prediction() if hasattr(self.net, "for_prediction") else self.net
        with self.torch.inference_mode():
            for batch in (1024, 2048, 4096, 8192, 16384):
                start = self.now()
                for part in self.x.split(batch):
                    net(part)
                best = max(best, self.rows / (self.now() - start))
        return best


def largest_rate(torch, now):
    """Operations a second of a square product of 1,024, about the most that a product reaches here."""
    a, b = torch.rand(1024, 1024), torch.rand(1024, 1024)
    best = 0.0
    for _ in range(10):
        start = now()
        torch.mm(a, b)
        best = max(best, 2 * 1024**3 / (now() - start))
    return best


def main():
    if "--default-memory" not in sys.argv and not KEEP_MEMORY.keys() <= os.environ.keys():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | KEEP_MEMORY)
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")).parent)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compile", action="store_true", help="also torch.compile, which takes a minute a case")
    parser.add_argument("--processor-time", action="store_true", help="one thread, by processor time")
    parser.add_argument("--networks", default="criteo,marketing")
    parser.add_argument("--methods", default="tsm,mer")
    parser.add_argument("--batches", default="1024,8192,65536,300000")
    parser.add_argument("--default-memory", action="store_true", help="PyTorch without KEEP_MEMORY, as most run it")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("nn_torch.py: not run, PyTorch is not installed (pip install torch)")
    threads = 1 if options.processor_time else 2
    now = time.process_time if options.processor_time else time.perf_counter
    per = "processor_second" if options.processor_time else "second"
    torch.set_num_threads(threads)
    print(f"PyTorch {torch.__version__}, {threads} threads, best of {options.rounds} rounds in turn; thousand rows per {per}")
    print(f"{'network':10} {'method':6} {'batch':>7} {'eager':>8} {'compiled':>9} {'ours':>8} {'ratio':>6}   predict: torch, ours, ratio; GFLOP/s of both and of a large product")
    for network in options.networks.split(","):
        for method in options.methods.split(","):
            for batch in map(int, options.batches.split(",")):
                opponents = {"eager": Opponent(torch, now, network, method, batch, False)}
                if options.compile:
                    opponents["compiled"] = Opponent(torch, now, network, method, batch, True)
                best = {"eager": 0.0, "compiled": 0.0, "ours": 0.0, "predict": 0.0, "our_predict": 0.0}
                most = 0.0
                for name in opponents:
                    opponents[name].epoch()  # warm
                for _ in range(options.rounds):
                    for name, opponent in opponents.items():
                        best[name] = max(best[name], opponent.epoch())
                    most = max(most, largest_rate(torch, now))
                    best["predict"] = max(best["predict"], opponents["eager"].predict())
                    command = [options.bin / "bench_nn", network, method, str(batch), "0.5", str(threads)]
                    ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=PLAIN_ENVIRONMENT).stdout)
                    best["ours"] = max(best["ours"], ours[f"rows_per_{per}"])
                    best["our_predict"] = max(best["our_predict"], ours[f"predict_rows_per_{per}"])
                k = {name: rate / 1e3 for name, rate in best.items()}
                ratio = k["ours"] / max(k["eager"], k["compiled"])
                print(
                    f"{network:10} {method:6} {batch:7} {k['eager']:8.0f} {k['compiled']:9.0f} {k['ours']:8.0f} {ratio:6.2f}   "
                    f"{k['predict']:.0f}, {k['our_predict']:.0f}, {k['our_predict'] / k['predict']:.2f}; "
                    f"{best['predict'] * OPERATIONS[network] / 1e9:.0f}, {best['our_predict'] * OPERATIONS[network] / 1e9:.0f}, {most / 1e9:.0f}",
                    flush=True,
                )


main()

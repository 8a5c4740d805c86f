#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The network for tables on one graphics card beside PyTorch, in one run: million units a second of whole epochs, best of three.

107 numbers in 16 bins, 5 arms, 8 members of 256 (eq. 15d of docs/method.md); two-stage, and with MER at six multipliers. PyTorch at its
best: units encoded beforehand and on the card, the step compiled and replayed as a CUDA graph, fused AdamW without clipping, tf32 and
bfloat16 (with encoded units of bfloat16). Ours clips, as training does. Needs torch with CUDA and cuda_table_bench. Run: --help.
"""

import argparse
import json
import pathlib
import subprocess
import time

FEATURES, ARMS, BINS, MEMBERS, WIDTH = 107, 5, 16, 8, 256
MULTIPLIERS = (0.1, 0.3, 0.5, 0.8, 1.0, 2.0)


def encoded(torch, x):
    """Standardised numbers beside shares of the way through each bin."""
    edges = torch.quantile(x[:65_536], torch.linspace(0, 1, BINS + 1, device=x.device), dim=0)
    parts = [((x - x.mean(0)) / x.std(0)).clamp(-6, 6)]
    for low, high in zip(edges, edges[1:]):
        parts.append(((x - low) / (high - low)).clamp(0, 1))
    return torch.cat(parts, 1)


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


def torch_rate(torch, units, decides, batch, bfloat16):
    card = "cuda"
    inputs = encoded(torch, torch.randn(units, FEATURES, device=card))
    inputs = inputs.bfloat16() if bfloat16 else inputs
    arm = torch.randint(0, ARMS, (units,), device=card)
    outcomes = torch.rand(units, 2, device=card)
    rewards, costs = torch.rand(len(MULTIPLIERS), units, ARMS, device=card), torch.rand(units, ARMS, device=card)
    network = make_network(torch, inputs.shape[1]).to(card)
    adam = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.05, fused=True, capturable=True)
    chosen = torch.zeros(batch, dtype=torch.long, device=card)

    def loss_of(rows):
        with torch.autocast("cuda", torch.bfloat16, enabled=bfloat16):
            out = network(inputs[rows])
        out = out.float().unflatten(2, (2, ARMS))
        own = out.gather(3, arm[rows][:, None, None, None].expand(-1, MEMBERS, 2, 1))[..., 0]
        loss = (own.exp() - outcomes[rows][:, None] * own).mean((0, 1)).sum()
        if not decides:
            return loss
        revenue, known = out[:, :, 0].exp(), costs[rows][:, None]
        for multiplier, reward in zip(MULTIPLIERS, rewards[:, rows]):
            share = torch.softmax((revenue - multiplier * known) / 0.2, 2)
            loss = loss - (share * reward[:, None]).sum(2).mean() / len(MULTIPLIERS)
        return loss

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
        order = torch.randperm(units, device=card)
        for i in range(0, units - batch + 1, batch):
            chosen.copy_(order[i : i + batch])
            graph.replay()
        torch.cuda.synchronize()

    epoch()
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        epoch()
        best = min(best, time.perf_counter() - start)
    return units // batch * batch / best / 1e6


def our_rate(program, units, decides, batch, precision):
    command = [program, "mer" if decides else "tsm", str(batch), precision, str(units), "3"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["million_units_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/cuda/bin/cuda_table_bench"))
    parser.add_argument("--batches", default="1024,8192,65536")
    parser.add_argument("--units", type=int, default=524_288)
    options = parser.parse_args()
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(0)
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}; million units a second")
    print(f"{'method':6} {'batch':>7} {'tf32':>7} {'bf16':>7} {'ours, tf32':>10} {'ours, bf16':>10} {'tf32':>8} {'bf16':>8} {'best':>8}")
    for decides in (False, True):
        for batch in map(int, options.batches.split(",")):
            torch._dynamo.reset()
            single, half = (torch_rate(torch, options.units, decides, batch, bfloat16) for bfloat16 in (False, True))
            ours, short = (our_rate(options.program, options.units, decides, batch, precision) for precision in ("tf32", "bf16"))
            print(
                f"{'mer' if decides else 'tsm':6} {batch:7} {single:7.2f} {half:7.2f} {ours:10.2f} {short:10.2f} {ours / single:8.2f} {short / half:8.2f} {max(ours, short) / max(single, half):8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes reference.json: value and gradient of every loss on fixed batches, by PyTorch's automatic differentiation.

Independent of the library: written from the equations of docs/method.md, no gradient is derived by hand but the
published form of IFD, which is no function's gradient. reference_test.cpp compares. To make the file anew:

    python3 -m venv VENV && VENV/bin/pip install torch==2.15.0 numpy==2.4.6
    VENV/bin/python tests/loss/reference.py
"""

import itertools
import json
from pathlib import Path

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
BATCHES = {}
CASES = []


def grid(values):
    """Numbers that float32 holds exactly, so that both sides see the same inputs."""
    return np.round(np.asarray(values) * 4096.0) / 4096.0


def make_batch(name, seed, rows, arms, scores, outcomes):
    random = np.random.default_rng(seed)
    shape = (rows, arms)
    if outcomes == "real":
        predicted, observed = (lambda s: random.normal(size=s)), (lambda s: random.normal(size=s))
    elif outcomes == "non_negative":
        predicted, observed = (lambda s: random.gamma(2.0, 0.5, size=s) + 0.01), (lambda s: random.poisson(1.0, size=s))
    else:
        predicted, observed = (lambda s: random.uniform(0.03, 0.97, size=s)), (lambda s: random.integers(0, 2, size=s))
    batch = {
        "revenue": grid(predicted((rows, scores))),
        "cost": grid(predicted(shape)),
        "arm": np.concatenate([np.arange(arms), random.integers(0, arms, size=rows - arms)]),
        "observed_revenue": grid(observed(rows)),
        "observed_cost": grid(observed(rows)),
        "weight": grid(random.uniform(1.0, 5.0, size=rows)),
        "nuisance_revenue": grid(predicted(shape)),
        "nuisance_cost": grid(predicted(shape)),
    }
    BATCHES[name] = batch
    return {key: torch.tensor(value) for key, value in batch.items()}


def add_case(loss, batch_name, batch, function, **options):
    """function(batch) -> (value reported, surrogate whose gradient is wanted), both means over rows."""
    revenue = batch["revenue"].clone().requires_grad_()
    cost = batch["cost"].clone().requires_grad_()
    value, surrogate = function({**batch, "revenue": revenue, "cost": cost})
    gradients = torch.autograd.grad(surrogate, [revenue, cost], allow_unused=True)
    gradients = [torch.zeros_like(x) if g is None else g for g, x in zip(gradients, (revenue, cost))]
    CASES.append({"loss": loss, "batch": batch_name, "options": options, "value": value.item(),
                  "revenue": gradients[0].flatten().tolist(), "cost": gradients[1].flatten().tolist()})


def received(matrix, batch):
    return matrix.gather(1, batch["arm"][:, None])[:, 0]


def prediction_loss(kinds):
    def one(kind, observed, predicted):
        if kind == "real":
            return (observed - predicted) ** 2
        if kind == "non_negative":
            return predicted - torch.xlogy(observed, predicted)
        return torch.nn.functional.binary_cross_entropy(predicted, observed, reduction="none")

    def loss(batch):
        rows = one(kinds[0], batch["observed_revenue"], received(batch["revenue"], batch))
        rows = rows + one(kinds[1], batch["observed_cost"], received(batch["cost"], batch))
        value = (batch["weight"] * rows).mean() / batch["cost"].shape[1]
        return value, value
    return loss


def rewards(batch, scores, multiplier, baseline):
    y = batch["observed_revenue"] - multiplier * batch["observed_cost"]
    seen = torch.nn.functional.one_hot(batch["arm"], scores.shape[1]).to(y.dtype)
    if baseline == "doubly_robust":
        m = batch["nuisance_revenue"] - multiplier * batch["nuisance_cost"]
        return m + seen * batch["weight"][:, None] * (y[:, None] - m)
    b = scores.mean(dim=1).detach() if baseline == "mean" else torch.zeros_like(y)
    return seen * (batch["weight"] * (y - b))[:, None]


def policy(scores, phi, batch, temperature, window):
    value = -(torch.softmax(scores / temperature, dim=1) * phi).sum(dim=1).mean()
    return value, value


def top_pair(scores):
    return scores.detach().topk(2, dim=1).indices


def window_form(places, scores, phi, window):
    pair = top_pair(scores)
    phi_pair, place_pair = phi.gather(1, pair), places.gather(1, pair)
    ramp = torch.clamp(place_pair[:, 0] - place_pair[:, 1], max=window) / window
    return -phi_pair[:, 0].mean(), -((phi_pair[:, 0] - phi_pair[:, 1]) * ramp).mean()


def published_form(places, scores, phi, batch, window):
    """A sum of fixed coefficients times places: the coefficients are the published slopes."""
    pair = top_pair(scores).tolist()
    coefficients = torch.zeros_like(phi)
    for row, ((k, s), t) in enumerate(zip(pair, batch["arm"].tolist())):
        p, g = places[row].tolist(), phi[row, t].item()
        inverse = lambda step: 1.0 / max(step, window) if step < window else 0.0
        if t == k:
            coefficients[row, t] = g * inverse(p[k] - p[s])
            for j in range(len(p)):
                if j != t:
                    coefficients[row, j] = -g * inverse(p[k] - p[j])
        else:
            coefficients[row, t] = g * inverse(p[k] - p[t])
            coefficients[row, k] = -g * inverse(p[k] - p[t])
    value = -phi.gather(1, top_pair(scores))[:, 0].mean()
    return value, -(coefficients * places).sum(dim=1).mean()


def ifd(scores, phi, batch, temperature, window):
    return window_form(scores, scores, phi, window)


def ifd_published(scores, phi, batch, temperature, window):
    return published_form(scores, scores, phi, batch, window)


def ifd_softmax(scores, phi, batch, temperature, window):
    return window_form(torch.softmax(scores / temperature, dim=1), scores, phi, window)


def ifd_softmax_published(scores, phi, batch, temperature, window):
    return published_form(torch.softmax(scores / temperature, dim=1), scores, phi, batch, window)


def decision_loss(form, multipliers, baseline, temperature, window):
    def loss(batch):
        parts = []
        for multiplier in multipliers:
            scores = batch["revenue"] - multiplier * batch["cost"]
            phi = rewards(batch, scores, multiplier, baseline).detach()
            parts.append(form(scores, phi, batch, temperature, window))
        return tuple(sum(part[i] for part in parts) / len(parts) for i in range(2))
    return loss


def drm(batch):
    ratios = []
    for step in range(batch["revenue"].shape[1]):
        s = torch.tanh(batch["revenue"][:, step])
        means = []
        for arm in (step, step + 1):
            group = batch["arm"] == arm
            p = torch.softmax(s[group] + torch.log(batch["weight"][group]), dim=0)
            means.append([(p * batch[key][group]).sum() for key in ("observed_revenue", "observed_cost")])
        ratios.append((means[1][1] - means[0][1]) / (means[1][0] - means[0][0]))
    value = sum(ratios) / len(ratios)
    return value, value


def drp(cost_scale):
    def loss(batch):
        s = batch["revenue"][:, 0]
        sign = torch.where(batch["arm"] == 1, 1.0, -1.0)
        inner = batch["observed_revenue"] * s - cost_scale * batch["observed_cost"] * torch.nn.functional.softplus(s)
        value = -(sign * batch["weight"] * inner).mean()
        return value, value
    return loss


def dpm(cost_scale):
    def loss(batch):
        q = torch.sigmoid(batch["revenue"])
        rows, steps = q.shape
        zero = torch.zeros(rows, 1)

        def factor(x):  # x(t - 1) 1[t > 0] - x(t) 1[t < K]
            return received(torch.cat([zero, x], dim=1) - torch.cat([x, zero], dim=1), batch)

        cost = cost_scale * batch["observed_cost"]
        value = (batch["weight"] * cost * factor(q**2)).mean()
        value = value - (batch["weight"] * batch["observed_revenue"] * factor(q)).mean()
        return value, value
    return loss


def add_all():
    for number, kind in enumerate(("real", "non_negative", "binary")):
        name = f"predictions_{kind}"
        batch = make_batch(name, 100 + number, 9, 3, 3, kind)
        add_case("prediction", name, batch, prediction_loss((kind, kind)), revenue=kind, cost=kind)
        if kind == "binary":
            add_case("prediction", name, batch, prediction_loss((kind, "real")), revenue=kind, cost="real")
    forms = {"policy": (policy, False), "ifd": (ifd, False), "ifd_softmax": (ifd_softmax, False),
             "ifd_published": (ifd_published, True), "ifd_softmax_published": (ifd_softmax_published, True)}
    for arms in (2, 3, 5):
        name = f"decisions_{arms}"
        batch = make_batch(name, 200 + arms, 10, arms, arms, "real")
        for (loss, (form, published)), baseline in itertools.product(forms.items(), ("none", "mean", "doubly_robust")):
            if published and baseline == "doubly_robust":
                continue
            options = {"multipliers": [0.125, 0.5, 2.0], "baseline": baseline, "temperature": 0.75, "window": 0.625}
            add_case(loss, name, batch, decision_loss(form, **options), **options)
    for arms in (2, 4):
        name = f"scores_{arms}"
        batch = make_batch(name, 300 + arms, 12, arms, arms - 1, "real")
        add_case("drm", name, batch, drm)
        add_case("dpm", name, batch, dpm(0.375), cost_scale=0.375)
        if arms == 2:
            add_case("drp", name, batch, drp(1.25), cost_scale=1.25)


def main():
    add_all()
    batches = {name: {key: value.flatten().tolist() for key, value in batch.items()} for name, batch in BATCHES.items()}
    text = json.dumps({"made_with": f"tests/loss/reference.py, torch {torch.__version__.split('+')[0]}",
                       "batches": batches, "cases": CASES}, indent=None, separators=(",", ":"))
    text = text.replace('{"loss"', '\n{"loss"').replace('"decisions_', '\n"decisions_').replace('"scores_', '\n"scores_')
    (Path(__file__).parent / "reference.json").write_text(text + "\n")


if __name__ == "__main__":
    main()

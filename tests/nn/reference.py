#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adam and 50 steps of training by plain NumPy in float64; prints tests/nn/reference.h.

    python3 tests/nn/reference.py > tests/nn/reference.h
"""

import math

import numpy as np

INPUTS, HIDDEN, ARMS, ROWS, BATCH, STEPS = 6, (8, 5), 2, 320, 100, 50
OPTIONS = dict(rate=0.02, beta1=0.9, beta2=0.99, epsilon=1e-8, weight_decay=0.05, clip_norm=0.5, warmup=5, total=60, final=0.1)


def rate_at(step, rate, warmup, total, final, **_):
    if step < warmup:
        return rate * (step + 1) / warmup
    if step >= total:
        return rate * final
    return rate * (final + (1 - final) * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))))


class Adam:
    def __init__(self, size):
        self.m, self.v, self.t = np.zeros(size), np.zeros(size), 0

    def step(self, parameters, gradient):
        o = OPTIONS
        rate = rate_at(self.t, **o)
        norm = np.linalg.norm(gradient)
        gradient = gradient * min(1.0, o["clip_norm"] / norm)
        self.t += 1
        self.m = o["beta1"] * self.m + (1 - o["beta1"]) * gradient
        self.v = o["beta2"] * self.v + (1 - o["beta2"]) * gradient**2
        m_hat = self.m / (1 - o["beta1"] ** self.t)
        v_hat = self.v / (1 - o["beta2"] ** self.t)
        return parameters - rate * o["weight_decay"] * parameters - rate * m_hat / (np.sqrt(v_hat) + o["epsilon"])


def data():
    i = np.arange(ROWS)[:, None]
    x = np.sin(0.37 * i * (np.arange(INPUTS) + 1) + np.arange(INPUTS)).astype(np.float32).astype(float)
    arm = (np.arange(ROWS) * 7 % 5 < 3).astype(int)
    revenue = (x[:, 0] + 0.5 * arm * x[:, 1] ** 2 - x[:, 2] * x[:, 3]).astype(np.float32).astype(float)
    cost = (0.3 + 0.4 * arm * (1 + x[:, 4])).astype(np.float32).astype(float)
    weight = np.where(arm == 1, 1 / 0.6, 1 / 0.4).astype(np.float32).astype(float)
    return x, arm, revenue, cost, weight


def layers(parameters):
    sizes = [INPUTS, *HIDDEN, 2 * ARMS]
    offset = 0
    for inputs, outputs in zip(sizes, sizes[1:]):
        w = parameters[offset : offset + inputs * outputs].reshape(outputs, inputs)
        offset += inputs * outputs
        yield w, parameters[offset : offset + outputs]
        offset += outputs


def loss_and_gradient(parameters, x, arm, revenue, cost, weight):
    stack, a = list(layers(parameters)), x
    kept = [a]
    for k, (w, b) in enumerate(stack):
        a = a @ w.T + b
        if k + 1 < len(stack):
            a = np.maximum(a, 0)
        kept.append(a)
    n, row = len(arm), np.arange(len(arm))
    error_r, error_c = a[row, arm] - revenue, a[row, ARMS + arm] - cost
    value = np.mean(weight * (error_r**2 + error_c**2)) / ARMS
    g = np.zeros_like(a)
    g[row, arm] = 2 * weight * error_r / (ARMS * n)
    g[row, ARMS + arm] = 2 * weight * error_c / (ARMS * n)
    parts = []
    for k in reversed(range(len(stack))):
        parts = [(g.T @ kept[k]).ravel(), g.sum(0)] + parts
        if k > 0:
            g = (g @ stack[k][0]) * (kept[k] > 0)
    return value, np.concatenate(parts)


def train():
    sizes = [INPUTS, *HIDDEN, 2 * ARMS]
    size = sum(a * b + b for a, b in zip(sizes, sizes[1:]))
    parameters = (0.6 * np.sin(1.3 * np.arange(size) + 0.2)).astype(np.float32).astype(float)
    adam, losses, everything = Adam(size), [], data()
    for step in range(STEPS):
        rows = (step * 37 + 7 * np.arange(BATCH)) % ROWS
        value, gradient = loss_and_gradient(parameters, *(d[rows] for d in everything))
        losses.append(value)
        parameters = adam.step(parameters, gradient)
    return losses, parameters


def adam_alone():
    parameters, adam = np.array([0.5, -1.0, 2.0]), Adam(3)
    for step in range(70):
        parameters = adam.step(parameters, np.array([1.0, -0.2, 0.01]) * np.cos(step) + 0.3 * parameters)
    return parameters


def array(name, values):
    lines = [f"inline constexpr double {name}[] = {{"]
    for begin in range(0, len(values), 6):
        lines.append("    " + ", ".join(f"{v:.12g}" for v in values[begin : begin + 6]) + ",")
    return "\n".join([*lines, "};"])


losses, parameters = train()
print("// SPDX-License-Identifier: Apache-2.0\n//\n// Made by reference.py, which says what these are.\n#pragma once\n")
print("namespace dfcl::nn::reference {\n")
print(array("kLosses", losses))
print(array("kParameters", parameters))
print(array("kAdamAlone", adam_alone()))
print("\n}  // namespace dfcl::nn::reference")

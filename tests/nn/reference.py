#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adam and 50 steps of training, by eq. 4 and by eq. 4b with eq. 6, in plain NumPy and float64; prints
tests/nn/reference.h.

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


def layers(parameters, outputs):
    sizes = [INPUTS, *HIDDEN, outputs]
    offset = 0
    for inputs, outputs in zip(sizes, sizes[1:]):
        w = parameters[offset : offset + inputs * outputs].reshape(outputs, inputs)
        offset += inputs * outputs
        yield w, parameters[offset : offset + outputs]
        offset += outputs


def forward(stack, x):
    kept = [x]
    for k, (w, b) in enumerate(stack):
        a = kept[-1] @ w.T + b
        kept.append(np.maximum(a, 0) if k + 1 < len(stack) else a)
    return kept


# g: d loss / d raw output.
def backward(stack, kept, g):
    parts = []
    for k in reversed(range(len(stack))):
        parts = [(g.T @ kept[k]).ravel(), g.sum(0)] + parts
        if k > 0:
            g = (g @ stack[k][0]) * (kept[k] > 0)
    return np.concatenate(parts)


# Squared error (eq. 4).
def loss_and_gradient(parameters, x, arm, revenue, cost, weight):
    stack = list(layers(parameters, 2 * ARMS))
    kept = forward(stack, x)
    a, n, row = kept[-1], len(arm), np.arange(len(arm))
    error_r, error_c = a[row, arm] - revenue, a[row, ARMS + arm] - cost
    value = np.mean(weight * (error_r**2 + error_c**2)) / ARMS
    g = np.zeros_like(a)
    g[row, arm] = 2 * weight * error_r / (ARMS * n)
    g[row, ARMS + arm] = 2 * weight * error_c / (ARMS * n)
    return value, backward(stack, kept, g)


# Three graded arms of a log link (eq. 4b), control free: revenue exp(u0), exp(u0 + u1), exp(u0 + u2), cost 0,
# exp(v0 + v1), exp(v0 + v2).
LEVELS, MULTIPLIERS, TEMPERATURE, ALPHA = 3, (0.3, 1.1), 0.25, 2.0


def graded_data():
    x = data()[0]
    arm = np.arange(ROWS) * 5 % 7 % LEVELS
    revenue = np.round(4 * np.maximum(0, 1 + x[:, 0] + 0.4 * arm * (1 + x[:, 1]))) / 4
    cost = 0.25 * arm * revenue
    weight = np.array([2.5, 3.0, 3.5])[arm]
    return x, arm, revenue, cost, weight


# alpha x prediction loss (eq. 4b) + MER (eq. 6) with the mean of the scores as baseline.
def decision_loss_and_gradient(parameters, x, arm, revenue, cost, weight):
    stack = list(layers(parameters, 2 * LEVELS))
    kept = forward(stack, x)
    u, v = kept[-1][:, :LEVELS], kept[-1][:, LEVELS:]
    n, row = len(arm), np.arange(len(arm))
    r = np.exp(u[:, :1] + np.column_stack([np.zeros(n), u[:, 1:]]))
    c = np.column_stack([np.zeros(n), np.exp(v[:, :1] + v[:, 1:])])
    seen_r, seen_c = r[row, arm], c[row, arm]
    treated = arm > 0
    deviance_c = np.where(treated, seen_c - cost * np.log(np.where(treated, seen_c, 1)), 0)
    prediction = np.mean(weight * (seen_r - revenue * np.log(seen_r) + deviance_c)) / LEVELS
    g_r, g_c = np.zeros_like(r), np.zeros_like(c)
    g_r[row, arm] = ALPHA * weight * (1 - revenue / seen_r) / (LEVELS * n)
    g_c[row, arm] = np.where(treated, ALPHA * weight * (1 - cost / np.where(treated, seen_c, 1)) / (LEVELS * n), 0)
    decision = 0.0
    for multiplier in MULTIPLIERS:
        a = r - multiplier * c
        q = np.exp((a - a.max(1, keepdims=True)) / TEMPERATURE)
        q /= q.sum(1, keepdims=True)
        reward = weight * (revenue - multiplier * cost - a.mean(1))
        decision -= np.mean(reward * q[row, arm]) / len(MULTIPLIERS)
        slope = -(reward * q[row, arm])[:, None] * (np.eye(LEVELS)[arm] - q) / (len(MULTIPLIERS) * n * TEMPERATURE)
        g_r += slope
        g_c -= multiplier * slope
    g_u = np.column_stack([(g_r * r).sum(1), g_r[:, 1:] * r[:, 1:]])
    g_v = np.column_stack([(g_c * c).sum(1), g_c[:, 1:] * c[:, 1:]])
    return ALPHA * prediction + decision, backward(stack, kept, np.column_stack([g_u, g_v]))


def train(step_of, rows_of, outputs, scale):
    sizes = [INPUTS, *HIDDEN, outputs]
    size = sum(a * b + b for a, b in zip(sizes, sizes[1:]))
    parameters = (scale * np.sin(1.3 * np.arange(size) + 0.2)).astype(np.float32).astype(float)
    adam, losses = Adam(size), []
    for step in range(STEPS):
        rows = (step * 37 + 7 * np.arange(BATCH)) % ROWS
        value, gradient = step_of(parameters, *(d[rows] for d in rows_of))
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


losses, parameters = train(loss_and_gradient, data(), 2 * ARMS, 0.6)
decision_losses, decision_parameters = train(decision_loss_and_gradient, graded_data(), 2 * LEVELS, 0.3)
print("// SPDX-License-Identifier: Apache-2.0\n//\n// Made by reference.py, which says what these are.\n#pragma once\n")
print("namespace dfcl::nn::reference {\n")
print(array("kLosses", losses))
print(array("kParameters", parameters))
print(array("kDecisionLosses", decision_losses))
print(array("kDecisionParameters", decision_parameters))
print(array("kAdamAlone", adam_alone()))
print("\n}  // namespace dfcl::nn::reference")

# SPDX-License-Identifier: Apache-2.0
"""Eq. 16 and 17 of docs/method.md written down plainly in NumPy: what tests compare `dfcl evaluate` with."""

import math

import numpy as np


def plan_at(revenue, cost, multiplier):
    """The arm of each unit: the increments of its hull that earn more than `multiplier` per cost."""
    plan = np.empty(len(revenue), dtype=int)
    for unit, (r, c) in enumerate(zip(revenue.astype(float), cost.astype(float))):
        points = sorted(range(len(r)), key=lambda arm: (c[arm], -r[arm], arm))
        at = points[0]
        while True:
            ahead = [arm for arm in points if c[arm] > c[at] and r[arm] > r[at]]
            if not ahead:
                break
            best = max(ahead, key=lambda arm: ((r[arm] - r[at]) / (c[arm] - c[at]), c[arm]))
            if not (r[best] - r[at]) / (c[best] - c[at]) > multiplier:
                break
            at = best
        plan[unit] = at
    return plan


def value(plan, arm, outcome, weight, nuisance, estimator):
    """Eq. 16: the mean outcome per unit under a plan."""
    seen = arm == plan
    if estimator == "horvitz-thompson":
        return np.sum(weight * outcome * seen) / len(plan)
    if estimator == "hajek":
        return np.sum(weight * outcome * seen) / np.sum(weight * seen)
    if estimator == "stratified":
        total = 0.0
        for j in np.unique(plan):
            stratum = seen & (plan == j)
            if not stratum.any():  # nobody received the arm chosen for them: the arm's mean stands in
                stratum = arm == j
            total += np.mean(plan == j) * np.sum((weight * outcome)[stratum]) / np.sum(weight[stratum])
        return total
    m = nuisance[np.arange(len(plan)), plan].astype(float)
    return np.mean(m + seen * weight * (outcome - m))


def rank_scores(extra_revenue, extra_cost, ranking):
    if ranking == "angle":
        return np.array([math.atan2(r, c) for r, c in zip(extra_revenue, extra_cost)])
    floored = np.where(extra_cost < 0, -1.0, 1.0) * np.maximum(np.abs(extra_cost), 1e-6)
    return extra_revenue / floored


def aucc(score, treated, revenue, cost, levels):
    """Eq. 17, row by row: the published figure and the exact area."""
    order = np.argsort(-score, kind="stable")
    n1, n0 = treated.sum(), (~treated).sum()
    is_treated = treated[order]
    curve = []
    for outcome in (cost, revenue):
        ordered = outcome[order].astype(float)
        curve.append(np.cumsum(np.where(is_treated, ordered, 0.0)) / n1 - np.cumsum(np.where(is_treated, 0.0, ordered)) / n0)
    c, r = curve
    points, level = [0.0], 1
    for i in range(len(c)):
        if level < levels and c[i] >= level * c[-1] / levels:
            points.append(r[i])
            level += 1
    points.append(r[-1])
    steps = np.diff(np.concatenate([[0.0], c]))
    middles = (r + np.concatenate([[0.0], r[:-1]])) / 2
    return sum(points) / (r[-1] * (levels + 1)), np.sum(steps * middles) / (r[-1] * c[-1])

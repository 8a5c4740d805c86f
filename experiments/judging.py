# SPDX-License-Identifier: Apache-2.0
"""The results of a comparison, asked by name, and what can be said of them: paired intervals over training seeds, and
whether an interval agrees with what was published.
"""

import json
import math
import statistics

# The 97.5 % quantile of Student's t by degrees of freedom.
T975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


class Comparison:
    """The results of a `dfcl compare`, asked by name."""

    def __init__(self, folder, name):
        self.results = json.loads((folder / name / "results.json").read_text())
        self.made = json.loads((folder / f"{name}.json").read_text())
        self.entries = {entry["name"]: entry for entry in self.results["entries"]}
        self.budgets = [budget["per_unit"] for budget in self.results["budgets"]]

    def figure(self, name, figure, budget=None):
        for one in self.entries.get(name, {}).get("over_seeds", []):
            if one["figure"] == figure and one["budget_per_unit"] == budget:
                return one
        return None

    def text(self, name, figure, budget=None, scale=1.0, digits=4):
        one = self.figure(name, figure, budget)
        if one is None:
            return ""
        return f"{one['mean'] * scale:.{digits}f}" + (
            f" ({one['sd'] * scale:.{digits}f})" if one["sd"] is not None else ""
        )

    def pair(self, name, other, figure, budget=None, scale=1.0):
        """name less other over the seeds both have: (mean, low, high), or None."""
        a, b = self.figure(name, figure, budget), self.figure(other, figure, budget)
        if a is None or b is None:
            return None
        beside = dict(zip(b["seeds"], b["values"]))
        return interval(
            [scale * (value - beside[seed]) for seed, value in zip(a["seeds"], a["values"]) if seed in beside]
        )

    def over_units(self, name, key="aucc_differences"):
        """The difference from the reference over test units, of the first arm or budget."""
        for one in self.results[key]:
            if one["model"] == name:
                found = one["published" if key == "aucc_differences" else "relative"]
                return (found["value"], found["low"], found["high"]) if found["low"] is not None else None
        return None

    def heading(self):
        made = self.made
        seeds = dict(map(tuple, self.results["made_by"]["options"]))["training seeds"]
        text = (
            f"Trial: {made['source']}; {self.results['trial']['units']:,} test units. Training seeds {seeds}. "
            f"dfcl {made['version']}, {made['date']}, "
            f"{made['machine']}."
        )
        if self.results["verdict"]["status"] == "unfit":
            text += (
                " `dfcl check` calls this trial unfit: "
                + (self.results["check"]["problems"] or [{"text": ""}])[0]["text"]
            )
        for failure in self.results["failures"]:
            text += f" Not trained: {failure['name']}, seed {failure['seed']} ({failure['message'].splitlines()[0]})."
        return text


def interval(values):
    """Mean and 95 % t-interval of paired differences."""
    if not values:
        return None
    mean = statistics.mean(values)
    if len(values) < 2:
        return mean, -math.inf, math.inf
    half = T975.get(len(values) - 1, 1.96 + 2.4 / len(values)) * statistics.stdev(values) / len(values) ** 0.5
    return mean, mean - half, mean + half


def shown(found, unit="", digits=2):
    if found is None:
        return "not measured"
    mean, low, high = found
    if not math.isfinite(low) or not math.isfinite(high):
        return f"{mean:+.{digits}f}{unit}, no interval with one seed"
    return f"{mean:+.{digits}f}{unit} ({low:+.{digits}f} to {high:+.{digits}f})"


def agreement(published, found):
    """Does our interval say what was published?"""
    if found is None:
        return "not measured"
    if found[1] > 0 or found[2] < 0:
        return "agrees in sign" if (found[0] > 0) == (published > 0) else "the opposite is shown here"
    return "no difference is shown here"


def agreement_sentence(words):
    """How often each came out, for the line under a table."""
    return (
        "Differences from two-stage, counted: "
        + ", ".join(f"{words.count(word)} x {word}" for word in dict.fromkeys(words))
        + "."
    )


def within(found, margin):
    """An interval that should lie within a margin of zero."""
    if found is None:
        return "cannot be told"
    if -margin < found[1] and found[2] < margin:
        return "confirmed"
    return "not confirmed" if found[1] > margin or found[2] < -margin else "cannot be told"


def judged(*claims):
    """Each claim is an interval that should lie above zero. All do: confirmed; one lies below: not confirmed."""
    if any(found is None for found in claims):
        return "cannot be told"
    if all(found[1] > 0 for found in claims):
        return "confirmed"
    return "not confirmed" if any(found[2] < 0 for found in claims) else "cannot be told"


def minus(found):
    return None if found is None else (-found[0], -found[2], -found[1])

# SPDX-License-Identifier: Apache-2.0
"""The tables of quality.py, as Markdown: shares of the best possible, differences to `tsm` with intervals, and spend.

A result is a dictionary of cell, seed, method and shares (of the best possible, one for each budget); `chosen` holds, for
each cell and method, the results of its seeds. Differences are over the same trials. Their spread is pooled over cells.
"""

import statistics

import numpy as np


def score(result):
    return 100.0 * statistics.mean(result["shares"])


def two_sided(degrees, level):
    """The quantile of Student's t, by simulation-free bisection on its distribution function."""
    grid = np.linspace(0.0, 60.0, 600_001)
    density = (1.0 + grid**2 / degrees) ** (-(degrees + 1) / 2)
    cumulative = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return float(np.interp(level, cumulative / cumulative[-1], grid))


class Difference:
    """A method less tuned `tsm`: its mean in each cell and pooled over cells, with intervals where seeds allow them."""

    def __init__(self, chosen, cells, method):
        self.found = {}
        for cell in cells:
            base = {r["seed"]: score(r) for r in chosen.get((cell, "tsm"), [])}
            pairs = [score(r) - base[r["seed"]] for r in chosen[cell, method] if r["seed"] in base]
            if pairs:
                self.found[cell] = pairs
        self.means = {cell: statistics.mean(pairs) for cell, pairs in self.found.items()}
        self.trials = sum(map(len, self.found.values()))
        self.degrees = self.trials - len(self.found)
        if self.found:
            self.pooled = statistics.mean(self.means.values())
        if self.degrees > 0:
            squares = sum((x - self.means[cell]) ** 2 for cell, pairs in self.found.items() for x in pairs)
            self.variance = squares / self.degrees
            sizes = sum(1 / len(pairs) for pairs in self.found.values())
            self.half = two_sided(self.degrees, 0.95) * (self.variance * sizes) ** 0.5 / len(self.found)

    def pooled_text(self, digits=2):
        text = f"{self.pooled:+.{digits}f}"
        if self.degrees > 0:
            text += f" ({self.pooled - self.half:+.{digits}f} to {self.pooled + self.half:+.{digits}f})"
        return text

    def cell_text(self, cell):
        """With the simultaneous interval (Bonferroni) where there is one."""
        text = f"{cell} {self.means[cell]:+.1f}"
        if self.degrees > 0:
            wide = two_sided(self.degrees, 1 - 0.05 / len(self.found)) * (self.variance / len(self.found[cell])) ** 0.5
            text += f" ({self.means[cell] - wide:+.1f} to {self.means[cell] + wide:+.1f})"
        return text


def shares_table(chosen, cells, methods, seeds):
    """A cell says how many seeds it holds where they are not all there."""
    lines = ["| method | " + " | ".join(cells) + " |", "|---" * (len(cells) + 1) + "|"]
    for method in methods:
        entries = []
        for cell in cells:
            scores = [score(r) for r in chosen[cell, method]]
            text = f"{statistics.mean(scores):.1f}" if scores else ""
            if len(scores) > 1:
                text += f" ({statistics.stdev(scores):.1f})"
            entries.append(text + (f" [{len(scores)}]" if scores and len(scores) != seeds else ""))
        if any(entries):
            lines.append(f"| `{method}` | " + " | ".join(entries) + " |")
    return lines


def difference_table(chosen, cells, methods):
    lines = [
        "| minus `tsm` | pooled, 95 % interval | trials | least cell, simultaneous interval | most cell |",
        "|---|---|---|---|---|",
    ]
    for method in methods:
        difference = Difference(chosen, cells, method)
        if method == "tsm" or not difference.found:
            continue
        least, most = (end(difference.means, key=difference.means.get) for end in (min, max))
        lines.append(
            f"| `{method}` | {difference.pooled_text()} | {difference.trials} | {difference.cell_text(least)} | "
            f"{difference.cell_text(most)} |"
        )
    return lines


def spend_table(chosen, methods):
    """Predicted and true spend of plans made as users make them."""
    lines = [
        "| method | predicted spend over budget, most | true spend over budget: mean, most | all finite |",
        "|---|---|---|---|",
    ]
    for method in methods:
        results = [r for (_, m), found in chosen.items() if m == method for r in found if "true_overspend" in r]
        if not results:
            continue
        true = [x for r in results for x in r["true_overspend"]]
        most = max(x for r in results for x in r["predicted_overspend"])
        finite = "yes" if all(r["finite"] for r in results) else "NO"
        lines.append(
            f"| `{method}` | {100 * max(most, 0.0):.3f} % | {100 * statistics.mean(true):+.1f} %, "
            f"{100 * max(true):+.1f} % | {finite} |"
        )
    return lines


def quality_lines(chosen, cells, methods, seeds):
    """For docs/results.md."""
    return [
        *shares_table(chosen, cells, methods, seeds),
        "",
        *difference_table(chosen, cells, methods),
        "",
        *spend_table(chosen, methods),
    ]


def choice_lines(chosen, cells, methods):
    """For the guide to methods: what was run in every cell, in whole per cent, and what is shown of it."""
    complete = [method for method in methods if all(chosen[cell, method] for cell in cells)]
    lines = ["| | " + " | ".join(cells) + " | less `tsm`, 95 % interval |", "|---" * (len(cells) + 2) + "|"]
    shown = {"ahead of `tsm`": [], "behind `tsm`": [], "not shown to differ from `tsm`": []}
    for method in complete:
        means = [statistics.mean(score(r) for r in chosen[cell, method]) for cell in cells]
        difference = Difference(chosen, cells, method)
        text = "" if method == "tsm" else difference.pooled_text(1)
        lines.append(f"| `{method}` | " + " | ".join(f"{mean:.0f}" for mean in means) + f" | {text} |")
        if method == "tsm" or difference.degrees < 1:
            continue
        low, high = difference.pooled - difference.half, difference.pooled + difference.half
        verdict = "ahead of `tsm`" if low > 0 else "behind `tsm`" if high < 0 else "not shown to differ from `tsm`"
        shown[verdict].append(f"`{method}`")
    sentences = [f"{verdict}: {', '.join(names)}" for verdict, names in shown.items() if names]
    return [*lines, "", "Pooled over all columns, " + "; ".join(sentences) + "."] if sentences else lines

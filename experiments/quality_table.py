# SPDX-License-Identifier: Apache-2.0
"""The tables of quality.py, as Markdown: shares of the best possible, paired differences with intervals, spend.

A result is a dictionary of part, cell, seed, method, setting and shares (of the best possible, one for each budget). Where
a method was tuned, the setting of the trials with seeds from 1 counts. Differences are over the same trials; their spread is
pooled over cells (Student's t), so a cell with one trial borrows the others' spread.
"""

import json
import pathlib
import statistics

import numpy as np

TUNING_SEED = 100
BUDGETS = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6)


def score(result):
    return 100.0 * statistics.mean(result["shares"])


def by_trial(found):
    """(cell, method) -> {seed: score}, tuning trials left out."""
    scores = {}
    for result in found:
        if "shares" in result and result["seed"] != TUNING_SEED:
            scores.setdefault((result["cell"], result["method"]), {})[result["seed"]] = score(result)
    return scores


def two_sided(degrees, level):
    """The quantile of Student's t, from its density summed on a grid."""
    grid = np.linspace(0.0, 60.0, 600_001)
    density = (1.0 + grid**2 / degrees) ** (-(degrees + 1) / 2)
    cumulative = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return float(np.interp(level, cumulative / cumulative[-1], grid))


class Difference:
    """A method minus another on the same trials: its mean in each cell and pooled, with intervals where seeds allow them."""

    def __init__(self, pairs):
        """pairs: cell -> differences."""
        self.found = {cell: values for cell, values in pairs.items() if values}
        self.means = {cell: statistics.mean(values) for cell, values in self.found.items()}
        self.trials = sum(map(len, self.found.values()))
        self.degrees = self.trials - len(self.found)
        if self.found:
            self.pooled = statistics.mean(self.means.values())
        if self.degrees > 0:
            squares = sum((x - self.means[cell]) ** 2 for cell, values in self.found.items() for x in values)
            self.variance = squares / self.degrees
            sizes = sum(1 / len(values) for values in self.found.values())
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


def minus(scores, cells, method, other):
    """other: a method, or a function of cell and seed that gives a score or None."""
    if isinstance(other, str):
        base = lambda cell, seed: scores.get((cell, other), {}).get(seed)
    else:
        base = other
    pairs = {}
    for cell in cells:
        values = [(value, base(cell, seed)) for seed, value in sorted(scores.get((cell, method), {}).items())]
        pairs[cell] = [value - compared for value, compared in values if compared is not None]
    return Difference(pairs)


def best_single(scores, methods):
    """The best single method of a cell by its mean; its score in a trial of that cell."""

    def of(cell, seed):
        means = {m: statistics.mean(scores[cell, m].values()) for m in methods if scores.get((cell, m))}
        return scores[cell, max(means, key=means.get)].get(seed) if means else None

    return of


def shares_table(scores, cells, methods):
    """Mean over seeds, with the standard deviation where there are several."""
    lines = ["| method | " + " | ".join(cells) + " | mean |", "|---" * (len(cells) + 2) + "|"]
    for method in methods:
        entries, means = [], []
        for cell in cells:
            values = list(scores.get((cell, method), {}).values())
            text = f"{statistics.mean(values):.1f}" if values else ""
            entries.append(text + (f" ({statistics.stdev(values):.1f})" if len(values) > 1 else ""))
            means += [statistics.mean(values)] if values else []
        if means:
            whole = f"{statistics.mean(means):.1f}" if len(means) == len(cells) else ""
            lines.append(f"| `{method}` | " + " | ".join(entries) + f" | {whole} |")
    return lines


def difference_table(rows):
    """rows: (words, Difference)."""
    lines = ["| difference | pooled, 95 % interval | trials | least cell, simultaneous interval | most cell |", "|---|---|---|---|---|"]
    for text, difference in rows:
        if not difference.found:
            continue
        least, most = (end(difference.means, key=difference.means.get) for end in (min, max))
        lines.append(f"| {text} | {difference.pooled_text()} | {difference.trials} | {difference.cell_text(least)} | "
                     f"{difference.cell_text(most)} |")  # fmt: skip
    return lines


def effects_table(found, cells, methods):
    """Root mean square error of the effects on revenue, in standard deviations of the true effects."""
    lines = ["| error of effects | " + " | ".join(cells) + " |", "|---" * (len(cells) + 1) + "|"]
    for method in methods:
        entries = []
        for cell in cells:
            values = [r["effect_error"] for r in found
                      if (r["cell"], r["method"]) == (cell, method) and "effect_error" in r and r["seed"] != TUNING_SEED]  # fmt: skip
            entries.append(f"{statistics.mean(values):.2f}" if values else "")
        if any(entries):
            lines.append(f"| `{method}` | " + " | ".join(entries) + " |")
    return lines


def spend_table(found, methods):
    """Predicted and true spend of plans made as users make them, and how long a training took."""
    lines = ["| method | predicted spend over budget, most | true spend over budget: mean, most | all finite | seconds, median |",
             "|---|---|---|---|---|"]  # fmt: skip
    for method in methods:
        results = [r for r in found if r["method"] == method and "true_overspend" in r]
        if not results:
            continue
        true = [x for r in results for x in r["true_overspend"]]
        most = max(x for r in results for x in r["predicted_overspend"])
        finite = "yes" if all(r["finite"] for r in results) else "NO"
        seconds = statistics.median(r["seconds"] for r in results if "seconds" in r)  # none where only judged again
        lines.append(f"| `{method}` | {100 * max(most, 0.0):.3f} % | {100 * statistics.mean(true):+.1f} %, "
                     f"{100 * max(true):+.1f} % | {finite} | {seconds:.0f} |")  # fmt: skip
    return lines


def present(scores, cells):
    return [cell for cell in cells if any(key[0] == cell for key in scores)]


def varied_lines(found, cells, methods):
    scores = by_trial(found)
    cells = present(scores, cells)
    there = {result["method"] for result in found if "shares" in result}
    singles = [method for method in methods if method in there and method not in ("auto", "lightgbm S")]
    rival = f"`{singles[0]}`" if len(singles) == 1 else "the best single method of the cell"
    rows = [("`auto` minus LightGBM's S-learner", minus(scores, cells, "auto", "lightgbm S")),
            (f"`auto` minus {rival}", minus(scores, cells, "auto", best_single(scores, singles)))]  # fmt: skip
    rows += [(f"`{m}` minus `tsm`", minus(scores, cells, m, "tsm")) for m in ("dfcl-mer", "dfcl-ifd")]
    rows += [(f"`{m}` minus LightGBM's S-learner", minus(scores, cells, m, "lightgbm S")) for m in ("tsm-boost", "tsm-forest")]
    return [*shares_table(scores, cells, methods), "", *difference_table(rows), "", *effects_table(found, cells, methods), "",
            *spend_table(found, methods)]  # fmt: skip


def version_0_1():
    return json.loads((pathlib.Path(__file__).parent / "quality_of_0_1.json").read_text())["shares"]


def nine_lines(found, cells, methods):
    scores = by_trial(found)
    cells = present(scores, cells)
    before = version_0_1()
    ours = {name: shares for name, shares in before.items() if not name.startswith("lightgbm")}
    best = {cell: max(ours, key=lambda name: ours[name][cell]) for cell in cells}
    table = shares_table(scores, cells, methods)
    table.append("| `auto`, version 0.1 | " + " | ".join(f"{before['auto'][cell]:.1f}" for cell in cells) + " | "
                 + f"{statistics.mean(before['auto'][cell] for cell in cells):.1f} |")  # fmt: skip
    table.append("| the best of version 0.1 | " + " | ".join(f"{ours[best[cell]][cell]:.1f} (`{best[cell]}`)" for cell in cells) + " | "
                 + f"{statistics.mean(ours[best[cell]][cell] for cell in cells):.1f} |")  # fmt: skip
    rows = [("`auto` minus `auto` of 0.1", minus(scores, cells, "auto", lambda cell, _: before["auto"][cell])),
            ("`auto` minus the best of 0.1", minus(scores, cells, "auto", lambda cell, _: ours[best[cell]][cell])),
            ("`auto` minus LightGBM's S-learner", minus(scores, cells, "auto", "lightgbm S"))]  # fmt: skip
    rows += [(f"`{m}` minus `tsm`", minus(scores, cells, m, "tsm")) for m in methods if m not in ("tsm", "auto")]
    return [*table, "", *difference_table(rows), "", *spend_table(found, methods)]


def pays_lines(found, networks):
    """`dfcl-mer` minus `tsm`: rows and size of the network down, budgets across. networks: setting -> words."""
    scores = {}
    for result in found:
        if "shares" in result:
            scores[result["cell"], result["seed"], result["setting"], result["method"]] = result["shares"]
    lines = ["| rows | network | " + " | ".join(f"budget {b:g}" for b in BUDGETS) + " | mean |", "|---" * (len(BUDGETS) + 3) + "|"]
    sizes = sorted({cell.split("-")[1] for cell, *_ in scores}, key=lambda text: int(text.rstrip("k")))
    for rows in sizes:
        for network in networks:
            pairs = [np.subtract(shares, scores[cell, seed, network, "tsm"]) for (cell, seed, setting, method), shares in scores.items()
                     if method == "dfcl-mer" and setting == network and cell.endswith(f"-{rows}")
                     and (cell, seed, network, "tsm") in scores]  # fmt: skip
            if not pairs:
                continue
            mean = 100.0 * np.mean(pairs, axis=0)
            error = 100.0 * np.mean(pairs, axis=1).std(ddof=1) / len(pairs) ** 0.5 if len(pairs) > 1 else float("nan")
            lines.append(f"| {rows} | {networks[network]} | " + " | ".join(f"{x:+.1f}" for x in mean)
                         + f" | {mean.mean():+.1f} (standard error {error:.1f}, {len(pairs)} trials) |")  # fmt: skip
    return lines


def choice_lines(found, cells, methods):
    """For the guide to methods: what was run in every cell, in whole per cent, and what is shown of it."""
    scores = {}
    for result in found:
        for (cell, method), values in by_trial([result]).items():
            scores.setdefault((f"{result['part']} {cell}", method), {}).update(values)
    cells = present(scores, [f"{part} {cell}" for part, cell in cells])
    methods = list(dict.fromkeys(methods))
    lines = ["| | " + " | ".join(cells) + " | minus `tsm`, 95 % interval |", "|---" * (len(cells) + 2) + "|"]
    shown = {"ahead of `tsm`": [], "behind `tsm`": [], "no significant difference from `tsm`": []}
    for method in methods:
        if not any((cell, method) in scores for cell in cells):
            continue
        difference = minus(scores, cells, method, "tsm")
        text = "" if method == "tsm" or not difference.found else difference.pooled_text(1)
        entries = [f"{statistics.mean(scores[cell, method].values()):.0f}" if (cell, method) in scores else "" for cell in cells]
        lines.append(f"| `{method}` | " + " | ".join(entries) + f" | {text} |")
        if method == "tsm" or difference.degrees < 1:
            continue
        low, high = difference.pooled - difference.half, difference.pooled + difference.half
        verdict = "ahead of `tsm`" if low > 0 else "behind `tsm`" if high < 0 else "no significant difference from `tsm`"
        shown[verdict].append(f"`{method}`")
    sentences = [f"{verdict}: {', '.join(names)}" for verdict, names in shown.items() if names]
    return [*lines, "", "Pooled over the columns in which both ran, " + "; ".join(sentences) + "."] if sentences else lines

# SPDX-License-Identifier: Apache-2.0
"""The blocks of docs/results.md that come from experiments/run.py: published figures with ours beside them, and one line
for each published finding. Every figure and every judgement is computed from the results of a run; none is written by hand.

A block stands between <!-- begin NAME --> and <!-- end NAME -->. A block whose results are not there stays as it is, and
so does everything outside of blocks.
"""

import json
import re

from findings import alpha_findings, findings, multipliers_findings
from judging import Comparison, agreement, agreement_sentence, shown
from published import CRITEO_AUCC, CRITEO_LOG_LOSS, MARKETING, MARKETING_MSE, ONLINE, ONLINE_WEEKS, PUBLISHED_NAMES


def replace_block(page, name, lines):
    """Puts the lines between the marks of a block; the rest of the page stays."""
    pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    text = page.read_text()
    if not pattern.search(text):
        raise SystemExit(f"{page} has no block '{name}'")
    page.write_text(pattern.sub(lambda found: found.group(1) + "\n" + "\n".join(lines) + "\n\n" + found.group(2), text))


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"] + ["| " + " | ".join(row) + " |" for row in rows]


def criteo_block(comparison):
    rows = []
    for name in comparison.entries:
        plain = name.removesuffix(" as published")
        published, loss = CRITEO_AUCC.get(plain), CRITEO_LOG_LOSS.get(plain)
        as_text = lambda pair: f"{pair[0]:.4f} ({pair[1]:.4f})" if pair else ""
        units = comparison.over_units(name)
        gap = published[0] - CRITEO_AUCC["tsm"][0] if published else 0.0
        rows.append(
            [
                f"{PUBLISHED_NAMES.get(plain, plain)}{name[len(plain):]}",
                as_text(published),
                aucc_text(comparison, name),
                "" if name == "tsm" else shown(units, digits=3) if units else "no interval: totals too near zero",
                comparison.text(name, "share_of_oracle", scale=100, digits=1),
                as_text(loss),
                comparison.text(name, "revenue_log_loss"),
                (
                    "the reference"
                    if name == "tsm"
                    else agreement(gap, units or comparison.pair(name, "tsm", "share_of_oracle"))
                ),
            ]
        )
    lines = [
        comparison.heading(),
        "",
        *table(
            [
                "method",
                "AUCC, published",
                "AUCC, ours",
                "less TSM-SL, 95 % interval over test units",
                "% of the best possible",
                "log loss, published",
                "log loss of conversion, ours",
                "agreement",
            ],
            rows,
        ),
    ]
    lines += [
        "",
        agreement_sentence([row[-1] for row in rows[1:]]),
        "",
        "In brackets the standard deviation over training seeds. Agreement is judged by the AUCC; where it has no interval, "
        "by the share of the best possible and its interval over training seeds. The published trial is 14 million rows; "
        "ours is stated above, and levels "
        "of AUCC and log loss depend on the trial: only differences between methods can agree or not.",
    ]
    return lines


def aucc_text(comparison, name):
    found = [one for one in comparison.entries[name]["over_seeds"] if one["figure"] == "aucc"]
    if not found:
        return ""
    return f"{found[-1]['mean']:.4f}" + (f" ({found[-1]['sd']:.4f})" if found[-1]["sd"] is not None else "")


def marketing_block(comparison):
    base = comparison.figure("tsm", "matched_revenue", comparison.budgets[0])["mean"]
    rows = []
    for name, (published, gain) in MARKETING.items():
        rows.append(
            [
                PUBLISHED_NAMES[name],
                "published",
                *(f"{value:.4f}" for value in published),
                f"{gain:+.2f} %" if gain else "",
                "",
                "",
            ]
        )
        ours = [comparison.text(name, "matched_revenue", budget, 1 / base) for budget in comparison.budgets]
        found = comparison.pair(name, "tsm", "gain", scale=100)
        truth = comparison.pair(name, "tsm", "share_of_oracle", scale=100)
        rows.append(
            [
                "",
                "ours",
                *ours,
                "" if name == "tsm" else shown(found, " %"),
                "" if name == "tsm" else shown(truth),
                "the reference" if name == "tsm" else agreement(gain, truth or found),
            ]
        )
    errors = [
        [
            PUBLISHED_NAMES[name],
            f"{value:.4f}",
            comparison.text(name, "revenue_mse", digits=3),
            "" if name == "tsm" else shown(comparison.pair(name, "tsm", "revenue_mse"), digits=3),
        ]
        for name, value in MARKETING_MSE.items()
    ]
    return [
        comparison.heading(),
        "",
        "Orders at six rising budgets, relative to TSM-SL at the first.",
        "",
        *table(
            [
                "method",
                "",
                "1",
                "2",
                "3",
                "4",
                "5",
                "6",
                "mean gain, interval over training seeds",
                "of the best possible less TSM-SL, points",
                "agreement",
            ],
            rows,
        ),
        "",
        agreement_sentence([row[-1] for row in rows[3::2]]),
        "",
        "In brackets the standard deviation over training seeds. Budgets are ours, so the levels differ; the gains can be "
        "compared. Plans are cut by the evaluated cost, as published. The column before the last is by the known truth of "
        "the simulated trial, at equal true spend, and judges the agreement.",
        "",
        *table(
            ["method", "MSE, published", "MSE of orders, ours", "less TSM-SL, interval over training seeds"], errors
        ),
    ]


def alpha_block(comparison):
    rows = []
    for name, entry in comparison.entries.items():
        rows.append(
            [
                name,
                comparison.text(name, "share_of_oracle", scale=100, digits=1),
                "" if name == "tsm" else shown(comparison.pair(name, "tsm", "share_of_oracle", scale=100)),
                "" if not entry["swept"] else shown(comparison.pair(name, "dfcl-ifd", "share_of_oracle", scale=100)),
            ]
        )
    return [
        comparison.heading(),
        "",
        *table(["entry", "% of the best possible", "less tsm, points", "less dfcl-ifd as it is, points"], rows),
        "",
        finding_sentence(alpha_findings(comparison)),
        "",
        "Intervals over training seeds, at equal true spend. Published as a figure without numbers: alpha from 0.1 to 10 "
        "at one budget.",
    ]


def multipliers_block(comparison):
    rows = [
        [
            name,
            *(comparison.text(name, "share_of_oracle", budget, 100, 1) for budget in comparison.budgets),
            "" if name == "tsm" else shown(comparison.pair(name, "tsm", "share_of_oracle", scale=100)),
        ]
        for name in comparison.entries
    ]
    return [
        comparison.heading(),
        "",
        *table(
            [
                "trained on",
                *(f"budget {number}" for number in range(1, len(comparison.budgets) + 1)),
                "mean less tsm, points",
            ],
            rows,
        ),
        "",
        finding_sentence(multipliers_findings(comparison)),
        "",
        "Per cent of the best possible increment at equal true spend; in brackets the standard deviation over training "
        "seeds. dfcl-ifd without a set takes the "
        "multipliers of the budgets. Published as a figure without numbers.",
    ]


def measures_block(comparison):
    rows = []
    for name, entry in comparison.entries.items():
        rows.append(
            [
                name,
                comparison.text(name, "share_of_oracle", scale=100, digits=1),
                "" if name == "tsm" else shown(comparison.pair(name, "tsm", "share_of_oracle", scale=100)),
                shown(comparison.pair(name, entry["method"], "share_of_oracle", scale=100)) if entry["swept"] else "",
            ]
        )
    return [
        comparison.heading(),
        "",
        *table(["entry", "% of the best possible", "less tsm, points", "less the same method as it is, points"], rows),
        "",
        "Intervals over training seeds, at equal true spend, mean of six budgets.",
    ]


def online_block(folder):
    results, made = json.loads((folder / "online-results.json").read_text()), json.loads(
        (folder / "online.json").read_text()
    )
    rows = []
    for group in results["total"]:
        gain, published = group["gain"], ONLINE.get(group["method"])
        found = tuple(100 * gain[key] for key in ("value", "low", "high")) if published else None
        rows.append(
            [
                group["method"],
                f"{published:+.2f} %" if published else "",
                shown(found, " %") if found else "the reference",
                agreement(published, found) if found else "",
            ]
        )
    return [
        f"{made['source'].capitalize()}, 28 days, controller of spend on. Seed {made['seed']}. "
        f"dfcl {made['version']}, {made['date']}, {made['machine']}.",
        "",
        *table(["method", "gain over TSM-SL, published", "ours, 95 % interval over shops", "agreement"], rows),
        "",
        agreement_sentence([row[-1] for row in rows[1:]]),
        "",
        "The published weeks, orders relative to TSM-SL's first. Other shops, other weeks: only gains can be compared.",
        "",
        *table(
            ["method", "week 1", "week 2", "week 3", "week 4"],
            [[method, *(f"{week:.4f}" for week in weeks)] for method, weeks in ONLINE_WEEKS.items()],
        ),
    ]


def finding_sentence(lines):
    """The agreement with findings that were published in words only."""
    return "Published: " + "; ".join(f"{finding}: {status}" for finding, status, _ in lines) + "."


def findings_block(folder, read):
    rows = [[finding, f"**{status}**", figures] for finding, status, figures in findings(folder, read)]
    return (
        [
            *table(["published finding", "here", "figures, 95 % intervals"], rows),
            "",
            "Confirmed: every interval lies where the finding says; not confirmed: one lies on the other side; else it "
            "cannot be told. Unless said otherwise figures are points of the best possible increment at equal true spend, "
            "with t-intervals over training seeds on one simulated trial: they hold the luck of training, not that of the "
            "trial.",
        ]
        if rows
        else []
    )


def refresh(page, folder):
    """Rewrites the blocks whose results are in the folder."""

    def read(name):
        there = (folder / f"{name}.json").exists() and (folder / name / "results.json").exists()
        return Comparison(folder, name) if there else None

    blocks = {}
    for name, make in (
        ("criteo", criteo_block),
        ("criteo-data", criteo_block),
        ("marketing", marketing_block),
        ("alpha", alpha_block),
        ("multipliers", multipliers_block),
        ("measures", measures_block),
    ):
        if comparison := read(name):
            blocks[name] = make(comparison)
    if (folder / "online.json").exists() and (folder / "online-results.json").exists():
        blocks["online"] = online_block(folder)
    if lines := findings_block(folder, read):
        blocks["findings"] = lines
    for name, lines in blocks.items():
        replace_block(page, name, lines)

# SPDX-License-Identifier: Apache-2.0
"""One line for each published finding: confirmed, not confirmed, or cannot be told, with the figures it is judged by."""

import json

from judging import judged, minus, shown, within
from published import ONLINE, PUBLISHED_NAMES


def criteo_findings(comparison, where):
    losses = {
        name: comparison.pair(name, "tsm", "revenue_log_loss", scale=1000)
        for name in ("dfcl-pl", "dfcl-mer", "dfcl-ifd")
    }
    yield "two-stage is best on log loss", judged(
        *losses.values()
    ), f"{where}, 1000 x log loss less two-stage: " + "; ".join(
        f"{name} {shown(found, digits=3)}" for name, found in losses.items()
    )
    units = comparison.over_units("dfcl-ifd")
    rivals = {name: comparison.pair("dfcl-ifd", name, "aucc") for name in ("dfcl-pl", "dfcl-mer", "drp")}
    text = "; ".join(f"less {name} {shown(found, digits=3)}" for name, found in rivals.items())
    yield "DFCL-IFD is best on AUCC", judged(units, *rivals.values()), (
        f"{where}: less two-stage {shown(units, digits=3) if units else 'no interval, totals too near zero'} over test "
        f"units; over training seeds {text}"
    )
    alike = {name: comparison.pair("dfcl-pl", name, "aucc") for name in ("dfcl-mer", "drp")}
    statuses = {within(found, 0.01) for found in alike.values()}
    status = next(one for one in ("not confirmed", "cannot be told", "confirmed") if one in statuses)
    yield "PL, MER and DPM are alike on AUCC", status, (
        f"{where}: PL less MER {shown(alike['dfcl-mer'], digits=3)}, less DPM {shown(alike['drp'], digits=3)}; "
        "within 0.01 counts as alike"
    )


def marketing_findings(comparison):
    share = lambda name, other, budget=None: comparison.pair(name, other, "share_of_oracle", budget, 100)
    errors = {name: comparison.pair(name, "tsm", "revenue_mse") for name in ("dfcl-pl", "dfcl-mer", "dfcl-ifd")}
    yield "two-stage is best on MSE", judged(*errors.values()), "MSE less two-stage: " + "; ".join(
        f"{name} {shown(found, digits=3)}" for name, found in errors.items()
    )
    low, high = share("dpm", "tsm", comparison.budgets[0]), share("dpm", "tsm", comparison.budgets[-1])
    status = judged(high) if low is None or low[1] <= 0 <= low[2] else "not confirmed"
    yield "DPM is equal to two-stage at low budgets and better at high", status, (
        f"lowest budget {shown(low)}, highest {shown(high)}"
    )
    yield "CN is slightly above two-stage", judged(share("cn", "tsm")), shown(share("cn", "tsm"))
    yield "CN+PL is below PL", judged(
        share("dfcl-pl", "dfcl-pl cn")
    ), f"PL less CN+PL: {shown(share('dfcl-pl', 'dfcl-pl cn'))}"
    for name in ("dfcl-pl", "dfcl-mer", "dfcl-ifd"):
        yield f"{PUBLISHED_NAMES[name]} decides better than two-stage", judged(share(name, "tsm")), shown(
            share(name, "tsm")
        )
    forest = share("tsm-forest", "tsm")
    yield "the forest is no better than the two-stage network", judged(
        minus(forest)
    ), f"forest less network: {shown(forest)}"


def alpha_findings(comparison):
    pair = lambda a, b: comparison.pair(f"dfcl-ifd alpha={a}", f"dfcl-ifd alpha={b}", "share_of_oracle", scale=100)
    rise = pair("3", "0.1")
    margin = None if rise is None else (rise[0] + 1, rise[1] + 1, rise[2] + 1)  # a point is what we call nothing
    yield "raising alpha over a range costs nothing", judged(
        margin
    ), f"alpha 3 less alpha 0.1: {shown(rise)}; a loss of one point counts as nothing"
    near, far = comparison.pair("dfcl-ifd alpha=10", "tsm", "share_of_oracle", scale=100), comparison.pair(
        "dfcl-ifd alpha=0.1", "tsm", "share_of_oracle", scale=100
    )
    yield "too large an alpha becomes two-stage", within(
        near, 1
    ), f"less two-stage: alpha 10 {shown(near)}, alpha 0.1 {shown(far)}; within a point counts as the same"


def multipliers_findings(comparison):
    small, large, several = "dfcl-ifd multipliers=[0.1]", "dfcl-ifd multipliers=[8]", "dfcl-ifd multipliers=[0.5, 2, 8]"
    at = lambda budget: comparison.pair(small, large, "share_of_oracle", budget, 100)
    low, high = at(comparison.budgets[0]), at(comparison.budgets[-1])
    yield "small multipliers serve high budgets, large ones low budgets", judged(
        minus(low), high
    ), f"small less large: lowest budget {shown(low)}, highest {shown(high)}"
    both = [comparison.pair(several, one, "share_of_oracle", scale=100) for one in (small, large)]
    yield "several multipliers balance", judged(
        *both
    ), f"several less small {shown(both[0])}, less large {shown(both[1])}"


def findings(folder, read):
    """(finding, status, figures) for everything that was run."""
    for name, where in (("criteo", "simulated"), ("criteo-data", "data of Criteo")):
        if comparison := read(name):
            yield from criteo_findings(comparison, where)
    for name, lines in (
        ("marketing", marketing_findings),
        ("alpha", alpha_findings),
        ("multipliers", multipliers_findings),
    ):
        if comparison := read(name):
            yield from lines(comparison)
    if (folder / "online.json").exists() and (folder / "online-results.json").exists():
        for group in json.loads((folder / "online-results.json").read_text())["total"]:
            if group["method"] in ONLINE:
                found = tuple(100 * group["gain"][key] for key in ("value", "low", "high"))
                yield f"four weeks online: {group['method']} earns more than two-stage", judged(
                    found
                ), f"{shown(found, ' %')}, published {ONLINE[group['method']]:+.2f} %"
    if (folder / "speed.json").exists():
        made = json.loads((folder / "speed.json").read_text())
        plain, improved = (made["seconds_per_epoch"][name] for name in ("fd", "ifd"))
        yield "an epoch of IFD costs a small part of one of FD", (
            "confirmed" if plain > 10 * improved else "not confirmed"
        ), (f"{made['rows']:,} rows: {plain:.3g} s against {improved:.3g} s, no interval (one run)")

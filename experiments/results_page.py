# SPDX-License-Identifier: Apache-2.0
"""The blocks of docs/results.md that come from experiments/run.py: published figures with ours beside them, and one line for
each published finding. Every figure and every judgement is computed from the results of a run; none is written by hand.

A block stands between <!-- begin NAME --> and <!-- end NAME -->. A block whose results are not there stays as it is, and so
does everything outside of blocks.
"""
import json
import math
import re
import statistics

# As published (section 7 of docs/method.md): mean and standard deviation over seeds.
CRITEO_AUCC = {"tsm": (0.7561, 0.0113), "tsm-forest": (0.7558, 0.0012), "drp": (0.7739, 0.0002),
               "dfcl-pl": (0.7713, 0.0025), "dfcl-mer": (0.7727, 0.0015), "dfcl-ifd": (0.7859, 0.0021)}  # fmt: skip
CRITEO_LOG_LOSS = {"tsm": (0.2165, 0.0001), "dfcl-pl": (0.2186, 0.0008), "dfcl-mer": (0.2178, 0.0012), "dfcl-ifd": (0.2170, 0.0003)}
MARKETING = {  # orders at six budgets relative to the two-stage model at the first; the stated mean gain in per cent
    "tsm": ([1.0000, 1.0300, 1.0611, 1.0873, 1.1140, 1.1437], None),
    "tsm-forest": ([1.0006, 1.0306, 1.0592, 1.0866, 1.1109, 1.1353], -0.19),
    "dpm": ([0.9983, 1.0366, 1.0720, 1.1050, 1.1305, 1.1594], 1.00),
    "cn": ([1.0047, 1.0339, 1.0622, 1.0910, 1.1151, 1.1384], 0.16),
    "dfcl-pl cn": ([0.9995, 1.0366, 1.0739, 1.1071, 1.1367, 1.1650], 1.26),
    "dfcl-pl": ([1.0104, 1.0465, 1.0812, 1.1118, 1.1407, 1.1638], 1.98),
    "dfcl-mer": ([1.0178, 1.0501, 1.0810, 1.1121, 1.1410, 1.1674], 2.06),
    "dfcl-ifd": ([1.0197, 1.0574, 1.0902, 1.1221, 1.1516, 1.1796], 2.85),
}
MARKETING_MSE = {"tsm": 0.2625, "cn": 0.2639, "dfcl-pl cn": 0.2703, "dfcl-pl": 0.2678, "dfcl-mer": 0.2650, "dfcl-ifd": 0.2642}
PUBLISHED_NAMES = {"tsm": "TSM-SL", "tsm-forest": "TSM-CF", "drp": "DPM (drp)", "dpm": "DPM", "cn": "CN", "dfcl-pl cn": "CN+DFCL-PL",
                   "dfcl-pl": "DFCL-PL", "dfcl-mer": "DFCL-MER", "dfcl-ifd": "DFCL-IFD"}  # fmt: skip
ONLINE = {"dpm": 1.32, "dfcl-ifd": 2.17}
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
        return f"{one['mean'] * scale:.{digits}f}" + (f" ({one['sd'] * scale:.{digits}f})" if one["sd"] is not None else "")

    def pair(self, name, other, figure, budget=None, scale=1.0):
        """name less other over the seeds both have: (mean, low, high), or None."""
        a, b = self.figure(name, figure, budget), self.figure(other, figure, budget)
        if a is None or b is None:
            return None
        beside = dict(zip(b["seeds"], b["values"]))
        return interval([scale * (value - beside[seed]) for seed, value in zip(a["seeds"], a["values"]) if seed in beside])

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
        text = (f"Trial: {made['source']}; {self.results['trial']['units']:,} test units. Training seeds {seeds}. dfcl {made['version']}, {made['date']}, "
                f"{made['machine']}, {made['seconds'] / 60:.0f} minutes.")  # fmt: skip
        if self.results["verdict"]["status"] == "unfit":
            text += " `dfcl check` calls this trial unfit: " + (self.results["check"]["problems"] or [{"text": ""}])[0]["text"]
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
    return "Differences from two-stage, counted: " + ", ".join(f"{words.count(word)} x {word}" for word in dict.fromkeys(words)) + "."


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
        rows.append([f"{PUBLISHED_NAMES.get(plain, plain)}{name[len(plain):]}", as_text(published), aucc_text(comparison, name),
                     "" if name == "tsm" else shown(units, digits=3) if units else "no interval: totals too near zero",
                     comparison.text(name, "share_of_oracle", scale=100, digits=1), as_text(loss), comparison.text(name, "revenue_log_loss"),
                     "the reference" if name == "tsm" else agreement(gap, units or comparison.pair(name, "tsm", "share_of_oracle"))])  # fmt: skip
    lines = [comparison.heading(), "", *table(["method", "AUCC, published", "AUCC, ours", "less TSM-SL, 95 % interval over test units",
             "% of the best possible", "log loss, published", "log loss of conversion, ours", "agreement"], rows)]  # fmt: skip
    lines += ["", agreement_sentence([row[-1] for row in rows[1:]]), "", "In brackets the standard deviation over training seeds. Agreement is judged by the AUCC; where it has no interval, by the share of the best possible "
              "and its interval over training seeds. The published trial is 14 million rows; ours is stated above, and levels "
              "of AUCC and log loss depend on the trial: only differences between methods can agree or not."]  # fmt: skip
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
        rows.append([PUBLISHED_NAMES[name], "published", *(f"{value:.4f}" for value in published), f"{gain:+.2f} %" if gain else "", "", ""])
        ours = [comparison.text(name, "matched_revenue", budget, 1 / base) for budget in comparison.budgets]
        found = comparison.pair(name, "tsm", "gain", scale=100)
        truth = comparison.pair(name, "tsm", "share_of_oracle", scale=100)
        rows.append(["", "ours", *ours, "" if name == "tsm" else shown(found, " %"), "" if name == "tsm" else shown(truth),
                     "the reference" if name == "tsm" else agreement(gain, truth or found)])  # fmt: skip
    errors = [[PUBLISHED_NAMES[name], f"{value:.4f}", comparison.text(name, "revenue_mse", digits=3), "" if name == "tsm" else shown(comparison.pair(name, "tsm", "revenue_mse"), digits=3)]
              for name, value in MARKETING_MSE.items()]  # fmt: skip
    return [comparison.heading(), "", "Orders at six rising budgets, relative to TSM-SL at the first.", "",
            *table(["method", "", "1", "2", "3", "4", "5", "6", "mean gain, interval over training seeds", "of the best possible less TSM-SL, points", "agreement"], rows),
            "", agreement_sentence([row[-1] for row in rows[3::2]]), "", "In brackets the standard deviation over training seeds. Budgets are ours, so the levels differ; the gains can be compared. Plans are cut by the evaluated cost, "
            "as published. The column before the last is by the known truth of the simulated trial, at equal true spend, and judges the agreement.", "",
            *table(["method", "MSE, published", "MSE of orders, ours", "less TSM-SL, interval over training seeds"], errors)]  # fmt: skip


def alpha_block(comparison):
    rows = []
    for name, entry in comparison.entries.items():
        rows.append([name, comparison.text(name, "share_of_oracle", scale=100, digits=1), "" if name == "tsm" else shown(comparison.pair(name, "tsm", "share_of_oracle", scale=100)),
                     "" if not entry["swept"] else shown(comparison.pair(name, "dfcl-ifd", "share_of_oracle", scale=100))])  # fmt: skip
    return [comparison.heading(), "", *table(["entry", "% of the best possible", "less tsm, points", "less dfcl-ifd as it is, points"], rows),
            "", finding_sentence(alpha_findings(comparison)), "", "Intervals over training seeds, at equal true spend. Published as a figure without numbers: alpha from 0.1 to 10 at one budget."]  # fmt: skip


def multipliers_block(comparison):
    rows = [[name, *(comparison.text(name, "share_of_oracle", budget, 100, 1) for budget in comparison.budgets),
             "" if name == "tsm" else shown(comparison.pair(name, "tsm", "share_of_oracle", scale=100))] for name in comparison.entries]  # fmt: skip
    return [comparison.heading(), "", *table(["trained on", *(f"budget {number}" for number in range(1, len(comparison.budgets) + 1)), "mean less tsm, points"], rows),
            "", finding_sentence(multipliers_findings(comparison)), "", "Per cent of the best possible increment at equal true spend; in brackets the standard deviation over training seeds. dfcl-ifd without a set takes the "
            "multipliers of the budgets. Published as a figure without numbers."]  # fmt: skip


def measures_block(comparison):
    rows = []
    for name, entry in comparison.entries.items():
        rows.append([name, comparison.text(name, "share_of_oracle", scale=100, digits=1), "" if name == "tsm" else shown(comparison.pair(name, "tsm", "share_of_oracle", scale=100)),
                     shown(comparison.pair(name, entry["method"], "share_of_oracle", scale=100)) if entry["swept"] else ""])  # fmt: skip
    return [comparison.heading(), "", *table(["entry", "% of the best possible", "less tsm, points", "less the same method as it is, points"], rows),
            "", "Intervals over training seeds, at equal true spend, mean of six budgets."]  # fmt: skip


def online_block(folder):
    results, made = json.loads((folder / "online-results.json").read_text()), json.loads((folder / "online.json").read_text())
    rows = []
    for group in results["total"]:
        gain, published = group["gain"], ONLINE.get(group["method"])
        found = tuple(100 * gain[key] for key in ("value", "low", "high")) if published else None
        rows.append([group["method"], f"{published:+.2f} %" if published else "", shown(found, " %") if found else "the reference", agreement(published, found) if found else ""])
    return [f"{made['source'].capitalize()}, 28 days, controller of spend on. Seed {made['seed']}. dfcl {made['version']}, {made['date']}, {made['machine']}, {made['seconds'] / 60:.0f} minutes.",
            "", *table(["method", "gain over TSM-SL, published", "ours, 95 % interval over shops", "agreement"], rows), "", agreement_sentence([row[-1] for row in rows[1:]])]  # fmt: skip


def finding_sentence(lines):
    """The agreement with findings that were published in words only."""
    return "Published: " + "; ".join(f"{finding}: {status}" for finding, status, _ in lines) + "."


def criteo_findings(comparison, where):
    losses = {name: comparison.pair(name, "tsm", "revenue_log_loss", scale=1000) for name in ("dfcl-pl", "dfcl-mer", "dfcl-ifd")}
    yield "two-stage is best on log loss", judged(*losses.values()), f"{where}, 1000 x log loss less two-stage: " + "; ".join(f"{name} {shown(found, digits=3)}" for name, found in losses.items())
    units = comparison.over_units("dfcl-ifd")
    rivals = {name: comparison.pair("dfcl-ifd", name, "aucc") for name in ("dfcl-pl", "dfcl-mer", "drp")}
    text = "; ".join(f"less {name} {shown(found, digits=3)}" for name, found in rivals.items())
    yield "DFCL-IFD is best on AUCC", judged(units, *rivals.values()), (
        f"{where}: less two-stage {shown(units, digits=3) if units else 'no interval, totals too near zero'} over test units; over training seeds {text}")
    alike = {name: comparison.pair("dfcl-pl", name, "aucc") for name in ("dfcl-mer", "drp")}
    statuses = {within(found, 0.01) for found in alike.values()}
    status = next(one for one in ("not confirmed", "cannot be told", "confirmed") if one in statuses)
    yield "PL, MER and DPM are alike on AUCC", status, f"{where}: PL less MER {shown(alike['dfcl-mer'], digits=3)}, less DPM {shown(alike['drp'], digits=3)}; within 0.01 counts as alike"


def marketing_findings(comparison):
    share = lambda name, other, budget=None: comparison.pair(name, other, "share_of_oracle", budget, 100)
    errors = {name: comparison.pair(name, "tsm", "revenue_mse") for name in ("dfcl-pl", "dfcl-mer", "dfcl-ifd")}
    yield "two-stage is best on MSE", judged(*errors.values()), "MSE less two-stage: " + "; ".join(f"{name} {shown(found, digits=3)}" for name, found in errors.items())
    low, high = share("dpm", "tsm", comparison.budgets[0]), share("dpm", "tsm", comparison.budgets[-1])
    status = judged(high) if low is None or low[1] <= 0 <= low[2] else "not confirmed"
    yield "DPM is equal to two-stage at low budgets and better at high", status, f"lowest budget {shown(low)}, highest {shown(high)}"
    yield "CN is slightly above two-stage", judged(share("cn", "tsm")), shown(share("cn", "tsm"))
    yield "CN+PL is below PL", judged(share("dfcl-pl", "dfcl-pl cn")), f"PL less CN+PL: {shown(share('dfcl-pl', 'dfcl-pl cn'))}"
    for name in ("dfcl-pl", "dfcl-mer", "dfcl-ifd"):
        yield f"{PUBLISHED_NAMES[name]} decides better than two-stage", judged(share(name, "tsm")), shown(share(name, "tsm"))
    forest = share("tsm-forest", "tsm")
    yield "the forest is no better than the two-stage network", judged(minus(forest)), f"forest less network: {shown(forest)}"


def alpha_findings(comparison):
    pair = lambda a, b: comparison.pair(f"dfcl-ifd alpha={a}", f"dfcl-ifd alpha={b}", "share_of_oracle", scale=100)
    rise = pair("3", "0.1")
    margin = None if rise is None else (rise[0] + 1, rise[1] + 1, rise[2] + 1)  # a point is what we call nothing
    yield "raising alpha over a range costs nothing", judged(margin), f"alpha 3 less alpha 0.1: {shown(rise)}; a loss of one point counts as nothing"
    near, far = comparison.pair("dfcl-ifd alpha=10", "tsm", "share_of_oracle", scale=100), comparison.pair("dfcl-ifd alpha=0.1", "tsm", "share_of_oracle", scale=100)
    yield "too large an alpha becomes two-stage", within(near, 1), f"less two-stage: alpha 10 {shown(near)}, alpha 0.1 {shown(far)}; within a point counts as the same"


def multipliers_findings(comparison):
    small, large, several = "dfcl-ifd multipliers=[0.1]", "dfcl-ifd multipliers=[8]", "dfcl-ifd multipliers=[0.5, 2, 8]"
    at = lambda budget: comparison.pair(small, large, "share_of_oracle", budget, 100)
    low, high = at(comparison.budgets[0]), at(comparison.budgets[-1])
    yield "small multipliers serve high budgets, large ones low budgets", judged(minus(low), high), f"small less large: lowest budget {shown(low)}, highest {shown(high)}"
    both = [comparison.pair(several, one, "share_of_oracle", scale=100) for one in (small, large)]
    yield "several multipliers balance", judged(*both), f"several less small {shown(both[0])}, less large {shown(both[1])}"


def findings(folder, read):
    """(finding, status, figures) for everything that was run."""
    for name, where in (("criteo", "simulated"), ("criteo-data", "data of Criteo")):
        if comparison := read(name):
            yield from criteo_findings(comparison, where)
    for name, lines in (("marketing", marketing_findings), ("alpha", alpha_findings), ("multipliers", multipliers_findings)):
        if comparison := read(name):
            yield from lines(comparison)
    if (folder / "online.json").exists() and (folder / "online-results.json").exists():
        for group in json.loads((folder / "online-results.json").read_text())["total"]:
            if group["method"] in ONLINE:
                found = tuple(100 * group["gain"][key] for key in ("value", "low", "high"))
                yield f"four weeks online: {group['method']} earns more than two-stage", judged(found), f"{shown(found, ' %')}, published {ONLINE[group['method']]:+.2f} %"
    if (folder / "speed.json").exists():
        made = json.loads((folder / "speed.json").read_text())
        plain, improved = (made["seconds_per_epoch"][name] for name in ("dfcl-fd", "dfcl-ifd"))
        yield "an epoch of IFD costs a small part of one of FD", "confirmed" if plain > 10 * improved else "not confirmed", (
            f"{made['rows']:,} rows: {plain:.3g} s against {improved:.3g} s, no interval (one run)")


def findings_block(folder, read):
    rows = [[finding, f"**{status}**", figures] for finding, status, figures in findings(folder, read)]
    return [*table(["published finding", "here", "figures, 95 % intervals"], rows), "",
            "Confirmed: every interval lies where the finding says; not confirmed: one lies on the other side; else it cannot be told. Unless said otherwise figures are points of "
            "the best possible increment at equal true spend, with t-intervals over training seeds on one simulated trial: they hold the luck of training, not that of the "
            "trial."] if rows else []  # fmt: skip


def refresh(page, folder):
    """Rewrites the blocks whose results are in the folder."""
    def read(name):
        there = (folder / f"{name}.json").exists() and (folder / name / "results.json").exists()
        return Comparison(folder, name) if there else None

    blocks = {}
    for name, make in (("criteo", criteo_block), ("criteo-data", criteo_block), ("marketing", marketing_block),
                       ("alpha", alpha_block), ("multipliers", multipliers_block), ("measures", measures_block)):  # fmt: skip
        if comparison := read(name):
            blocks[name] = make(comparison)
    if (folder / "online.json").exists() and (folder / "online-results.json").exists():
        blocks["online"] = online_block(folder)
    if lines := findings_block(folder, read):
        blocks["findings"] = lines
    text = page.read_text()
    for name, lines in blocks.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"{page} has no block '{name}'")
        text = pattern.sub(lambda found: found.group(1) + "\n" + "\n".join(lines) + "\n\n" + found.group(2), text)
    page.write_text(text)

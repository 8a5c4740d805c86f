# SPDX-License-Identifier: Apache-2.0
"""Sample weights and guardrails through check, train, evaluate and readout, on a small made-up trial."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import answer, good

DATA = 3
ROWS = 3000


def trial(weight=None, rows=ROWS):
    """Two arms; the effect is 1 where x is large. Returns are harmed by 0.3 in the treated arm."""
    random = np.random.default_rng(3)
    x = random.random(rows)
    treated = random.random(rows) < 0.5
    columns = {
        "id": np.arange(rows) + 1,
        "arm": np.where(treated, "on", "off"),
        "earned": np.round(4 + 2 * x + 2.0 * (x > 0.5) * treated + random.normal(size=rows), 3),
        "spent": np.where(treated, 0.5, 0.0),
        "x": x,
        "returns": np.round(1 + 0.3 * treated + 0.3 * random.normal(size=rows), 3),
    }
    return columns | ({} if weight is None else {"w": weight})


def make(folder, columns, more=""):
    pq.write_table(pa.table(columns), folder / "trial.parquet")
    guarded = "" if "guardrails" in more else 'exclude = ["returns"]\n'
    (folder / "study.toml").write_text(
        'format = 2\n[data]\ntrial = "trial.parquet"\n[columns]\nid = "id"\narm = "arm"\nrevenue = "earned"\ncost = "spent"\n'
        f'{guarded}{more}[arms]\ncontrol = "off"\n[budgets]\nper_unit = [0.2]\n[value]\nmargin = 0.9\n'
        "[boost]\ntrees = 30\n[forest]\ntrees = 10\n[method]\nepochs = 2\n"
    )


def test_equal_weights_change_no_byte(dfcl, tmp_path):
    written = []
    for weight, more in ((None, ""), (np.full(ROWS, 3.0), 'weight = "w"\n')):
        make(tmp_path, trial(weight), more)
        checked = good(dfcl("check", "study.toml", "--json")).stdout
        good(dfcl("train", "study.toml", "--method", "tsm-boost", "-o", "model.safetensors"))
        good(dfcl("predict", "model.safetensors", "trial.parquet", "-o", "predictions.csv"))
        results = answer(dfcl("evaluate", "study.toml", "predictions.csv", "--allow-training-rows", "--resamples", 50, "--json"))
        results.pop("made_by")
        written.append((checked, (tmp_path / "predictions.csv").read_bytes(), results))
    assert written[0] == written[1]


@pytest.mark.parametrize("method", ["tsm", "tsm-boost", "tsm-forest", "dfcl-mer", "dpm", "auto"])
def test_every_learner_takes_weights(dfcl, tmp_path, method):
    """Rows where treatment does nothing weigh next to nothing: the learned effect is that of the others."""
    columns = trial()
    weight = np.where(columns["x"] > 0.5, 1.0, 0.001)
    make(tmp_path, columns | {"w": weight}, 'weight = "w"\n')
    good(dfcl("train", "study.toml", "--method", method, "-o", "weighted.safetensors"))
    (tmp_path / "study.toml").write_text((tmp_path / "study.toml").read_text().replace('weight = "w"', 'exclude = ["w", "returns"]').replace('exclude = ["returns"]\n', ""))
    good(dfcl("train", "study.toml", "--method", method, "-o", "plain.safetensors"))
    assert (tmp_path / "weighted.safetensors").read_bytes() != (tmp_path / "plain.safetensors").read_bytes()
    if method in ("dpm", "tsm", "dfcl-mer"):
        return  # two epochs, or an index: no level to compare
    effects = {}
    for name in ("weighted", "plain"):
        good(dfcl("predict", f"{name}.safetensors", "trial.parquet", "-o", "predictions.parquet"))
        table = pq.read_table(tmp_path / "predictions.parquet")
        effects[name] = (table["revenue_on"].to_numpy() - table["revenue_off"].to_numpy()).mean()
    assert effects["weighted"] > effects["plain"] + 0.2


def test_what_is_weighted_is_said(dfcl, tmp_path):
    columns = trial(np.where(np.arange(ROWS) % 2 == 0, 1.0, 2.0))
    make(tmp_path, columns, 'weight = "w"\n')
    text = good(dfcl("check", "study.toml")).stdout
    assert "means and balance by sample weight, shares by rows" in text
    treated = columns["arm"] == "on"
    mean = np.average(columns["earned"][treated], weights=columns["w"][treated])
    arms = answer(dfcl("check", "study.toml", "--json"))["arms"]
    assert next(one for one in arms if one["arm"] == "on")["revenue"]["value"] == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize("bad, what", [(-1.0, "a negative sample weight"), (float("nan"), "not a finite number")])
def test_a_weight_that_is_none_is_refused_with_its_row(dfcl, tmp_path, bad, what):
    weight = np.ones(ROWS)
    weight[17] = bad
    make(tmp_path, trial(weight), 'weight = "w"\n')
    refused = dfcl("check", "study.toml")
    assert refused.code == DATA and what in refused.stderr and "column 'w'" in refused.stderr and "18" in refused.stderr


def test_guardrails_are_listed_estimated_and_judged(dfcl, tmp_path):
    make(tmp_path, trial(), 'guardrails = ["returns"]\n')
    checked = good(dfcl("check", "study.toml")).stdout
    assert "Guardrails, mean by arm" in checked and "returns" in checked
    good(dfcl("train", "study.toml", "--method", "tsm-boost", "-o", "model.safetensors"))
    info = good(dfcl("info", "model.safetensors", "--json")).stdout
    assert '"returns"' not in info.split('"features"')[-1]
    results = answer(dfcl("evaluate", "study.toml", "model.safetensors", "--resamples", 100, "--json"))
    plan = results["models"][0]["deployed"][0]
    (returns,) = plan["guardrails"]
    truth = 0.3 * plan["share_per_arm"][1]
    assert returns["increment"]["low"] < truth < returns["increment"]["high"] and returns["harmed"] == "yes"
    assert results["verdict"]["status"] == "harms"
    first = good(dfcl("evaluate", "study.toml", "model.safetensors", "--resamples", 100)).stdout
    assert first.startswith("Do not launch: every plan that gains harms a guardrail.")
    assert "returns: +" in " ".join(first.split())


def test_a_readout_judges_guardrails_and_weights(dfcl, tmp_path):
    random = np.random.default_rng(5)
    units = 4000
    predictions = {"id": np.arange(units) + 1, "revenue_0": np.full(units, 5.0), "cost_0": np.zeros(units)}
    predictions |= {"revenue_1": 6.0 + random.random(units), "cost_1": np.ones(units)}
    pq.write_table(pa.table(predictions), tmp_path / "predictions.parquet")
    good(dfcl("allocate", "predictions.parquet", "--control", "0", "--budget", 2000, "--holdout", 0.2, "-o", "plan.parquet"))
    plan = pq.read_table(tmp_path / "plan.parquet").to_pydict()
    got = np.array([arm == "1" for arm in plan["arm"]])
    weight = 1.0 + random.integers(0, 3, units)
    outcomes = {
        "id": plan["id"],
        "role": plan["role"],
        "arm": plan["arm"],
        "revenue": 5 + got * weight + random.normal(size=units),
        "cost": got * 1.0,
        "w": weight,
        "refunds": 1 + 0.4 * got + 0.3 * random.normal(size=units),
    }
    pq.write_table(pa.table(outcomes), tmp_path / "outcomes.parquet")
    results = answer(dfcl("readout", "plan.parquet", "outcomes.parquet", "--guardrail", "refunds", "--weight", "w", "--json"))
    (refunds,) = results["readout"]["guardrails"]
    assert refunds["harmed"] == "yes" and refunds["increment"]["low"] < 0.4 * got[np.array(plan["role"]) == "plan"].mean() < refunds["increment"]["high"]
    assert "Guardrails: refunds: +" in results["verdict"]["sentence"] and "harmed" in results["verdict"]["sentence"]
    in_plan = np.array(plan["role"]) == "plan"
    held = np.array(plan["role"]) == "holdout"
    gain = np.average(outcomes["revenue"][in_plan], weights=weight[in_plan]) - np.average(outcomes["revenue"][held], weights=weight[held])
    assert results["readout"]["per_unit"]["incremental_revenue"]["value"] == pytest.approx(gain, rel=0.02)

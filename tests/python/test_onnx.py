# SPDX-License-Identifier: Apache-2.0
"""Exported graphs give onnxruntime the predictions of dfcl."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest

import dfcl


def trial_of(kind, rows=4000):
    """Numbers (one heavy-tailed, one with codes for missing), categories, missing values."""
    random = np.random.default_rng(5)
    x = random.normal(size=rows)
    heavy = np.exp(3 * random.normal(size=rows))
    heavy[0] = 1e6
    coded = random.normal(size=rows)
    x[::40] = np.nan
    coded[::30] = -999
    city = random.choice(["Ulm", "Bonn", "Kiel", ""], rows)
    arm = random.integers(0, 3, rows)
    base = 1 + arm * (1 + np.tanh(np.nan_to_num(x)))
    revenue = {
        "real": base + random.normal(size=rows),
        "non_negative": random.poisson(base).astype(float),
        "binary": (random.uniform(size=rows) < base / 10).astype(float),
        # What a unit earns anyway says nothing of the effect, which trees with a log link do not believe.
        "steep": np.random.default_rng(5).poisson(8 * np.exp(np.nan_to_num(x)) + 3 * arm * (coded > 0)).astype(float),
    }[kind]
    cost = arm * random.uniform(0.1, 0.3, rows)
    return {"x": x, "heavy": heavy, "coded": coded, "city": city, "arm": arm, "revenue": revenue, "cost": cost}


CASES = {
    "real": ("real", {}),
    "log link": ("non_negative", {"method.name": "dfcl-mer"}),
    "binary": ("binary", {"network.revenue_kind": "binary"}),
    "monotone": ("real", {"method.monotone": ["revenue", "cost"]}),
    "monotone log": ("non_negative", {"method.monotone": ["revenue"], "cost.non_negative": True}),
    "monotone binary": ("binary", {"method.monotone": ["revenue"], "network.revenue_kind": "binary"}),
    "concave": ("real", {"method.concave": ["revenue"]}),
    "free control": ("real", {"cost.control_is_free": True, "cost.non_negative": True, "cost.rises_with_arm": True}),
    "heads": ("real", {"network.shared": [32, 16], "network.heads": [8, 8]}),
    "thin heads": ("non_negative", {"network.shared": [16], "network.heads": [], "cost.control_is_free": True}),
    "ensemble": ("real", {"method.ensemble": 3, "network.kind": "plain"}),
    "plain": ("real", {"network.kind": "plain"}),
    "plain log link": ("non_negative", {"method.name": "dfcl-mer", "network.kind": "plain"}),
    "two tables": ("real", {"method.ensemble": 2}),
    "published": ("real", {"method.as_published": True}),
    "calibrated": ("real", {"method.calibrate": True}),
    "calibrated log": ("non_negative", {"method.calibrate": True, "cost.control_is_free": True}),
    "calibrated binary": ("binary", {"method.calibrate": True, "network.revenue_kind": "binary"}),
    "stack": ("non_negative", {"method.name": "auto", "method.members": ["tsm", "dfcl-mer"]}),
    "dpm": ("real", {"method.name": "dpm"}),
    "boost": ("real", {"method.name": "tsm-boost"}),
    "boost, counts": ("non_negative", {"method.name": "tsm-boost", "cost.non_negative": True}),
    "boost, freed of the base": (
        "steep",
        {"method.name": "tsm-boost", "boost.bags": 1, "method.calibrate": True, "cost.non_negative": True},
    ),
    "boost, binary": ("binary", {"method.name": "tsm-boost", "network.revenue_kind": "binary"}),
    "boost, rising": (
        "real",
        {"method.name": "tsm-boost", "method.monotone": ["revenue"], "cost.control_is_free": True, "cost.rises_with_arm": True},
    ),
    "forest": ("real", {"method.name": "tsm-forest", "forest.trees": 40}),
    "forest, counts": ("non_negative", {"method.name": "tsm-forest", "forest.trees": 40, "cost.non_negative": True}),
    "forest, rising": (
        "real",
        {"method.name": "tsm-forest", "forest.trees": 24, "method.monotone": ["revenue"],
         "cost.control_is_free": True, "cost.rises_with_arm": True},
    ),  # fmt: skip
    "stack of everything": (
        "real",
        {"method.name": "auto", "method.members": ["tsm", "tsm-boost", "tsm-forest"], "forest.trees": 16},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_graph_predicts_what_dfcl_predicts(name, program, tmp_path):
    kind, settings = CASES[name]
    columns = trial_of(kind)
    study = dfcl.Study(
        arm="arm", revenue="revenue", cost="cost", control="0", order=["0", "1", "2"], missing=[-999], method="tsm",
        settings={"method.epochs": 3, "columns.min_level_units": 10},
    ).set(settings)  # fmt: skip
    model = dfcl.train(study, columns, force=True)
    # Values that training did not have: far out, infinite, missing, an unknown city.
    units = {key: columns[key].copy() for key in ("x", "heavy", "coded")}
    units["x"][:4] = [1e9, -np.inf, np.nan, 0]
    units["city"] = np.where(np.arange(4000) % 9 == 0, "Rome", columns["city"])
    expected = dfcl.predict(model, units)
    if name == "boost, freed of the base":
        model.write(tmp_path / "m.safetensors")
        found = json.loads(program("info", "m.safetensors", "--json", folder=tmp_path))["calibration"]
        assert found["revenue"]["base_slope"] != 0

    dfcl.export_onnx(model, tmp_path / "model.onnx")
    onnx.checker.check_model(str(tmp_path / "model.onnx"))
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    feed = {key: units[key].astype(np.float32)[:, None] for key in ("x", "heavy", "coded")}
    feed["city"] = units["city"].astype(object)[:, None]
    revenue, cost = session.run(["revenue", "cost"], feed)
    for ours, theirs in ((expected.revenue, revenue), (expected.cost, cost)):
        assert theirs.shape == ours.shape
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-5 * max(1.0, float(np.abs(ours).mean())))


def test_the_program_writes_the_same_graph(model, program, tmp_path):
    model.write(tmp_path / "model.safetensors")
    program("export", "model.safetensors", "-o", "model.onnx", folder=tmp_path)
    assert (tmp_path / "model.onnx").read_bytes() == dfcl.export_onnx(model)
    graph = onnx.load(tmp_path / "model.onnx")
    about = {entry.key: entry.value for entry in graph.metadata_props}
    assert about["method"] == "tsm" and about["arms"].split("\n") == model.arms
    assert about["model"] == model.fingerprint


def test_categories_alone(tmp_path):
    random = np.random.default_rng(3)
    rows = 3000
    columns = {"city": random.choice(["Ulm", "Bonn", "Kiel"], rows), "tier": random.choice(["a", "b"], rows)}
    arm = random.integers(0, 2, rows)
    revenue = 1 + arm * (columns["city"] == "Ulm") + random.normal(size=rows)
    study = dfcl.Study(arm="arm", revenue="revenue", cost="cost", control="0", method="tsm-boost")
    model = dfcl.train(study, columns | {"arm": arm, "revenue": revenue, "cost": 0.2 * arm})
    session = onnxruntime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
    feed = {name: values.astype(object)[:, None] for name, values in columns.items()}
    np.testing.assert_allclose(session.run(["revenue"], feed)[0], model.predict(columns).revenue, rtol=1e-5, atol=1e-5)

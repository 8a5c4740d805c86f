# SPDX-License-Identifier: Apache-2.0
"""Every verb answers on one screen: at most 25 lines of 100 columns. --full prints the rest."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import good

LINES, COLUMNS = 25, 100


def write_trial(folder, arms, rows=3000, long_names=False, features=6, seed=3):
    """A small trial with an effect that one feature decides."""
    draw = np.random.default_rng(seed)
    arm = draw.integers(0, len(arms), rows)
    columns = {"id": np.arange(rows)}
    for i in range(features):
        name = f"x{i}" + ("_whose_name_is_as_long_as_only_a_data_warehouse_could_have_made_it" if long_names else "")
        columns[name] = draw.normal(size=rows)
    first = columns[next(name for name in columns if name.startswith("x0"))]
    columns["region"] = np.array(["north", "south", "the far and very windy east"])[draw.integers(0, 3, rows)]
    columns["arm"] = np.array(arms)[arm]
    columns["sales"] = np.round(draw.poisson(2.0 + 0.4 * arm * (first > 0)) * 1.5, 2)
    columns["spent"] = np.where(arm == 0, 0.0, 0.2 * arm + 0.05)
    pq.write_table(pa.table(columns), folder / "trial.parquet")


STUDY = """format = 2
[data]
trial = "trial.parquet"
[columns]
id = "id"
arm = "arm"
revenue = "sales"
cost = "spent"
carry = ["region"]
[arms]
control = "{control}"
[budgets]
per_unit = [{budgets}]
[split]
train = 0.5
validation = 0.2
test = 0.3
[boost]
trees = 20
{more}"""

MONEY = '[value]\nmargin = 0.4\n[report]\ncurrency = "EUR"\nunit = "company"\nsegments = ["region"]\n'
KINDS = {
    "two arms": (dict(arms=["none", "mail"]), "0.05", ""),
    "six arms": (dict(arms=["none", *(f"offer {i}" for i in range(1, 6))]), "0.1, 0.3, 0.5", ""),
    "long names": (
        dict(arms=["none", "a voucher by letter and telephone", "a visit of our representative in the shop"], long_names=True, features=40),
        "0.1",
        "",
    ),
    "money and segments": (dict(arms=["none", "small", "large"]), "0.1, 0.2", MONEY),
}


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.replace(" ", "-"))
def made(request, tmp_path_factory, run_in):
    """A trial with its study, models, predictions, plan and results."""
    folder = tmp_path_factory.mktemp("few_words")
    kind, budgets, more = KINDS[request.param]
    write_trial(folder, **kind)
    (folder / "study.toml").write_text(STUDY.format(control="none", budgets=budgets, more=more))
    dfcl = run_in(folder)
    dfcl.brief = True
    good(dfcl("train", "study.toml", "--method", "tsm-boost", "--force", "-o", "m.safetensors"))
    good(dfcl("train", "study.toml", "--method", "tsm", "--epochs", "1", "--force", "-o", "n.safetensors"))
    good(dfcl("predict", "m.safetensors", "trial.parquet", "-o", "p.parquet"))
    good(dfcl("allocate", "m.safetensors", "trial.parquet", "--per-unit", "0.1", "--holdout", "0.2", "-o", "plan.parquet"))
    plan = pq.read_table(folder / "plan.parquet")
    outcomes = {name: plan[name] for name in ("id", "role", "arm", "revenue", "cost")}
    noise = np.random.default_rng(1).normal(size=plan.num_rows)
    outcomes["revenue"] = np.maximum(0.0, plan["revenue"].to_numpy() + noise)
    pq.write_table(pa.table(outcomes), folder / "outcomes.parquet")
    good(dfcl("evaluate", "study.toml", "m.safetensors", "n.safetensors", "--resamples", "50", "-o", "results.json"))
    return dfcl, request.param


VERBS = {
    "init": ("init", "trial.parquet", "-o", "proposed.toml"),
    "check": ("check", "study.toml"),
    "train": ("train", "study.toml", "--method", "tsm-boost", "--force", "-o", "again.safetensors"),
    "predict": ("predict", "m.safetensors", "trial.parquet", "-o", "again.parquet"),
    "allocate": ("allocate", "p.parquet", "--per-unit", "0.1", "--holdout", "0.1", "-o", "again-plan.parquet"),
    "allocate several": ("allocate", "p.parquet", "--per-unit", "0.1,0.2,0.3", "--previous", "plan.parquet", "-o", "plans.parquet"),
    "allocate changes": ("allocate", "p.parquet", "--per-unit", "0.2", "--previous", "plan.parquet"),
    "allocate curve": ("allocate", "p.parquet", "--curve", "50"),
    "evaluate": ("evaluate", "study.toml", "m.safetensors", "n.safetensors", "--resamples", "50"),
    "report": ("report", "results.json", "--format", "text"),
    "report file": ("report", "results.json", "-o", "report.html"),
    "compare": ("compare", "study.toml", "--methods", "tsm,tsm-boost,dfcl-mer", "--set", "method.epochs=1", "--force", "--resamples", "50", "-o", "compared"),
    "readout": ("readout", "plan.parquet", "outcomes.parquet"),
    "power": ("power", "study.toml"),
    "info trial": ("info", "trial.parquet"),
    "info predictions": ("info", "p.parquet"),
    "info plan": ("info", "plan.parquet"),
    "info model": ("info", "m.safetensors"),
    "export": ("export", "n.safetensors", "-o", "n.onnx"),
}


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_answers_on_one_screen(made, name):
    dfcl, _ = made
    result = dfcl(*VERBS[name])
    assert result.code in (0, 7), result.stderr
    lines = result.stdout.splitlines()
    assert 0 < len(lines) <= LINES, result.stdout
    assert max(map(len, lines)) <= COLUMNS, result.stdout


def test_simulations_answer_on_one_screen(dfcl):
    """Verbs that need no trial of the user."""
    dfcl.brief = True
    good(dfcl("simulate", "--preset", "marketing", "--rows", "600", "-o", "s.parquet", "--study", "s.toml"))
    for arguments in (
        ("simulate", "--preset", "varied", "--rows", "500", "-o", "v.parquet"),
        ("deploy", "s.toml", "--units", "300", "--days", "7", "--methods", "tsm", "--set", "method.epochs=1", "--set", "deploy.trial_units=200"),
        ("power", "--sd", "12", "--gain", "0.2"),
        ("info", "s.parquet"),
    ):
        lines = good(dfcl(*arguments)).stdout.splitlines()
        assert 0 < len(lines) <= LINES and max(map(len, lines)) <= COLUMNS, "\n".join(lines)


@pytest.mark.parametrize("name", ["check", "info model", "evaluate", "power"])
def test_full_prints_the_rest(made, name):
    dfcl, _ = made
    brief, full = dfcl(*VERBS[name]).stdout, dfcl(*VERBS[name], "--full").stdout
    assert len(full.splitlines()) > len(brief.splitlines())


def test_the_answer_uses_the_studys_words(made):
    dfcl, kind = made
    text = dfcl(*VERBS["allocate"]).stdout + dfcl(*VERBS["check"]).stdout + dfcl(*VERBS["info model"]).stdout
    assert "boosted trees (tsm-boost)" in text
    if kind == "money and segments":
        assert "companies" in text and "EUR " in text
        assert " units" not in dfcl(*VERBS["allocate"]).stdout
    else:
        assert "EUR" not in text

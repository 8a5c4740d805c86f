# SPDX-License-Identifier: Apache-2.0
"""The simulated online test, small."""

import json

import pytest
from conftest import ROOT, answer

STUDY = ROOT / "experiments" / "online.toml"
SMALL = ["--units", "2400", "--days", "8", "--methods", "tsm,dfcl-mer", "--seed", "2"]
QUICK = ["--set", "method.epochs=2", "--set", "deploy.trial_units=800", "--set", "deploy.trial_days=3", "--set", "network.hidden=[8]"]


def deploy(dfcl, *flags):
    return answer(dfcl("deploy", STUDY, *SMALL, *QUICK, *flags, "--json"))


def test_every_week_and_group_has_revenue_spend_and_budget(dfcl, tmp_path):
    results = deploy(dfcl, "--cost-drift", "0.2", "-o", "results.json")
    assert json.loads((tmp_path / "results.json").read_text()) == results
    assert (results["format"], results["kind"], results["controller"]) == ("dfcl-results", "deployment", "on")
    assert [week["week"] for week in results["weeks"]] == [1, 2]
    for weeks in (results["weeks"], results["other"]["weeks"]):
        for week in weeks:
            assert [group["method"] for group in week["groups"]] == ["tsm", "dfcl-mer"]
            for group in week["groups"]:
                assert group["revenue"] > group["spend"] > 0 and group["budget"] > 0
                interval = group["revenue_per_unit"]
                assert interval["low"] < interval["value"] < interval["high"]
    assert results["weeks"][1]["cost_scale"] == pytest.approx(1.2)
    assert {figure["id"] for figure in results["figures"]} == {"weekly_revenue", "weekly_spend"}
    assert [table["id"] for table in results["tables"]] == ["weeks", "gains", "spend"]
    report = dfcl("report", "results.json", "-o", "report.html")
    assert report.code == 0, report.stderr


def test_controller_says_which_campaign_comes_first(dfcl):
    on, off = deploy(dfcl, "--controller", "on"), deploy(dfcl, "--controller", "off")
    assert on["weeks"] == off["other"]["weeks"] and off["weeks"] == on["other"]["weeks"]
    text = dfcl("deploy", STUDY, *SMALL, *QUICK).stdout
    assert "tsm, on" in text and "tsm, off" in text


def test_a_run_goes_on_from_its_models_to_the_same_results(dfcl, tmp_path):
    plain = deploy(dfcl)
    first = deploy(dfcl, "--checkpoint", "models")
    models = sorted(path.name for path in (tmp_path / "models").iterdir())
    assert len(models) == 4, "two methods, two weeks"
    (tmp_path / "models" / models[-1]).unlink()
    again = deploy(dfcl, "--checkpoint", "models")
    assert plain == first == again
    deploy(dfcl, "--checkpoint", "models", "--set", "method.epochs=3")
    assert len(list((tmp_path / "models").iterdir())) == 8, "other settings, other models"


@pytest.mark.parametrize(
    "flags, words",
    [
        (["--units", "5"], ["units", "5", "100"]),
        (["--days", "0"], ["days"]),
        (["--methods", "tsm,dfcl-mre"], ["dfcl-mer"]),
        (["--cost-drift", "x"], ["--cost-drift", "number"]),
        (["--controller", "maybe"], ["--controller"]),
        (["--set", "deploy.response=flat"], ["flat", "smooth"]),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(dfcl, tmp_path, flags, words):
    result = dfcl("deploy", STUDY, *QUICK, *flags, "-o", "results.json")
    assert result.code == 2, result.stderr
    assert all(word in result.stderr for word in words), result.stderr
    assert not (tmp_path / "results.json").exists()

# SPDX-License-Identifier: Apache-2.0
"""The keywords of Study are those of the one table of keys, with its types."""

import inspect

import pytest

import dfcl
from dfcl import _dfcl

TYPES = {
    "text": "str",
    "true/false": "bool",
    "number": "float",
    "whole number": "int",
    "list of texts": "Sequence[str]",
    "list of numbers": "Sequence[float]",
    "list of whole numbers": "Sequence[int]",
    "table of numbers": "Mapping[str, float]",
}


def test_keywords_and_their_types_are_those_of_the_table():
    expected = {key["keyword"]: f"{TYPES[key['type']]} | None" for key in _dfcl.study_keys() if key["keyword"]}
    expected["estimator"] = "Estimator | None"
    found = {
        name: parameter.annotation
        for name, parameter in inspect.signature(dfcl.Study.__init__).parameters.items()
        if name not in ("self", "settings")
    }
    assert found == expected


@pytest.mark.parametrize("verb", ["train", "compare", "deploy"])
def test_verbs_take_the_keys_that_their_flags_set(verb):
    parameters = inspect.signature(getattr(dfcl, verb)).parameters
    of_study = {key["keyword"] for key in _dfcl.study_keys()}
    expected = {
        key["flags"][verb][2:].replace("-", "_") for key in _dfcl.study_keys() if verb in key["flags"]
    } - (of_study - {"method"})
    assert expected <= set(parameters) | ({"method"} if verb != "train" else set())


def test_studies_made_of_keywords_have_the_newest_format_and_budgets_above_control():
    study = dfcl.Study(arm="a", revenue="r", cost="c", per_unit=[0.1], include_control=True)
    assert study.text.startswith("format = 2\n")
    assert "include_control = true" in study.text
    assert dfcl.Study.parse(study.text) == study
    assert "format" not in dfcl.Study.parse('[columns]\narm = "a"\nrevenue = "r"\ncost = "c"\n').text


def test_a_wrong_value_names_the_keyword_or_the_key():
    with pytest.raises(dfcl.UsageError, match="share_of_max="):
        dfcl.Study(arm="a", revenue="r", cost="c", share_of_max=[2.0])
    with pytest.raises(dfcl.UsageError, match="alpha"):
        dfcl.Study(arm="a", revenue="r", cost="c", settings={"method.alpha": -1})

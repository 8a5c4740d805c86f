# SPDX-License-Identifier: Apache-2.0
"""Model files as others see them: the safetensors package opens them, `dfcl info` describes them."""

import json
import os
import subprocess

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

BINARY = os.environ["DFCL_BINARY"]
WRITER = os.environ["DFCL_SAMPLE_MODEL"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.safetensors"
    subprocess.run([WRITER, path], check=True)
    return path


def info(path, *flags):
    return subprocess.run([BINARY, "info", path, *flags], capture_output=True, text=True, check=False)


def test_the_safetensors_package_reads_the_file(model):
    tensors = load_file(model)
    assert tensors["predictors.0.network.0.shared.0.weight"].shape == (16, 6)
    assert tensors["predictors.0.network.0.shared.0.weight"].dtype == np.float32
    assert tensors["trained.keys"].dtype == np.int64
    assert not np.array_equal(tensors["predictors.0.network.0.shared.0.weight"], tensors["predictors.0.network.1.shared.0.weight"])
    assert all(np.isfinite(values).all() for values in tensors.values())
    with safe_open(model, framework="numpy") as file:
        metadata = file.metadata()
    assert metadata["method"] == "dfcl-mer" and metadata["version"] == "0.1.0" and metadata["format_version"] == "2"
    assert json.loads(metadata["multipliers"])[0]["multiplier"] == 2.5
    assert json.loads(metadata["arms"])["labels"] == ["0", "5", "10"]
    assert len(metadata["checksum"]) == 16


def test_info_describes_a_model_in_words_and_as_json(model):
    result = info(model, "--full")
    assert result.returncode == 0, result.stderr
    assert "a model: revenue and cost of a unit under each of 3 arms" in result.stdout
    described = json.loads(info(model, "--json").stdout)
    assert described["kind"] == "model" and described["network"]["members"] == 2
    with safe_open(model, framework="numpy") as file:
        assert described["fingerprint"] == file.metadata()["checksum"]


def test_a_damaged_model_is_refused_in_one_line(model, tmp_path):
    whole = model.read_bytes()
    damaged = tmp_path / "damaged.safetensors"
    for contents in (whole[:-1], whole[:200], whole + b"x", whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:]):
        damaged.write_bytes(contents)
        result = info(damaged)
        assert result.returncode == 4
        assert result.stdout == "" and len(result.stderr.strip().splitlines()) == 1

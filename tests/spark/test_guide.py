# SPDX-License-Identifier: Apache-2.0
"""The Python of docs/guide-spark.md runs as it stands."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide-spark.md"


@pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")
def test_the_guide_runs(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        # Paths of Spark count from where its Java began.
        exec(block.replace('"units.parquet")\n', f'"{tmp_path}/units.parquet")\n').replace('parquet("p', f'parquet("{tmp_path}/p'), names)
    assert names["plan"].has_plan
    assert spark.read.parquet(f"{tmp_path}/plan").count() == 3000

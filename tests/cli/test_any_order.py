# SPDX-License-Identifier: Apache-2.0
"""The same rows in any order and any number of files: the same plan for each id, and the same evaluation."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import good

SHUFFLES = [(1, 1), (2, 3), (3, 17)]  # seed, files


def shuffled(table, seed):
    return table.take(pa.array(np.random.default_rng(seed).permutation(table.num_rows)))


def write_in_files(table, folder, files):
    folder.mkdir()
    bounds = np.linspace(0, table.num_rows, files + 1).astype(int)
    for i, (begin, end) in enumerate(zip(bounds, bounds[1:])):
        pq.write_table(table.slice(begin, end - begin), folder / f"part-{i:02d}.parquet")


def with_text_ids(table, column):
    ids = pa.array([f"shop {value}" for value in table[column].to_pylist()])
    return table.set_column(table.schema.get_field_index(column), column, ids)


@pytest.fixture(scope="module", params=["numbers", "texts"])
def made(run_in, tmp_path_factory, request):
    """A trial and predictions with many ties: few distinct numbers."""
    dfcl = run_in(tmp_path_factory.mktemp("made"))
    good(dfcl("simulate", "--preset", "marketing", "--rows", 3000, "--seed", 5, "-o", "trial.parquet", "--study", "study.toml",
              "--truth", "truth.parquet"))  # fmt: skip
    trial, truth = (pq.read_table(dfcl.folder / f"{name}.parquet").replace_schema_metadata() for name in ("trial", "truth"))
    if request.param == "texts":
        trial, truth = with_text_ids(trial, "shop_id"), with_text_ids(truth, "id")
    columns = [name for name in truth.column_names if name != "id"]
    rounded = {name: np.round(truth[name].to_numpy() * 4).astype(np.float32) / 4 for name in columns}
    dfcl.trial, dfcl.predictions = trial, pa.table({"id": truth["id"], **rounded})
    return dfcl


def plan_rows(path):
    table = pq.read_table(path).replace_schema_metadata()
    order = np.argsort(np.array(table["id"].to_pylist()), kind="stable")
    return table.take(pa.array(order)).to_pylist()


@pytest.mark.parametrize("flags", [["--share-of-max", "0.2"], ["--share-of-max", "0.05", "--holdout", "0.1"],
                                   ["--share-of-max", "0.3", "--max-units", "20=200"]])  # fmt: skip
def test_each_unit_gets_the_same_arm(made, flags):
    plans, summaries = [], []
    for seed, files in SHUFFLES:
        folder = made.folder / f"{'-'.join(flags)}-{seed}".replace("=", "")
        write_in_files(shuffled(made.predictions, seed), folder, files)
        for stream in [[], ["--stream"]] if "--max-units" not in flags else [[]]:
            result = good(made("allocate", folder, *flags, *stream, "-o", "plan.parquet", "--json"))
            summaries.append({key: value for key, value in json.loads(result.stdout).items() if key != "seconds"})
            plans.append(plan_rows(made.folder / "plan.parquet"))
    assert len({row["arm"] for row in plans[0]}) > 1
    for plan, summary in zip(plans[1:], summaries[1:]):
        assert plan == plans[0]
        assert summary == summaries[0]


def test_the_evaluation_is_the_same(made):
    texts = []
    study = (made.folder / "study.toml").read_text()
    for seed, files in SHUFFLES:
        write_in_files(shuffled(made.trial, seed), made.folder / f"trial-{seed}", files)
        pq.write_table(shuffled(made.predictions, seed + 10), made.folder / "model.parquet")
        (made.folder / "shuffled.toml").write_text(study.replace('"trial.parquet"', f'"trial-{seed}"'))
        result = good(made("evaluate", "shuffled.toml", "model.parquet", "--resamples", 48, "--split", "all", "--json"))
        texts.append(result.stdout.replace(f"trial-{seed}", "trial"))
    assert texts[1] == texts[0]
    assert texts[2] == texts[0]

# SPDX-License-Identifier: Apache-2.0
"""Readouts of units that are elsewhere, without a cluster: any cut of the units gives the bytes of one machine."""

import json

import numpy as np
import pyarrow as pa
import pytest
from test_parts import deal

import dfcl
from dfcl import _dfcl
from dfcl.spark.launch import _request, sum_rows

SEED = 7
pytestmark = pytest.mark.filterwarnings("ignore::dfcl.DfclWarning")


def random_launch(random, with_roles, rows=2000):
    """A plan and its outcomes: some units are in one table only, some got another arm."""
    arm = random.integers(0, 4, rows)
    plan = {"id": np.arange(rows), "arm": arm.astype(str), "revenue": random.random(rows).astype(np.float32), "cost": (arm * 0.3).astype(np.float32)}
    role = random.choice(["plan", "holdout", "explore"], rows, p=[0.7, 0.2, 0.1])
    got = np.where(role == "holdout", 0, np.where(random.random(rows) < 0.05, 1, arm)).astype(str)
    outcomes = {"id": np.arange(rows), "arm": got, "revenue": random.gamma(1.0, 2.0, rows), "cost": random.random(rows), "complaints": random.poisson(0.2, rows) * 1.0, "w": random.integers(0, 3, rows) * 0.5}
    if with_roles:
        plan |= {"role": role, "propensity": np.full(rows, 0.5, np.float32), "control_revenue": random.random(rows).astype(np.float32), "control_cost": np.zeros(rows, np.float32)}
    else:
        outcomes["role"] = role
    planned, happened = pa.table(plan), pa.table(outcomes)
    strangers = happened.slice(0, 5).set_column(0, "id", pa.array(np.arange(rows, rows + 5)))
    return planned, pa.concat_tables([happened.filter(pa.array(random.random(rows) > 0.1)), strangers])


def joined(planned, happened):
    """As a full outer join leaves rows of both."""
    a = planned.rename_columns([f"plan_{name}" for name in planned.column_names])
    b = happened.rename_columns([f"outcomes_{name}" for name in happened.column_names])
    return a.join(b.append_column("key", b["outcomes_id"]), "plan_id", "key", join_type="full outer", coalesce_keys=False).drop_columns(["key"])


@pytest.mark.parametrize("with_roles", [True, False])
@pytest.mark.parametrize("more", [{}, {"weight": "w", "guardrail": ["complaints"], "margin": 0.4, "budget": 700.0, "multiplier": 1.5}])
def test_any_cut_of_the_units_gives_the_readout_of_one_machine(with_roles, more):
    random = np.random.default_rng(SEED)
    planned, happened = random_launch(random, with_roles)
    options = {"holdout_share": 0.2, "control": "0", **more}
    here = dfcl.readout(planned, happened, progress=False, **options)
    of_parts = {name: value for name, value in more.items() if name in ("weight", "guardrail")}
    rows = joined(planned, happened)
    for count in (1, 3, 17):
        parts = deal(rows, count, random)

        def run(totals):
            found = [sum_rows(part, of_parts, totals) for part in parts if len(part)]
            merged = _dfcl.merge_launch_parts(totals, found)
            assert _dfcl.merge_launch_parts(totals, found[::-1]) == merged
            return merged

        request = _request({**options, "plan": "<plan>", "outcomes": "<outcomes>"})
        there = dfcl.Readout(*_dfcl.readout_elsewhere(request, run, _dfcl.Run(threads=1, seed=0)))
        assert json.dumps(there.figures) == json.dumps(here.figures), f"seed {SEED}, {count} parts"


def test_tables_that_do_not_join_are_refused():
    planned, happened = random_launch(np.random.default_rng(SEED), True)
    others = happened.set_column(0, "id", pa.array(np.arange(len(happened)) + 10_000))
    rows = joined(planned, others)
    request = _request({"holdout_share": 0.2, "plan": "<plan>", "outcomes": "<outcomes>"})
    with pytest.raises(dfcl.DataError, match="do not join"):
        _dfcl.readout_elsewhere(request, lambda totals: sum_rows(rows, {}, totals), _dfcl.Run(threads=1, seed=0))

# SPDX-License-Identifier: Apache-2.0
"""LightGBM's S- and T-learner of revenue and cost, by the objective that fits the outcome: what a practitioner would try first.

Needs numpy, pyarrow and lightgbm. Learning rate .05, early stopping on 15 % of the rows, as many trees as that takes. A setting
is words: `leaves=63`, `native` (categories as LightGBM's own kind of feature instead of codes).
"""

import numpy as np
import pyarrow as arrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet

SETTINGS = ("leaves=31", "leaves=63", "leaves=15", "leaves=31 native")


def feature_names(table, roles):
    return [name for name in table.column_names if name not in roles]


def encoded(table, names, levels):
    """Numbers as they are, texts as codes of the training levels, NaN for what is missing or new."""
    columns = []
    for name in names:
        column = table[name].combine_chunks()
        if arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type):
            known = levels.setdefault(name, arrow.array(sorted(set(column.drop_null().to_pylist()))))
            codes = compute.index_in(column.cast(known.type), value_set=known)
            columns.append(codes.cast(arrow.float64()).to_numpy(zero_copy_only=False))
        else:
            columns.append(column.cast(arrow.float64()).to_numpy(zero_copy_only=False))
    return np.stack(columns, 1)


class Learner:
    def __init__(self, setting, categories, seed, threads):
        words = setting.split()
        leaves = next((int(word.split("=")[1]) for word in words if word.startswith("leaves=")), 31)
        self.categories = categories if "native" in words else []
        self.seed = seed
        self.parameters = {"learning_rate": 0.05, "num_leaves": leaves, "min_data_in_leaf": 100,
                           "feature_fraction": 0.7, "bagging_fraction": 0.8, "bagging_freq": 1, "verbose": -1,
                           "num_threads": threads, "seed": seed}  # fmt: skip

    def fit(self, inputs, outcome):
        import lightgbm

        held = np.random.default_rng(self.seed).random(len(outcome)) < 0.15
        train = lightgbm.Dataset(inputs[~held], outcome[~held], categorical_feature=self.categories or "auto")
        valid = lightgbm.Dataset(inputs[held], outcome[held], reference=train)
        objective = "regression" if (outcome < 0).any() else "binary" if np.isin(outcome, (0.0, 1.0)).all() else "poisson"
        return lightgbm.train({**self.parameters, "objective": objective}, train, 2000, valid_sets=[valid],
                              callbacks=[lightgbm.early_stopping(40, verbose=False)])  # fmt: skip

    def s_learner(self, inputs, arm, outcome, units, num_arms):
        """The arm as a number and as indicators."""

        def with_arm(rows, given):
            return np.c_[rows, np.eye(num_arms)[given], given]

        model = self.fit(with_arm(inputs, arm), outcome)
        return np.stack([model.predict(with_arm(units, np.full(len(units), j))) for j in range(num_arms)], 1)

    def t_learner(self, inputs, arm, outcome, units, num_arms):
        columns = [self.fit(inputs[arm == j], outcome[arm == j]).predict(units) if outcome[arm == j].any() else np.zeros(len(units))
                   for j in range(num_arms)]  # fmt: skip
        return np.stack(columns, 1)


def predictions(kind, setting, trial, units, roles, arms, rows_share, seed, threads):
    """(revenue, cost), each units x arms. roles: (id, arm, revenue, cost) columns; rows_share: of the trial's rows, at random."""
    table, others = parquet.read_table(trial), parquet.read_table(units)
    if rows_share < 1.0:
        kept = np.random.default_rng(seed + 1).random(table.num_rows) < rows_share
        table = table.filter(arrow.array(kept))
    names, levels = feature_names(table, roles), {}
    inputs, targets = encoded(table, names, levels), encoded(others, names, levels)
    arm = np.searchsorted([float(label) for label in arms], table[roles[1]].cast(arrow.float64()).to_numpy())
    learner = Learner(setting, [names.index(name) for name in levels], seed, threads)
    fit = learner.s_learner if kind == "S" else learner.t_learner
    return [fit(inputs, arm, table[role].cast(arrow.float64()).to_numpy(), targets, len(arms)).astype(np.float32)
            for role in roles[2:]]  # fmt: skip

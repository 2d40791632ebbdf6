"""Two threads against one: never 5 % slower, and 1.5 times as fast above a second of work."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import featsieve
from benchmarks.speed.row import Contest, Options, Row, Table

TABLE = Table()
NEVER_SLOWER, WORTH_IT = 1.05, 1 / 1.5
WIDE, TALL, SQUARE, SMALL = (1000, 20_000), (100_000, 200), (2000, 300), (500, 60)
FITS: tuple[tuple[str, dict[str, Any], tuple[int, int], bool, float], ...] = (
    ("PearsonRanking", {}, WIDE, True, NEVER_SLOWER),
    ("MaxRel", {}, TALL, True, NEVER_SLOWER),
    ("MRMR", {}, WIDE, True, NEVER_SLOWER),
    ("MRMR", {"n_features_to_select": 50}, WIDE, True, NEVER_SLOWER),
    ("MRMR", {}, TALL, True, NEVER_SLOWER),
    ("CMIM", {}, WIDE, True, NEVER_SLOWER),
    ("MaxRel", {"estimator": "ksg"}, SQUARE, True, NEVER_SLOWER),
    ("MaxRel", {"estimator": "ksg"}, (4000, 300), False, WORTH_IT),
    ("GlobalCMI", {"solver": "tpower"}, SQUARE, True, NEVER_SLOWER),
    ("HSICRanking", {}, (4000, 300), False, WORTH_IT),
    ("BAHSIC", {}, SMALL, False, NEVER_SLOWER),
    ("HSFS", {}, SMALL, False, NEVER_SLOWER),
    ("LSMIRanking", {"random_state": 0}, (500, 200), False, WORTH_IT),
    ("MLMIRanking", {"random_state": 0}, SMALL, False, WORTH_IT),
    ("ReliefF", {}, SQUARE, True, NEVER_SLOWER),
)


def two_against_one(
    method: str, params: dict[str, Any], shape: tuple[int, int], classes: bool, options: Options
) -> Contest:
    X = np.random.default_rng(0).normal(size=shape)
    y = X[:, 0] + X[:, 1] * X[:, 2]
    y = (y > 0).astype(int) if classes else y
    params = {"n_features_to_select": 10, **params}
    one, two = (getattr(featsieve, method)(n_jobs=n_jobs, **params) for n_jobs in (1, 2))
    return Contest(lambda: two.fit(X, y), lambda: one.fit(X, y), repeats=4)


for method, params, shape, classes, allowed in FITS:
    words = "".join(f", {value}" for name, value in params.items() if name != "random_state")
    name = f"{method}{words}, {shape[0]:,} × {shape[1]:,}, 2 threads"
    prepare = partial(two_against_one, method, params, shape, classes)
    TABLE.add(Row(name, "1 thread", allowed, prepare))

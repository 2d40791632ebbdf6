"""Two threads against one: never 5 % slower, and 1.5 times as fast above a second of work."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVR

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


# A second of work or more with one thread, for each method that takes as long on some table. Not
# here: FisherScore and plain PearsonRanking, which read gigabytes in a second.
SEEDED: dict[str, Any] = {"random_state": 0}
LARGE = (800_000, 400)
LONG: tuple[tuple[str, dict[str, Any], tuple[int, int], bool], ...] = (
    ("PearsonRanking", {"n_permutations": 9000}, (2000, 3000), False),
    ("NMIRanking", {"n_permutations": 1000}, (20_000, 200), True),
    *((name, {}, LARGE, True) for name in ("MRMR", "JMI", "CMIM", "DISR")),
    *((name, {}, LARGE, True) for name in ("ICAP", "CIFE", "MIFS")),
    ("CondMI", {}, (150_000, 300), True),
    ("QPFS", {}, (200_000, 400), True),
    ("GlobalCMI", {"solver": "tpower"}, (50_000, 1500), True),
    ("LassoSelector", {"n_features_to_select": 50}, (40_000, 1000), False),
    ("RidgeForward", SEEDED, (60_000, 600), False),
    ("TreeImportance", SEEDED, (4000, 200), True),
    ("FLSMI", {"n_features_to_select": 4, **SEEDED}, (500, 40), False),
    ("BLSMI", SEEDED, (400, 20), False),
    ("L1LSMI", {"n_features_to_select": 4, **SEEDED}, (800, 30), False),
    ("FOHSIC", {}, (2500, 100), False),
    ("BAHSIC", {}, (2500, 100), False),
    ("L1HSIC", {"n_features_to_select": 3, **SEEDED}, (1100, 8), False),
    ("HSICLasso", {}, (1200, 300), False),
    ("HSFS", {}, (2500, 60), False),
    ("LDFS", {}, (3000, 3000), True),
    ("PrincipalFeatures", {}, (3000, 1200), True),
    ("ReliefF", {}, (10_000, 300), True),
    ("LaplacianScore", {}, (10_000, 200), False),
    ("SPEC", {}, (8000, 200), False),
    ("FOCI", {}, (10_000, 40), False),
    ("KFOCI", {}, (8000, 40), False),
    ("L1SVM", {}, (8000, 6000), True),
    ("SVMRFE", {}, (300, 120), True),
    ("L0SVM", {}, (400, 150), True),
    ("R2W2", {}, (1600, 100), True),
    ("WrapperSelector", {"estimator": SVR(), "n_features_to_select": 2}, (4000, 3), False),
    ("KnockoffSelector", {"selector": featsieve.LassoSelector(), **SEEDED}, (2000, 300), False),
    ("StabilitySelector", {"selector": featsieve.MRMR(), **SEEDED}, (1000, 4000), True),
    ("AutoSelector", SEEDED, (300, 15), True),
)
# Their time goes into products of matrices, for which BLAS takes both cores in any case.
IN_BLAS = (
    "PearsonRanking",
    "LassoSelector",
    "LDFS",
    "PrincipalFeatures",
    "QPFS",
    "L1SVM",
    "KnockoffSelector",
)
# One program after the other, and each step of its minimisation starts from the one before.
CHAINS = ("SVMRFE", "L0SVM")
NOTE = (
    "Two threads may be level with one where BLAS has both cores in any case (half of L1SVM is "
    "products that read the whole table, at 22 GB/s with one thread asked for; two thirds of QPFS "
    "are products, and with BLAS held to one core its two threads take 0.48 of the time of one). "
    "Where all work is one chain of steps of a microsecond, 1.5 times is out of reach: the "
    "minimisation of one support vector machine is 95 % of L0SVM, which leaves at most 1.03 times, "
    "and 93 % of SVMRFE, which gains only by training on the second thread what its next round "
    "will probably ask for."
)
COUNTS_ITSELF = ("AutoSelector", "FOCI", "KFOCI", "KnockoffSelector", "StabilitySelector")
NUMBERS_IN_DOUBLE = 100_000_000


def table_of(shape: tuple[int, int], classes: bool) -> tuple[Any, Any]:
    dtype = np.float64 if np.prod(shape) <= NUMBERS_IN_DOUBLE else np.float32
    X = np.random.default_rng(0).standard_normal(shape, dtype=dtype)
    y = X[:, 0] + X[:, 1] * X[:, 2]
    return X, (y > 0).astype(int) if classes else y


def two_against_one(
    method: str,
    params: dict[str, Any],
    shape: tuple[int, int],
    classes: bool,
    options: Options,
    *,
    is_long: bool = False,
) -> Contest:
    X, y = table_of(shape, classes)
    if method not in COUNTS_ITSELF:
        params = {"n_features_to_select": 10, **params}
    one, two = (getattr(featsieve, method)(n_jobs=n_jobs, **params) for n_jobs in (1, 2))
    repeats, warm_up = (2, 0) if is_long else (4, 1)
    return Contest(lambda: two.fit(X, y), lambda: one.fit(X, y), repeats, warm_up)


def name_of(method: str, params: dict[str, Any], shape: tuple[int, int]) -> str:
    words = "".join(f", {value}" for name, value in params.items() if name != "random_state")
    return f"{method}{words}, {shape[0]:,} × {shape[1]:,}, 2 threads"


for method, params, shape, classes, allowed in FITS:
    prepare = partial(two_against_one, method, params, shape, classes)
    TABLE.add(Row(name_of(method, params, shape), "1 thread", allowed, prepare))
for method, params, shape, classes in LONG:
    prepare = partial(two_against_one, method, params, shape, classes, is_long=True)
    peer, allowed = "1 thread", WORTH_IT
    if method in IN_BLAS:
        peer, allowed = "1 thread, BLAS with 2", NEVER_SLOWER
    if method in CHAINS:
        peer = "1 thread, one chain of steps"
    TABLE.add(Row(name_of(method, params, shape), peer, allowed, prepare))

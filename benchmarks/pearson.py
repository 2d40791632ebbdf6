"""PearsonRanking against scikit-learn's own univariate correlations, on one dense table."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectKBest, f_classif, f_regression, r_regression

from benchmarks.frame import Case, compare, comparison_table, write_report
from featsieve import PearsonRanking

KEPT = 10


def make_table(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, :KEPT] @ np.linspace(1.0, 0.1, KEPT) + rng.normal(size=n_rows)
    return X, y


def ours(X: Any, y: Any, **params: Any) -> Any:
    return PearsonRanking(n_features_to_select=KEPT, **params).fit(X, y)


def kept_by(score: Any, X: Any, y: Any) -> Any:
    return SelectKBest(score, k=KEPT).fit(X, y)


def same_columns(mine: Any, theirs: Any) -> str:
    if isinstance(theirs, np.ndarray):
        return f"scores differ by {np.abs(mine.scores_ - np.abs(theirs)).max():.0e} at most"
    common = int((mine.support_ & theirs.get_support()).sum())
    return f"{common} of {KEPT} columns the same"


def cases(n_rows: int, n_columns: int) -> list[Case]:
    X, y = make_table(n_rows, n_columns)
    classes = (y > 0).astype(int)
    size = f"{n_rows} × {n_columns}"
    regression = {
        "r_regression": partial(r_regression, X, y),
        "SelectKBest(r_regression)": partial(kept_by, r_regression, X, y),
        "SelectKBest(f_regression)": partial(kept_by, f_regression, X, y),
    }
    classification = {"SelectKBest(f_classif)": partial(kept_by, f_classif, X, classes)}
    return [
        Case(f"{size}, {what}, {n_jobs} thread(s)", fit, peers, same_columns)
        for what, n_jobs, fit, peers in [
            ("numbers", 1, partial(ours, X, y, n_jobs=1), regression),
            ("numbers", 2, partial(ours, X, y, n_jobs=2), regression),
            ("two classes", 1, partial(ours, X, classes, n_jobs=1), classification),
        ]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    comparisons = [
        compare(case, repeats=arguments.repeats)
        for case in cases(arguments.rows, arguments.columns)
    ]
    note = (
        "featsieve's time is that of the whole `fit`: input checks, task detection, scores and "
        "fitted attributes. `r_regression` is the bare function."
    )
    path = write_report(
        "pearson",
        "PearsonRanking and scikit-learn's univariate scores",
        comparison_table(comparisons),
        note,
        packages=["scikit-learn", "scipy"],
    )
    print(path.read_text())


if __name__ == "__main__":
    main()

"""SVMRFE against scikit-learn's RFE of a linear SVC."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.frame import Case, compare, comparison_table, write_report
from featsieve import SVMRFE


def expression_table(n_rows: int, n_columns: int, seed: int = 0) -> tuple[Any, Any]:
    """Like the colon data: few rows, many correlated columns, a third of the rows in one class."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_rows) < n_rows * 0.35).astype(int)
    rng.shuffle(y)
    X = rng.normal(size=(n_rows, 10)) @ rng.normal(size=(10, n_columns))
    X += rng.normal(size=X.shape)
    X[:, :30] += 0.8 * y[:, None]
    return StandardScaler().fit_transform(np.exp(0.3 * X)), y


def scikit_learn(X: Any, y: Any) -> Any:
    return RFE(SVC(kernel="linear"), n_features_to_select=1, step=1).fit(X, y).ranking_


def ours(X: Any, y: Any) -> Any:
    return SVMRFE(n_features_to_select=1).fit(X, y).ranking_


def same_order(mine: Any, theirs: Any) -> str:
    return f"{int((mine == theirs).sum())} of {len(mine)} ranks the same"


def elimination(seed: int) -> Case:
    X, y = expression_table(62, 2000, seed)
    peers = {"RFE(SVC(kernel='linear'), step=1)": partial(scikit_learn, X, y)}
    return Case(f"62 × 2000, seed {seed}", partial(ours, X, y), peers, same_order)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    comparisons = [compare(elimination(seed), repeats=arguments.repeats) for seed in range(2)]
    path = write_report(
        "svm",
        "SVMRFE and scikit-learn's RFE",
        comparison_table(comparisons),
        packages=["scikit-learn", "numba"],
    )
    print(path.read_text())


if __name__ == "__main__":
    main()

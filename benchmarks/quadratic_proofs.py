"""How often solver="auto" proves its answer, or how close to the best possible it is.

    python -m benchmarks.quadratic_proofs --data DIR

CMI matrices of real tables (NAME.parquet with a target column in DIR), and random matrices.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.frame import write_report
from featsieve import GlobalCMI
from featsieve.evaluation.benches._report import markdown_table
from featsieve.evaluation.surroundings import seconds_in_words
from featsieve.quadratic import solve

TABLES = ("vehicle", "ionosphere", "promoter", "spambase", "optdigits", "musk1")
RANDOM = ((20, 10), (40, 8), (60, 6), (60, 30), (100, 10), (200, 20))
HEADER = ["matrix", "n", "k", "value", "below the best possible by at most", "proven", "time"]


def row(
    name: str, n: int, k: int, value: float, bound: float, proven: bool, took: float
) -> list[str]:
    gap = f"{100 * max(0.0, 1 - value / bound):.2f} %"
    times = seconds_in_words(took)
    return [name, str(n), str(k), f"{value:.4f}", gap, "yes" if proven else "no", times]


def of_table(path: Path) -> list[list[str]]:
    """GlobalCMI for some k; the time is that of the whole fit."""
    X = pd.read_parquet(path)
    y = X.pop("target")
    rows = []
    for k in (5, 10, 20):
        if k >= X.shape[1]:
            continue
        start = time.perf_counter()
        fitted = GlobalCMI(n_features_to_select=k, random_state=0).fit(X, y)
        took = time.perf_counter() - start
        proven = fitted.result_.extras["proven_optimal"]
        value, bound = fitted.objective_, fitted.upper_bound_
        rows.append(row(path.stem, X.shape[1], k, value, bound, proven, took))
    return rows


def of_random(n: int, k: int) -> list[str]:
    result = solve(np.random.default_rng([n, k]).random((n, n)), k, random_state=0)
    return row(
        "random", n, k, result.value, result.upper_bound, result.proven_optimal, result.elapsed
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    paths = [folder / f"{name}.parquet" for name in TABLES]
    rows = [line for path in paths if path.exists() for line in of_table(path)]
    rows += [of_random(n, k) for n, k in RANDOM]
    write_report(
        "quadratic-proofs",
        'GlobalCMI and solver="auto": proofs and gaps',
        markdown_table(HEADER, rows),
        "Tables: CMI matrices after CAIM; time of the whole fit (the first one also loads compiled "
        "code). Random: uniform symmetric matrices, time of `solve`.",
        packages=["scipy", "numba"],
    )


if __name__ == "__main__":
    main()

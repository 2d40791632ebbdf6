"""l1-LSMI where more columns are asked for than matter: time, count, and SMI of the answer.

python -m benchmarks.lsmi_surplus [--seeds N]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.frame import write_report
from featsieve import FLSMI, L1LSMI
from featsieve.measures import lsmi

Table = tuple[Any, Any]


def two_of_six(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 6))
    return X, X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=200)


def xor_of_six(seed: int) -> Table:
    X = np.random.default_rng(seed).normal(size=(200, 6))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def eleven_classes(seed: int) -> Table:
    """Class means in three of ten columns."""
    rng = np.random.default_rng(seed)
    y = np.arange(660) % 11
    means = np.zeros((11, 10))
    means[:, :3] = 1.5 * rng.normal(size=(11, 3))
    return means[y] + rng.normal(size=(660, 10)), y


DESIGNS: dict[str, tuple[Callable[[int], Table], float]] = {
    "200 × 6, a square and a line": (two_of_six, 2.0),
    "200 × 6, sign of a product": (xor_of_six, 2.0),
    "660 × 10, 11 classes": (eleven_classes, 8.0),
}
K = 5


def row(name: str, n_seeds: int) -> str:
    design, allowed = DESIGNS[name]
    seconds, counts, smis, forward, n_warnings = [], [], [], [], 0
    for seed in range(n_seeds):
        X, y = design(seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.perf_counter()
            fitted = L1LSMI(n_features_to_select=K, random_state=seed).fit(X, y)
            seconds.append(time.perf_counter() - start)
        n_warnings += bool(caught)
        counts.append(int(fitted.support_.sum()))
        smis.append(set_smi(X, y, fitted.indices_, seed))
        greedy = FLSMI(n_features_to_select=K, random_state=seed)
        forward.append(set_smi(X, y, greedy.fit(X, y).indices_, seed))
    exact = sum(count == K for count in counts)
    return (
        f"| {name} | {np.median(seconds):.2f} s ({max(seconds):.2f} s) | {allowed:.0f} s "
        f"| {exact} of {n_seeds} | {n_warnings} | {np.mean(smis):.4f} | {np.mean(forward):.4f} |"
    )


def set_smi(X: Any, y: Any, columns: Any, seed: int) -> float:
    """The SMI of some columns without weights, with the same centres for every method."""
    scaled = (X[:, columns] - X[:, columns].mean(axis=0)) / X[:, columns].std(axis=0, ddof=1)
    target = y if y.dtype.kind == "i" else (y - y.mean()) / y.std(ddof=1)
    return float(lsmi(scaled, target, random_state=seed).value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    n_seeds = parser.parse_args().seeds
    L1LSMI(n_features_to_select=2, n_init=2, random_state=0).fit(*xor_of_six(0))
    lines = [
        f"| table, k = {K}, {n_seeds} seeds | fit, median (most) | allowed | exactly k columns "
        "| fits with a warning | SMI of the set | SMI of forward selection's set |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in DESIGNS:
        lines.append(row(name, n_seeds))
        print(lines[-1], flush=True)
    write_report("lsmi-surplus", "More columns asked for than matter", "\n".join(lines))


if __name__ == "__main__":
    main()

"""Song et al. (2007), Figure 1: median rank of the two relevant features against n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.arrays import Array
from featsieve.datasets import make_binary_xor, make_multiclass, make_nonlinear_regression
from featsieve.errors import InputError
from featsieve.evaluation.benches._report import finish, markdown_table
from featsieve.registry import METHODS, find_method

SETS = {
    "binary XOR": make_binary_xor,
    "multiclass": make_multiclass,
    "regression": make_nonlinear_regression,
}
COMPARED = ("BAHSIC", "FOHSIC", "PearsonRanking", "MaxRel", "ReliefF")
SIZES = (40, 80, 120, 160, 200, 240, 280, 320, 360, 400)
QUICK_SIZES = (40, 200, 400)
TRIALS, QUICK_TRIALS = 10, 2
FOUND = 2.0  # mean of the median rank; 1.5 is perfect, 11.5 is chance
MISSED = 4.0

# What section 6.1 says of the largest samples: (set, method, found?).
CONCLUSIONS = (
    ("binary XOR", "BAHSIC", True),
    ("binary XOR", "ReliefF", True),
    ("binary XOR", "FOHSIC", False),
    ("binary XOR", "PearsonRanking", False),
    ("binary XOR", "MaxRel", False),
    ("multiclass", "BAHSIC", True),
    ("multiclass", "FOHSIC", True),
    ("multiclass", "MaxRel", True),
    ("regression", "BAHSIC", True),
    ("regression", "FOHSIC", True),
)


@dataclass(frozen=True)
class Curve:
    """One method on one set: the mean over trials of the median rank, a sample size each."""

    problem: str
    method: str
    ranks: tuple[float, ...]


def full_order(method: str, X: Array, y: Array) -> Array:
    """All columns, best first."""
    kept = X.shape[1] if method == "FOHSIC" else 1
    fitted = find_method(method).load()(n_features_to_select=kept).fit(X, y)
    order = fitted.result_.order
    return np.asarray(fitted.indices_ if order is None else order)


def median_rank(order: Array, relevant: Sequence[int]) -> float:
    """
    >>> median_rank(np.array([3, 0, 2, 1]), [0, 1])
    3.0
    """
    ranks = [int(np.flatnonzero(order == column)[0]) + 1 for column in relevant]
    return float(np.median(ranks))


def curve(problem: str, method: str, sizes: Sequence[int], trials: int) -> Curve:
    ranks = [
        np.mean([_trial(problem, method, size, seed) for seed in range(trials)]) for size in sizes
    ]
    return Curve(problem, method, tuple(float(rank) for rank in ranks))


def _trial(problem: str, method: str, size: int, seed: int) -> float:
    data: Any = SETS[problem](size, random_state=seed)
    return median_rank(full_order(method, data.data, data.target), data.relevant)


def run(
    data_dir: Path | None,
    *,
    trials: int | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
    out: Path | None = None,
) -> str:
    """The three artificial sets of section 6.1 (``data_dir`` is not used)."""
    names = _chosen(methods)
    sizes = QUICK_SIZES if quick else SIZES
    repeats = trials or (QUICK_TRIALS if quick else TRIALS)
    curves = [curve(problem, name, sizes, repeats) for problem in SETS for name in names]
    return finish(
        "Song et al. (2007), Figure 1: median rank of the two relevant features among 22",
        *(_section(problem, curves, sizes) for problem in SETS),
        f"Mean over {repeats} data sets of the median of the two ranks: 1.5 is perfect, about 11.5 "
        "is chance.",
        _verdicts(curves),
        out=out,
        packages=["scikit-learn", "numba"],
    )


def _chosen(methods: Sequence[str] | None) -> list[str]:
    known = {method.name for method in METHODS}
    if not methods:
        return [name for name in COMPARED if name in known]
    try:
        return [find_method(name).name for name in methods]
    except KeyError as unknown:
        raise InputError(
            f"there is no method {unknown.args[0]!r}; see 'featsieve methods'."
        ) from None


def _section(problem: str, curves: Sequence[Curve], sizes: Sequence[int]) -> str:
    rows = [
        [c.method, *(f"{rank:.1f}" for rank in c.ranks)] for c in curves if c.problem == problem
    ]
    return f"## {problem}\n" + markdown_table(["method", *map(str, sizes)], rows)


def _verdicts(curves: Sequence[Curve]) -> str:
    """Each conclusion of the paper at the largest sample size, and whether it holds."""
    last = {(c.problem, c.method): c.ranks[-1] for c in curves}
    lines = ["## The paper's conclusions, at the largest sample"]
    for problem, method, is_found in CONCLUSIONS:
        if (problem, method) not in last:
            continue
        rank = last[problem, method]
        holds = rank <= FOUND if is_found else rank >= MISSED
        claim = "finds both" if is_found else "does not find both"
        lines.append(
            f"- {problem}: {method} {claim}: {'holds' if holds else 'DOES NOT HOLD'} ({rank:.1f})"
        )
    return "\n".join(lines)
